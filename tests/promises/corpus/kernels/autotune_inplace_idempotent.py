import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "a clamp in place: a second run stores the same numbers, so trials do no harm"


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256})],
    key=["n"],
)
@triton.jit
def clamp_kernel(x, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n)
    tl.store(x + offs, tl.maximum(v, 0.0), mask=offs < n)


def launch(n=500):
    torch.manual_seed(0)
    x = torch.randn(n)
    clamp_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, n)
    return x
