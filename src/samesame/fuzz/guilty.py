"""Who is guilty: the pass, lowering or stage of the compiler without which the program is compiled rightly.

Torch can switch off passes and lowerings one after the other and bisect over them. Its answer names a back end (where
the fault first shows as stages are added), a subsystem, and, where it can tell, the very pass or operator.
"""

from __future__ import annotations

import contextlib
import io

import torch

from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.judge import accusation, in_float64, seen
from samesame.fuzz.program import Program

BISECTED = ("inductor", "aot")


def guilty_pass(program: Program, name: str) -> dict[str, str]:
    """`backend`, `subsystem` and `place` of the fault, each "" where it could not be told."""
    backend, told = BACKENDS[name], None
    if backend.family in BISECTED and name != "aotinductor":
        from torch._inductor.compiler_bisector import CompilerBisector

        eager, wide = seen(program), in_float64(program)

        def right() -> bool:
            torch._dynamo.reset()
            with torch._inductor.config.patch(force_disable_caches=True):
                return accusation(program, backend, eager, wide) is None

        with contextlib.redirect_stdout(io.StringIO()):
            told = CompilerBisector.do_bisect(right)
    if told is None:
        return {"backend": backend.family, "subsystem": "", "place": ""}
    first = [line[:120] for line in str(told.debug_info or "").strip().splitlines()[:1]]
    return {"backend": told.backend, "subsystem": told.subsystem or "", "place": "".join(first)}
