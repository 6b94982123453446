"""Weight norm over rows, forward and backward in two launches: w = g·v/|v|, and the gradients of v and g."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def weight_norm_fwd_kernel(w_ptr, norm_ptr, v_ptr, g_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    cols = tl.arange(0, BLOCK_N)[None, :]
    row_mask = rows < M
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for base in range(0, N, BLOCK_N):
        col = base + cols
        v = tl.load(v_ptr + rows * N + col, mask=row_mask & (col < N), other=0.0)
        acc += v * v
    norm = tl.sqrt(tl.sum(acc, axis=1)[:, None])
    tl.store(norm_ptr + rows, norm, mask=row_mask)
    g = tl.load(g_ptr + rows, mask=row_mask, other=0.0)
    for base in range(0, N, BLOCK_N):
        col = base + cols
        mask = row_mask & (col < N)
        v = tl.load(v_ptr + rows * N + col, mask=mask, other=0.0)
        tl.store(w_ptr + rows * N + col, v / norm * g, mask=mask)


@triton.jit
def weight_norm_bwd_kernel(dv_ptr, dg_ptr, dw_ptr, v_ptr, g_ptr, norm_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    cols = tl.arange(0, BLOCK_N)[None, :]
    row_mask = rows < M
    g = tl.load(g_ptr + rows, mask=row_mask, other=0.0)
    norm = tl.load(norm_ptr + rows, mask=row_mask, other=1.0)
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for base in range(0, N, BLOCK_N):
        col = base + cols
        mask = row_mask & (col < N)
        v = tl.load(v_ptr + rows * N + col, mask=mask, other=0.0)
        dw = tl.load(dw_ptr + rows * N + col, mask=mask, other=0.0)
        acc += v * dw
    vw = tl.sum(acc, axis=1)[:, None]
    for base in range(0, N, BLOCK_N):
        col = base + cols
        mask = row_mask & (col < N)
        v = tl.load(v_ptr + rows * N + col, mask=mask, other=0.0)
        dw = tl.load(dw_ptr + rows * N + col, mask=mask, other=0.0)
        dv = g * (dw / norm - v * vw / (norm * norm * norm))
        tl.store(dv_ptr + rows * N + col, dv, mask=mask)
    tl.store(dg_ptr + rows, vw / norm, mask=row_mask)


def launch():
    M, N = 21, 90
    v = torch.randn(M, N)
    g = torch.rand(M, 1) + 0.5
    dw = torch.randn(M, N)
    w = torch.empty_like(v)
    norm = torch.empty_like(g)
    grid = (triton.cdiv(M, 4),)
    weight_norm_fwd_kernel[grid](w, norm, v, g, M, N, BLOCK_M=4, BLOCK_N=32)
    dv = torch.empty_like(v)
    dg = torch.empty_like(g)
    weight_norm_bwd_kernel[grid](dv, dg, dw, v, g, norm, M, N, BLOCK_M=4, BLOCK_N=32)
    return w, norm, dv, dg


def reference(v, g, dw):
    norm = v.norm(dim=1, keepdim=True)
    vw = (v * dw).sum(1, keepdim=True)
    dv = g * (dw / norm - v * vw / norm**3)
    return g * v / norm, norm, dv, vw / norm
