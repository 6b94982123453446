"""LayerNorm backward: persistent programs write dx and partial dw/db, a second kernel reduces the partials."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def ln_bwd_dx_kernel(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, pdw_ptr, pdb_ptr, rows, N, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    dw = tl.zeros([BLOCK], dtype=tl.float32)
    db = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(pid, rows, programs):
        x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)
        dy = tl.load(dy_ptr + row * N + cols, mask=mask, other=0.0)
        mean = tl.load(mean_ptr + row)
        rstd = tl.load(rstd_ptr + row)
        xhat = tl.where(mask, (x - mean) * rstd, 0.0)
        wdy = w * dy
        c1 = tl.sum(xhat * wdy, axis=0) / N
        c2 = tl.sum(wdy, axis=0) / N
        tl.store(dx_ptr + row * N + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
        dw += dy * xhat
        db += dy
    tl.store(pdw_ptr + pid * N + cols, dw, mask=mask)
    tl.store(pdb_ptr + pid * N + cols, db, mask=mask)


@triton.jit
def ln_bwd_dwdb_kernel(pdw_ptr, pdb_ptr, dw_ptr, db_ptr, programs, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    db = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, programs, BLOCK_M):
        r = start + tl.arange(0, BLOCK_M)
        mask = (r[:, None] < programs) & (cols[None, :] < N)
        offs = r[:, None] * N + cols[None, :]
        dw += tl.load(pdw_ptr + offs, mask=mask, other=0.0)
        db += tl.load(pdb_ptr + offs, mask=mask, other=0.0)
    tl.store(dw_ptr + cols, tl.sum(dw, axis=0), mask=cols < N)
    tl.store(db_ptr + cols, tl.sum(db, axis=0), mask=cols < N)


def launch(rows=23, N=50, programs=5):
    x = torch.randn(rows, N)
    w = torch.randn(N)
    dy = torch.randn(rows, N)
    mean = x.mean(-1)
    rstd = torch.rsqrt(x.var(-1, unbiased=False) + 1e-5)
    dx = torch.empty_like(x)
    pdw = torch.empty(programs, N)
    pdb = torch.empty(programs, N)
    dw, db = torch.empty_like(w), torch.empty_like(w)
    ln_bwd_dx_kernel[(programs,)](dy, x, w, mean, rstd, dx, pdw, pdb, rows, N, BLOCK=triton.next_power_of_2(N))
    ln_bwd_dwdb_kernel[(triton.cdiv(N, 32),)](pdw, pdb, dw, db, programs, N, BLOCK_M=16, BLOCK_N=32)
    return dx, dw, db


def reference(x, w, dy):
    x = x.detach().requires_grad_()
    w = w.detach().requires_grad_()
    b = torch.zeros_like(w).requires_grad_()
    y = F.layer_norm(x, (x.shape[-1],), w, b, 1e-5)
    return torch.autograd.grad(y, (x, w, b), dy)
TRUTH = "verified"
