"""Adafactor for a matrix, without momentum: factored second moments, then the update from their outer product."""
import torch
import triton
import triton.language as tl


@triton.jit
def factor_rows_kernel(g, state, n_cols, beta2, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(g + row * n_cols + c, mask=c < n_cols, other=0.0)
        acc += tl.where(c < n_cols, x * x + eps, 0.0)
    mean = tl.sum(acc, axis=0) / n_cols
    tl.store(state + row, beta2 * tl.load(state + row) + (1.0 - beta2) * mean)


@triton.jit
def factor_cols_kernel(g, state, n_rows, n_cols, beta2, eps, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    c_ok = c < n_cols
    acc = tl.zeros([BLOCK_C], tl.float32)
    for start in range(0, n_rows, BLOCK_R):
        r = start + tl.arange(0, BLOCK_R)
        ok = (r < n_rows)[:, None] & c_ok[None, :]
        x = tl.load(g + r[:, None] * n_cols + c[None, :], mask=ok, other=0.0)
        acc += tl.sum(tl.where(ok, x * x + eps, 0.0), axis=0)
    old = tl.load(state + c, mask=c_ok, other=0.0)
    tl.store(state + c, beta2 * old + (1.0 - beta2) * acc / n_rows, mask=c_ok)


@triton.jit
def adafactor_update_kernel(p, g, row_state, col_state, row_mean, n_rows, n_cols, lr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    ok = c < n_cols
    rfac = tl.rsqrt(tl.load(row_state + r) / tl.load(row_mean))
    cfac = tl.rsqrt(tl.load(col_state + c, mask=ok, other=1.0))
    at = r * n_cols + c
    grad = tl.load(g + at, mask=ok)
    old = tl.load(p + at, mask=ok)
    tl.store(p + at, old - lr * grad * rfac * cfac, mask=ok)


def launch(n_rows=21, n_cols=45):
    p = torch.randn(n_rows, n_cols, device="cuda")
    g = torch.randn(n_rows, n_cols, device="cuda")
    exp_avg_sq_row = torch.rand(n_rows, device="cuda")
    exp_avg_sq_col = torch.rand(n_cols, device="cuda")
    factor_rows_kernel[(n_rows,)](g, exp_avg_sq_row, n_cols, 0.9, 1e-30, BLOCK=32)
    factor_cols_kernel[(triton.cdiv(n_cols, 16),)](g, exp_avg_sq_col, n_rows, n_cols, 0.9, 1e-30, BLOCK_R=16, BLOCK_C=16)
    row_mean = exp_avg_sq_row.mean()
    adafactor_update_kernel[(n_rows, triton.cdiv(n_cols, 32))](
        p, g, exp_avg_sq_row, exp_avg_sq_col, row_mean, n_rows, n_cols, 0.01, BLOCK_C=32
    )
    return p, exp_avg_sq_row, exp_avg_sq_col


def reference(p, g, exp_avg_sq_row, exp_avg_sq_col):
    sq = g.square() + 1e-30
    row = 0.9 * exp_avg_sq_row + (1 - 0.9) * sq.mean(dim=1)
    col = 0.9 * exp_avg_sq_col + (1 - 0.9) * sq.mean(dim=0)
    update = g * (row / row.mean()).rsqrt()[:, None] * col.rsqrt()[None, :]
    return p - 0.01 * update, row, col


TRUTH = "verified"
