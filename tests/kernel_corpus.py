"""The corpus of kernels in tests/kernels: each file has a `launch`, its `reference` in PyTorch, and ways to break it.

A broken variant is one change of the file's text: what, into what, the obligation that breaks, and how that shows when
the variant runs ("value": the output is wrong or undefined; "fault": an access out of bounds, or a race; "proof": not
at the example's sizes, so only a proof can tell).
"""

from __future__ import annotations

import runpy
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "kernels"
OBLIGATIONS = ("value", "coverage", "race", "bounds", "undefined", "overflow")


@dataclass(frozen=True)
class Broken:
    """One broken variant of a kernel."""

    kernel: str
    name: str
    old: str
    new: str
    breaks: str                     # one of OBLIGATIONS
    shows: str                      # value, fault or proof

    @property
    def target(self) -> str:
        """What to give to `samesame lift`: the changed file, written to a folder for temporary files."""
        path = folder() / f"{self.kernel}_{self.name}.py"
        if not path.exists():
            text = (FOLDER / f"{self.kernel}.py").read_text()
            code, table, _ = text.partition("\nBROKEN")
            found = code.count(self.old)
            assert table and found == 1, f"{self.kernel}.py has {self.old!r} {found} times"
            path.write_text(code.replace(self.old, self.new))
        return f"{path}:launch"

    def __str__(self) -> str:
        return f"{self.kernel}-{self.name}"


@cache
def folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="broken-kernels-"))


KERNELS = sorted(path.stem for path in FOLDER.glob("*.py"))


def target(kernel: str, function: str = "launch") -> str:
    return f"{FOLDER / kernel}.py:{function}"


@cache
def broken_variants() -> tuple[Broken, ...]:
    tables = {kernel: runpy.run_path(str(FOLDER / f"{kernel}.py"))["BROKEN"] for kernel in KERNELS}
    return tuple(Broken(kernel, name, *entry) for kernel, table in tables.items() for name, entry in table.items())
