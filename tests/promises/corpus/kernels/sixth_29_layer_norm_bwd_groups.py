import torch
import triton
import triton.language as tl


@triton.jit
def _layer_norm_bwd_dx_fused(DX,  # pointer to the input gradient
                             DY,  # pointer to the output gradient
                             DW,  # pointer to the partial sum of weights gradient
                             DB,  # pointer to the partial sum of biases gradient
                             X, W, Mean, Rstd,
                             stride, N,
                             GROUP_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr):
    # Map the program id to the elements of X, DX, and DY it should compute.
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE_N)
    mask = cols < N
    X += row * stride
    DY += row * stride
    DX += row * stride
    # Offset pointers for weights/biases gradient for parallel reduction
    group = row % GROUP_SIZE_M
    DW = DW + group * N + cols
    DB = DB + group * N + cols
    # Load data to SRAM
    x = tl.load(X + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols, mask=mask, other=0).to(tl.float32)
    mean = tl.load(Mean + row)
    rstd = tl.load(Rstd + row)
    # Compute dx
    xhat = (x - mean) * rstd
    wdy = w * dy
    xhat = tl.where(mask, xhat, 0.)
    wdy = tl.where(mask, wdy, 0.)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    dx = (wdy - (xhat * c1 + c2)) * rstd
    tl.store(DX + cols, dx, mask=mask)
    # Accumulate partial sums for dw/db
    partial_dw = dy * xhat
    partial_db = dy
    partial_dw += tl.load(DW, mask=mask, other=0.)
    partial_db += tl.load(DB, mask=mask, other=0.)
    tl.store(DW, partial_dw, mask=mask)
    tl.store(DB, partial_db, mask=mask)


def layer_norm_backward(x, w, mean, rstd, dy):
    M, N = x.shape
    G = 4
    dw = torch.zeros((G, N), dtype=x.dtype, device=w.device)
    db = torch.zeros((G, N), dtype=x.dtype, device=w.device)
    dx = torch.empty_like(dy)
    _layer_norm_bwd_dx_fused[(M,)](dx, dy, dw, db, x, w, mean, rstd, x.stride(0), N,
                                   GROUP_SIZE_M=G, BLOCK_SIZE_N=triton.next_power_of_2(N))
    return dx, dw.sum(0), db.sum(0)


def launch(M=10, N=30):
    x = torch.randn(M, N)
    w = torch.randn(N)
    dy = torch.randn(M, N)
    mean = x.mean(1)
    rstd = torch.rsqrt(x.var(1, unbiased=False) + 1e-5)
    return layer_norm_backward(x, w, mean, rstd, dy)


def reference(x, w, dy):
    mean = x.mean(1, keepdim=True)
    rstd = torch.rsqrt(x.var(1, unbiased=False, keepdim=True) + 1e-5)
    xhat = (x - mean) * rstd
    wdy = w * dy
    dx = rstd * (wdy - wdy.mean(1, keepdim=True) - xhat * (wdy * xhat).mean(1, keepdim=True))
    return dx, (dy * xhat).sum(0), dy.sum(0)


TRUTH = "broken"
