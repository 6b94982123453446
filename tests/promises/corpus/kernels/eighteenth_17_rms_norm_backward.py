"""RMSNorm backward: dx by rows, the weight's gradient by four programs with a run of rows each and a second kernel over the partial sums."""
import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_bwd_kernel(
    dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, dw_partial_ptr,
    stride_row, stride_partial, M, D, rows_per_program,
    BLOCK_D: tl.constexpr,
):
    pid = tl.program_id(0)
    row_start = pid * rows_per_program
    row_end = tl.minimum(row_start + rows_per_program, M)
    cols = tl.arange(0, BLOCK_D)
    mask = cols < D

    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK_D,), dtype=tl.float32)
    for row in range(row_start, row_end):
        dy = tl.load(dy_ptr + row * stride_row + cols, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + row * stride_row + cols, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        x_hat = x * rstd
        wdy = w * dy
        c = tl.sum(x_hat * wdy, axis=0) / D
        dx = (wdy - x_hat * c) * rstd
        tl.store(dx_ptr + row * stride_row + cols, dx, mask=mask)
        dw += dy * x_hat
    tl.store(dw_partial_ptr + pid * stride_partial + cols, dw, mask=mask)


@triton.jit
def sum_partials_kernel(
    partial_ptr, dw_ptr, num_partials, D, stride_partial,
    BLOCK_P: tl.constexpr, BLOCK_D: tl.constexpr,
):
    cols = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    acc = tl.zeros((BLOCK_P, BLOCK_D), dtype=tl.float32)
    for p0 in range(0, num_partials, BLOCK_P):
        rows = p0 + tl.arange(0, BLOCK_P)
        mask = (rows[:, None] < num_partials) & (cols[None, :] < D)
        acc += tl.load(partial_ptr + rows[:, None] * stride_partial + cols[None, :], mask=mask, other=0.0)
    tl.store(dw_ptr + cols, tl.sum(acc, axis=0), mask=cols < D)


def launch(M=10, D=40):
    x = torch.randn(M, D, device="cuda")
    weight = torch.randn(D, device="cuda")
    dy = torch.randn(M, D, device="cuda")
    rstd = torch.rsqrt(x.pow(2).mean(dim=-1) + 1e-5)
    programs = 4
    dx = torch.empty_like(x)
    dw_partial = torch.empty(programs, D, device="cuda", dtype=torch.float32)
    dw = torch.empty_like(weight)
    rms_norm_bwd_kernel[(programs,)](
        dy, x, weight, rstd, dx, dw_partial,
        x.stride(0), dw_partial.stride(0), M, D, triton.cdiv(M, programs),
        BLOCK_D=triton.next_power_of_2(D),
    )
    grid = lambda meta: (triton.cdiv(D, meta["BLOCK_D"]),)
    sum_partials_kernel[grid](
        dw_partial, dw, programs, D, dw_partial.stride(0), BLOCK_P=8, BLOCK_D=32
    )
    return dx, dw


def reference(x, weight, dy):
    x = x.detach().requires_grad_(True)
    weight = weight.detach().requires_grad_(True)
    with torch.enable_grad():
        y = x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-5) * weight
    dx, dw = torch.autograd.grad(y, (x, weight), dy)
    return dx, dw

TRUTH = "verified"
