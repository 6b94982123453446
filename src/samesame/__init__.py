"""samesame proves whether two tensor programs compute the same thing. Start with `check` and `assert_same`, and
`refine` and `assert_refines` for distributed programs, `fuzz` and `assert_compiles` for compilers, `optimize` for a
faster program.

What the package exports is loaded when it is first used: importing samesame, or asking its command line for help, does
not load torch.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samesame.check import check as check
    from samesame.fuzz.campaign import fuzz as fuzz
    from samesame.notebook import as_html as as_html
    from samesame.notebook import as_markdown as as_markdown
    from samesame.optimize.verb import optimize as optimize
    from samesame.refine import refine as refine
    from samesame.testing import assert_compiles as assert_compiles
    from samesame.testing import assert_lifts as assert_lifts
    from samesame.testing import assert_refines as assert_refines
    from samesame.testing import assert_same as assert_same

EXPORTS = {
    "check": "samesame.check",
    "fuzz": "samesame.fuzz.campaign",
    "optimize": "samesame.optimize.verb",
    "refine": "samesame.refine",
    "as_html": "samesame.notebook",
    "as_markdown": "samesame.notebook",
    "assert_compiles": "samesame.testing",
    "assert_lifts": "samesame.testing",
    "assert_same": "samesame.testing",
    "assert_refines": "samesame.testing",
}
__all__ = ["as_html", "as_markdown", "assert_compiles", "assert_lifts", "assert_refines", "assert_same", "check",
           "fuzz", "optimize", "refine"]


class Package(ModuleType):
    """This package, whose `check` is the function even though a module of that name is loaded beside it."""

    def __getattr__(self, name: str) -> Any:
        if name not in EXPORTS:
            raise AttributeError(f"module 'samesame' has no attribute {name!r}")
        return getattr(import_module(EXPORTS[name]), name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Python sets a module as attribute of its package when it loads it: not over an export of the same name."""
        if not (name in EXPORTS and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = Package
