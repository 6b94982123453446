"""Transformer-XL's attention scores: content term plus the relative term, shifted by index arithmetic instead of pad-and-view."""
import torch
import triton
import triton.language as tl


@triton.jit
def rel_shift_add_kernel(
    ac_ptr, bd_ptr, out_ptr,
    stride_b, stride_h, stride_q,
    H, Q, K, scale,
    BLOCK_K: tl.constexpr,
):
    pid_bh = tl.program_id(0)
    i = tl.program_id(1)
    b, h = pid_bh // H, pid_bh % H
    base = b * stride_b + h * stride_h

    j = tl.program_id(2) * BLOCK_K + tl.arange(0, BLOCK_K)
    mask = j < K

    # place in the (Q, K + 1) matrix whose first column is zero, read as (K + 1, Q) without its first row
    flat = Q + i * K + j
    row = flat // (K + 1)
    col = flat % (K + 1)
    bd = tl.load(bd_ptr + base + row * stride_q + col - 1, mask=mask & (col > 0), other=0.0)
    ac = tl.load(ac_ptr + base + i * stride_q + j, mask=mask, other=0.0)
    tl.store(out_ptr + base + i * stride_q + j, (ac + bd) * scale, mask=mask)


def launch(batch=2, heads=3, qlen=9, klen=13):
    ac = torch.randn(batch, heads, qlen, klen, device="cuda")
    bd = torch.randn(batch, heads, qlen, klen, device="cuda")
    out = torch.empty_like(ac)
    grid = lambda meta: (batch * heads, qlen, triton.cdiv(klen, meta["BLOCK_K"]))
    rel_shift_add_kernel[grid](
        ac, bd, out, ac.stride(0), ac.stride(1), ac.stride(2), heads, qlen, klen, 0.125, BLOCK_K=16
    )
    return out


def reference(ac, bd):
    b, h, q, k = bd.shape
    padded = torch.cat([bd.new_zeros(b, h, q, 1), bd], dim=-1).view(b, h, k + 1, q)
    shifted = padded[:, :, 1:].reshape(b, h, q, k)
    return (ac + shifted) * 0.125


TRUTH = "verified"
