import torch
import triton
import triton.language as tl

TRUTH = "different"
WHY = "the mean is divided by BLOCK: right for BLOCK = 64 = N, wrong for the configuration with BLOCK = 128"


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})],
    key=["N"],
)
@triton.jit
def mean_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < N, other=0.0)
    tl.store(out + row, tl.sum(v, 0) / BLOCK)


def launch(M=5, N=64):
    torch.manual_seed(0)
    x = torch.randn(M, N)
    out = torch.empty(M)
    mean_kernel[(M,)](x, out, N)
    return out


def reference(x):
    return x.mean(-1)
