"""Who is guilty: the pass, lowering or stage of the compiler without which the program is compiled rightly.

Torch can switch off passes and lowerings one after the other and bisect over them. Its answer names a back end (where
the fault first shows as stages are added), a subsystem, and, where it can tell, the very pass or operator.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

import torch

from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.judge import accusation, in_float64, seen
from samesame.fuzz.program import Program

BISECTED = ("inductor", "aot")


def guilty_pass(program: Program, name: str) -> dict[str, str]:
    """`backend`, `subsystem` and `place` of the fault, each "" where it could not be told."""
    backend = BACKENDS[name]
    if backend.family not in BISECTED or name == "aotinductor":
        return {"backend": backend.family, "subsystem": "", "place": ""}
    from torch._inductor.compiler_bisector import CompilerBisector

    eager, wide = seen(program), in_float64(program)

    def right() -> bool:
        torch._dynamo.reset()
        with torch._inductor.config.patch(force_disable_caches=True):
            return accusation(program, backend, eager, wide) is None

    with contextlib.redirect_stdout(io.StringIO()):
        told: Any = CompilerBisector.do_bisect(right)
    if told is None:
        return {"backend": backend.family, "subsystem": "", "place": ""}
    return {"backend": told.backend, "subsystem": told.subsystem or "", "place": _short(told.debug_info)}


def _short(debug: Any) -> str:
    """The first line of what the bisector knows of the place."""
    lines = str(debug or "").strip().splitlines()
    return lines[0][:120] if lines else ""
