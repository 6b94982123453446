"""Backward of layer norm in two stages: dx and partial dw, db by a few programs that share the rows, then their sums."""

import torch
import triton
import triton.language as tl

import torch.nn.functional as F

EPS = 1e-5
PROGRAMS = 4


@triton.jit
def ln_backward_kernel(x_ptr, w_ptr, dy_ptr, dx_ptr, dw_part_ptr, db_part_ptr, M, N, eps, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    dw = tl.zeros([BLOCK_N], dtype=tl.float32)
    db = tl.zeros([BLOCK_N], dtype=tl.float32)
    for row in range(pid, M, tl.num_programs(0)):
        x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)
        dy = tl.load(dy_ptr + row * N + cols, mask=mask, other=0.0)
        mean = tl.sum(x, axis=0) / N
        centred = tl.where(mask, x - mean, 0.0)
        rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
        xhat = centred * rstd
        wdy = w * dy
        c1 = tl.sum(xhat * wdy, axis=0) / N
        c2 = tl.sum(wdy, axis=0) / N
        tl.store(dx_ptr + row * N + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
        dw += dy * xhat
        db += dy
    tl.store(dw_part_ptr + pid * N + cols, dw, mask=mask)
    tl.store(db_part_ptr + pid * N + cols, db, mask=mask)


@triton.jit
def column_sum_kernel(part_ptr, out_ptr, P, N, BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_P, BLOCK_N], dtype=tl.float32)
    for p in range(0, P, BLOCK_P):
        rows = p + tl.arange(0, BLOCK_P)
        mask = (rows[:, None] < P) & (cols[None, :] < N)
        acc += tl.load(part_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + cols, tl.sum(acc, axis=0), mask=cols < N)


def launch(M=10, N=50):
    x = torch.randn(M, N, device="cuda")
    weight = torch.randn(N, device="cuda")
    dy = torch.randn(M, N, device="cuda")
    dx = torch.empty_like(x)
    dw_part = torch.empty(PROGRAMS, N, device="cuda")
    db_part = torch.empty(PROGRAMS, N, device="cuda")
    dw = torch.empty(N, device="cuda")
    db = torch.empty(N, device="cuda")
    ln_backward_kernel[(PROGRAMS,)](x, weight, dy, dx, dw_part, db_part, M, N, EPS, BLOCK_N=triton.next_power_of_2(N))
    grid = (triton.cdiv(N, 32),)
    column_sum_kernel[grid](dw_part, dw, PROGRAMS, N, BLOCK_P=2, BLOCK_N=32)
    column_sum_kernel[grid](db_part, db, PROGRAMS, N, BLOCK_P=2, BLOCK_N=32)
    return dx, dw, db


def reference(x, weight, dy):
    x = x.detach().requires_grad_(True)
    weight = weight.detach().requires_grad_(True)
    bias = torch.zeros_like(weight).requires_grad_(True)
    y = F.layer_norm(x, (x.shape[-1],), weight, bias, EPS)
    return torch.autograd.grad(y, (x, weight, bias), dy)


TRUTH = "verified"
