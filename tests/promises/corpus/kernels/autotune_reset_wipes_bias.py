import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "accumulates onto what the host filled in (ones), and reset_to_zero wipes that in the trials: the result hangs on tuning"


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256})],
    key=["n"],
    reset_to_zero=["acc"],
)
@triton.jit
def axpy_kernel(x, acc, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(acc + offs, mask=mask)
    tl.store(acc + offs, a + 2.0 * tl.load(x + offs, mask=mask), mask=mask)


def launch(n=500):
    torch.manual_seed(0)
    x = torch.randn(n)
    acc = torch.ones(n)
    axpy_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, acc, n)
    return acc
