import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "works in place with two configurations and no restore_value: trials decay x again and again"


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256})],
    key=["n"],
)
@triton.jit
def decay_kernel(x, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n)
    tl.store(x + offs, v * 0.9 + 1.0, mask=offs < n)


def launch(n=500):
    torch.manual_seed(0)
    x = torch.randn(n)
    decay_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, n)
    return x
