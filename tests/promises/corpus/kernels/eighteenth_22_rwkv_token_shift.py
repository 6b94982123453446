"""RWKV token shift on flattened (batch * time) rows: only the very first row has no predecessor, so each later sequence reads the last token of the one before it."""
import torch
import triton
import triton.language as tl


@triton.jit
def token_shift_kernel(
    x_ptr, mu_k_ptr, mu_r_ptr, xk_ptr, xr_ptr,
    n_rows, C,
    stride_row,
    BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    cols = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    c_mask = cols < C
    mask = (rows[:, None] < n_rows) & c_mask[None, :]
    offs = rows[:, None] * stride_row + cols[None, :]

    cur = tl.load(x_ptr + offs, mask=mask, other=0.0)
    prev = tl.load(x_ptr + offs - stride_row, mask=mask & (rows[:, None] > 0), other=0.0)
    delta = prev - cur
    mu_k = tl.load(mu_k_ptr + cols, mask=c_mask, other=0.0)
    mu_r = tl.load(mu_r_ptr + cols, mask=c_mask, other=0.0)
    tl.store(xk_ptr + offs, cur + delta * mu_k[None, :], mask=mask)
    tl.store(xr_ptr + offs, cur + delta * mu_r[None, :], mask=mask)


def launch(B=3, T=6, C=40):
    x = torch.randn(B, T, C, device="cuda")
    mu_k = torch.rand(C, device="cuda")
    mu_r = torch.rand(C, device="cuda")
    xk = torch.empty_like(x)
    xr = torch.empty_like(x)
    grid = lambda meta: (triton.cdiv(B * T, meta["BLOCK_R"]), triton.cdiv(C, meta["BLOCK_C"]))
    token_shift_kernel[grid](
        x, mu_k, mu_r, xk, xr,
        B * T, C,
        x.stride(1),
        BLOCK_R=4, BLOCK_C=32,
    )
    return xk, xr


def reference(x, mu_k, mu_r):
    prev = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
    delta = prev - x
    return x + delta * mu_k, x + delta * mu_r

TRUTH = "broken"
