import torch
import triton
import triton.language as tl

TRUTH = "different"
WHY = "eps is added to the root, not under it"


@triton.jit
def rmsnorm_kernel(x, w, out, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < N, other=0.0)
    g = tl.load(w + cols, mask=cols < N)
    scale = 1.0 / (tl.sqrt(tl.sum(v * v, 0) / N) + eps)
    tl.store(out + row * N + cols, v * scale * g, mask=cols < N)


def launch(M=4, N=100):
    torch.manual_seed(0)
    x = torch.randn(M, N)
    w = torch.randn(N)
    out = torch.empty(M, N)
    rmsnorm_kernel[(M,)](x, w, out, N, 1e-2, BLOCK=triton.next_power_of_2(N))
    return out


def reference(x, w):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-2) * w
