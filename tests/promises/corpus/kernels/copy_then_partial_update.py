import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "out is a copy of x, of which the first k columns are scaled (partial rotary style); the rest stays"


@triton.jit
def scale_front_kernel(x, out, N, K, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < K)
    tl.store(out + row * N + cols, 0.5 * v, mask=cols < K)


def launch(M=5, N=48):
    torch.manual_seed(0)
    x = torch.randn(M, N)
    out = torch.empty(M, N)
    out.copy_(x)
    scale_front_kernel[(M,)](x, out, N, N // 2, BLOCK=triton.next_power_of_2(N))
    return out


def reference(x):
    k = x.shape[1] // 2
    return torch.cat([0.5 * x[:, :k], x[:, k:]], dim=1)
