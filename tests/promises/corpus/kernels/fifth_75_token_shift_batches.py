"""Token shift with a learnt mix over a batch of sequences, laid out as rows."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def token_shift_kernel(x_ptr, mu_ptr, out_ptr, rows, D, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    row = (tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T))[:, None]
    d = (tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D))[None, :]
    mask = (row < rows) & (d < D)
    now = tl.load(x_ptr + row * D + d, mask=mask, other=0.0)
    last = tl.load(x_ptr + (row - 1) * D + d, mask=mask & (row > 0), other=0.0)
    mu = tl.load(mu_ptr + d, mask=d < D, other=0.0)
    tl.store(out_ptr + row * D + d, now + (last - now) * mu, mask=mask)


def launch():
    x = torch.randn(3, 25, 200)
    mu = torch.rand(200)
    B, T, D = x.shape
    out = torch.empty_like(x)
    grid = (triton.cdiv(B * T, 8), triton.cdiv(D, 128))
    token_shift_kernel[grid](x, mu, out, B * T, D, BLOCK_T=8, BLOCK_D=128)
    return out


def reference(x, mu):
    last = F.pad(x, (0, 0, 1, 0))[:, :-1]
    return x + (last - x) * mu
