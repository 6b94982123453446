import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "sums atomically with two configurations and no reset_to_zero: the trials are summed, too"


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256})],
    key=["n"],
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
