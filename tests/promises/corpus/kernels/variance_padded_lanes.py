import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "different"
WHY = "padded lanes count as (0 - mean)^2 in the variance: 28 of them in a tile of 128"


@triton.jit
def layernorm_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < N, other=0.0)
    c = v - tl.sum(v, 0) / N
    var = tl.sum(c * c, 0) / N
    tl.store(out + row * N + cols, c / tl.sqrt(var + 1e-5), mask=cols < N)


def launch(M=4, N=100):
    torch.manual_seed(0)
    x = torch.randn(M, N) + 1.0
    out = torch.empty(M, N)
    layernorm_kernel[(M,)](x, out, N, BLOCK=triton.next_power_of_2(N))
    return out


def reference(x):
    return F.layer_norm(x, (x.shape[1],), eps=1e-5)
