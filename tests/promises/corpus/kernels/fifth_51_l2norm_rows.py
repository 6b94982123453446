"""L2 norm of each row, several rows to a program."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def l2norm_fwd_kernel2(X, Y, eps, M, N, BD: tl.constexpr, MBLOCK: tl.constexpr):
    row_idx = tl.program_id(0) * MBLOCK + tl.arange(0, MBLOCK)[:, None]
    xmask = row_idx < M
    rindex = tl.arange(0, BD)[None, :]
    xs = tl.load(X + rindex + N * row_idx, mask=xmask, other=0.0).to(tl.float32)
    square_sum = tl.sum(xs * xs, 1)[:, None]
    rsqrt = tl.rsqrt(square_sum + eps)
    tl.store(Y + rindex + N * row_idx, xs * rsqrt, mask=xmask & (rindex < N))


def launch():
    T, D = 45, 72
    x = torch.randn(T, D)
    y = torch.empty_like(x)
    l2norm_fwd_kernel2[(triton.cdiv(T, 16),)](x, y, 1e-6, T, D, BD=triton.next_power_of_2(D), MBLOCK=16)
    return y


def reference(x):
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)
