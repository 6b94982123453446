"""What a Triton kernel computes, for every size, and whether it is safe.

    lift("softmax.py:launch").kernels[0].formulas[0].text      # out[i, j] = exp(x[i, j]) / Σ_{l<n} exp(x[i, l])

`program` runs a launch function and lifts each kernel that it launches (`kernels/`); `compose` and `together` say what
several compute as one, `configurations` what an autotuner's others do; `reference` compares the result with a PyTorch
function; `names` finds what a formula is called; `replayed` and `differences` show in Triton's interpreter what is
wrong, and `numerics` measures errors.
"""

from __future__ import annotations

from samesame.kernels.kernel import Settings
from samesame.kernels.verdict import Formula, KernelVerdict, LiftVerdict, Obligation
from samesame.lift.program import lift

__all__ = ["Formula", "KernelVerdict", "LiftVerdict", "Obligation", "Settings", "lift"]
