"""RWKV token shift: x[t] mixed with x[t-1]. MISTAKE: written in place while another program may still need the old last row of this tile (a race as soon as T exceeds one tile)."""
import torch
import triton
import triton.language as tl


@triton.jit
def _token_shift_kernel(
    x_ptr, mu_ptr, out_ptr,
    T, C,
    stride_b, stride_t,
    BLOCK_T: tl.constexpr, BLOCK_C: tl.constexpr,
):
    pid_t = tl.program_id(0)
    pid_c = tl.program_id(1)
    b = tl.program_id(2)
    t = pid_t * BLOCK_T + tl.arange(0, BLOCK_T)
    c = pid_c * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (t[:, None] < T) & (c[None, :] < C)
    offs = b * stride_b + t[:, None] * stride_t + c[None, :]
    mu = tl.load(mu_ptr + c, mask=c < C, other=0.0)[None, :]
    cur = tl.load(x_ptr + offs, mask=mask, other=0.0)
    prev = tl.load(x_ptr + offs - stride_t, mask=mask & (t[:, None] > 0), other=0.0)
    tl.debug_barrier()
    tl.store(out_ptr + offs, cur * mu + prev * (1.0 - mu), mask=mask)


def token_shift_(x, mu):
    B, T, C = x.shape
    grid = (triton.cdiv(T, 16), triton.cdiv(C, 32), B)
    _token_shift_kernel[grid](x, mu, x, T, C, x.stride(0), x.stride(1), BLOCK_T=16, BLOCK_C=32)
    return x


def launch(B=2, T=40, C=50):
    x = torch.randn(B, T, C, device="cuda")
    mu = torch.rand(C, device="cuda")
    return token_shift_(x, mu)


def reference(x, mu):
    prev = torch.nn.functional.pad(x, (0, 0, 1, 0))[:, :-1]
    return x * mu + prev * (1 - mu)

TRUTH = "broken"
