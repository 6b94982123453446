"""Layer norm backward: persistent programs walk their own rows for dx and keep dw/db partial sums, a second kernel reduces the partials."""
import torch
import triton
import triton.language as tl


@triton.jit
def _ln_bwd_kernel(
    x_ptr, w_ptr, dy_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_part_ptr, db_part_ptr,
    stride, M, N, rows_per_program,
    BLOCK_N: tl.constexpr,
):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    dw = tl.zeros((BLOCK_N,), dtype=tl.float32)
    db = tl.zeros((BLOCK_N,), dtype=tl.float32)
    row_start = pid * rows_per_program
    row_end = min((pid + 1) * rows_per_program, M)
    for row in range(row_start, row_end):
        x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0)
        dy = tl.load(dy_ptr + row * stride + cols, mask=mask, other=0.0)
        mean = tl.load(mean_ptr + row)
        rstd = tl.load(rstd_ptr + row)
        xhat = tl.where(mask, (x - mean) * rstd, 0.0)
        wdy = w * dy
        c1 = tl.sum(xhat * wdy, axis=0) / N
        c2 = tl.sum(wdy, axis=0) / N
        dx = (wdy - (xhat * c1 + c2)) * rstd
        tl.store(dx_ptr + row * stride + cols, dx, mask=mask)
        dw += dy * xhat
        db += dy
    tl.store(dw_part_ptr + pid * N + cols, dw, mask=mask)
    tl.store(db_part_ptr + pid * N + cols, db, mask=mask)


@triton.jit
def _reduce_partials_kernel(
    dw_part_ptr, db_part_ptr, dw_ptr, db_ptr, P, N,
    BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr,
):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_P, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_P, BLOCK_N), dtype=tl.float32)
    for p in range(0, P, BLOCK_P):
        rows = p + tl.arange(0, BLOCK_P)
        mask = (rows[:, None] < P) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        dw += tl.load(dw_part_ptr + offs, mask=mask, other=0.0)
        db += tl.load(db_part_ptr + offs, mask=mask, other=0.0)
    tl.store(dw_ptr + cols, tl.sum(dw, axis=0), mask=cols < N)
    tl.store(db_ptr + cols, tl.sum(db, axis=0), mask=cols < N)


def launch(M=14, N=90):
    x = torch.randn(M, N, device="cuda")
    weight = torch.randn(N, device="cuda")
    dy = torch.randn(M, N, device="cuda")
    mean = x.mean(-1)
    rstd = torch.rsqrt(x.var(-1, unbiased=False) + 1e-5)
    programs = 4
    rows_per_program = triton.cdiv(M, programs)
    dx = torch.empty_like(x)
    dw_part = torch.empty(programs, N, device="cuda", dtype=torch.float32)
    db_part = torch.empty(programs, N, device="cuda", dtype=torch.float32)
    dw = torch.empty_like(weight)
    db = torch.empty_like(weight)
    _ln_bwd_kernel[(programs,)](
        x, weight, dy, mean, rstd, dx, dw_part, db_part,
        x.stride(0), M, N, rows_per_program, BLOCK_N=triton.next_power_of_2(N),
    )
    _reduce_partials_kernel[(triton.cdiv(N, 32),)](
        dw_part, db_part, dw, db, programs, N, BLOCK_P=8, BLOCK_N=32,
    )
    return dx, dw, db


def reference(x, weight, dy):
    x = x.detach().requires_grad_()
    weight = weight.detach().requires_grad_()
    bias = torch.zeros_like(weight).requires_grad_()
    with torch.enable_grad():
        y = torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias, 1e-5)
        return torch.autograd.grad(y, (x, weight, bias), dy)

TRUTH = "verified"
