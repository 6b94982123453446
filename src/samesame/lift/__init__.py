"""What a Triton kernel computes, for every size, and whether it is safe.

    lift("softmax.py:launch").kernels[0].formulas[0].text      # out[i, j] = exp(x[i, j]) / Σ_{l<n} exp(x[i, l])

`execution` reads Triton's IR and executes it for all programs and lanes at once, loops in closed form (`loops`);
`tiles` finds who writes each output element; `formulas` lets masks, tiles and program ids vanish; `obligations` says
what must hold besides, and `concrete` looks for a case where it does not. `indices` answers what is asked on the way.
"""

from __future__ import annotations

from samesame.lift.kernel import Settings, lift_launch
from samesame.lift.launch import Launch, Memory
from samesame.lift.program import lift
from samesame.lift.verdict import Formula, KernelVerdict, LiftVerdict, Obligation

__all__ = [
    "Formula",
    "KernelVerdict",
    "Launch",
    "LiftVerdict",
    "Memory",
    "Obligation",
    "Settings",
    "lift",
    "lift_launch",
]
