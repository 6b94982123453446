"""dx per row and dweight as per-program partial sums that the host adds up; rows past the end of the last group are skipped."""
import torch
import triton
import triton.language as tl


@triton.jit
def rmsnorm_backward_kernel(
    dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, dw_ptr,
    n_rows, n_cols, rows_per_program, BLOCK: tl.constexpr,
):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    first = pid * rows_per_program
    last = tl.minimum(first + rows_per_program, n_rows)
    for row in range(first, last):
        x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
        dy = tl.load(dy_ptr + row * n_cols + cols, mask=mask, other=0.0)
        rstd = tl.load(rstd_ptr + row)
        normed = x * rstd
        wdy = w * dy
        c = tl.sum(normed * wdy, axis=0) / n_cols
        tl.store(dx_ptr + row * n_cols + cols, (wdy - normed * c) * rstd, mask=mask)
        dw += dy * normed
    tl.store(dw_ptr + pid * n_cols + cols, dw, mask=mask)


def launch(rows=13, cols=80, programs=4):
    x = torch.randn(rows, cols, device="cuda")
    weight = torch.randn(cols, device="cuda")
    dy = torch.randn(rows, cols, device="cuda")
    rstd = torch.rsqrt(x.pow(2).mean(-1) + 1e-6)
    dx = torch.empty_like(x)
    partial = torch.empty(programs, cols, device="cuda")
    rmsnorm_backward_kernel[(programs,)](
        dy, x, weight, rstd, dx, partial,
        rows, cols, triton.cdiv(rows, programs), BLOCK=triton.next_power_of_2(cols),
    )
    return dx, partial.sum(0)


def reference(x, weight, dy):
    rstd = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    normed = x * rstd
    wdy = dy * weight
    dx = rstd * (wdy - normed * (wdy * normed).mean(-1, keepdim=True))
    return dx, (dy * normed).sum(0)


TRUTH = "verified"
