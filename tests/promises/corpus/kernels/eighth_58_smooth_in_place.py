# broken: done in place, a block reads neighbours that another program has already overwritten (a race)
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def smooth_kernel(x_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    p = x_ptr + row * N + i
    mask = i < N
    c = tl.load(p, mask=mask, other=0.0)
    left = tl.load(p - 1, mask=mask & (i > 0), other=0.0)
    right = tl.load(p + 1, mask=i + 1 < N, other=0.0)
    tl.store(p, 0.25 * left + 0.5 * c + 0.25 * right, mask=mask)


def launch(R=3, N=50):
    x = torch.randn(R, N, device="cuda")
    smooth_kernel[(triton.cdiv(N, 16), R)](x, N, BLOCK=16)
    return x


def reference(x):
    y = F.pad(x, (1, 1))
    return 0.25 * y[:, :-2] + 0.5 * x + 0.25 * y[:, 2:]


TRUTH = "broken"
