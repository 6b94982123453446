import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "sums atomically onto zeros, and the autotuner resets them to zero before each trial"


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256})],
    key=["n"],
    reset_to_zero=["total"],
)
@triton.jit
def sum_kernel(x, total, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n, other=0.0)
    tl.atomic_add(total, tl.sum(v, 0))


def launch(n=500):
    torch.manual_seed(0)
    x = torch.randn(n)
    total = torch.zeros(1)
    sum_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, total, n)
    return total


def reference(x):
    return x.sum().reshape(1)
