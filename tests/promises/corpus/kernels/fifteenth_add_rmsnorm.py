"""Residual add fused with RMSNorm, the residual stream updated in place, the row read in two looped passes over column blocks (Gemma style 1 + w)."""
import torch
import triton
import triton.language as tl


@triton.jit
def fused_add_rmsnorm_kernel(x_ptr, res_ptr, w_ptr, y_ptr, stride_x, stride_r, stride_y, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * stride_x
    res_ptr += row * stride_r
    y_ptr += row * stride_y
    sq = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_ptr + cols, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        r = tl.load(res_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        h = x + r
        tl.store(res_ptr + cols, h.to(res_ptr.dtype.element_ty), mask=mask)
        sq += h * h
    rstd = tl.rsqrt(tl.sum(sq, axis=0) / n_cols + eps)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        h = tl.load(res_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + cols, (h * rstd * (1.0 + w)).to(y_ptr.dtype.element_ty), mask=mask)


def fused_add_rmsnorm(x, residual, weight, eps=1e-6):
    y = torch.empty_like(x)
    rows, cols = x.shape
    fused_add_rmsnorm_kernel[(rows,)](x, residual, weight, y, x.stride(0), residual.stride(0), y.stride(0), cols, eps, BLOCK=64, num_warps=2)
    return y


def launch(rows=5, hidden=200):
    x = torch.randn(rows, hidden, device="cuda")
    residual = torch.randn(rows, hidden, device="cuda")
    weight = torch.randn(hidden, device="cuda")
    y = fused_add_rmsnorm(x, residual, weight)
    return y, residual


def reference(x, residual, weight):
    h = x + residual
    y = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6) * (1 + weight)
    return y, h
TRUTH = "verified"
