"""Kronecker product of two matrices (in the manner of FlagGems' kron)."""
import torch
import triton
import triton.language as tl


@triton.jit
def kron_kernel(
    a_ptr, b_ptr, c_ptr,
    M, N, P, Q,
    stride_am, stride_an,
    stride_bp, stride_bq,
    stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M * P) & (cols[None, :] < N * Q)

    a_row, b_row = rows // P, rows % P
    a_col, b_col = cols // Q, cols % Q

    a = tl.load(a_ptr + a_row[:, None] * stride_am + a_col[None, :] * stride_an, mask=mask, other=0.0)
    b = tl.load(b_ptr + b_row[:, None] * stride_bp + b_col[None, :] * stride_bq, mask=mask, other=0.0)
    tl.store(c_ptr + rows[:, None] * stride_cm + cols[None, :] * stride_cn, a * b, mask=mask)


def launch(M=5, N=7, P=3, Q=9):
    a = torch.randn(M, N, device="cuda")
    b = torch.randn(P, Q, device="cuda")
    c = torch.empty(M * P, N * Q, device="cuda")
    grid = lambda meta: (triton.cdiv(M * P, meta["BLOCK_M"]), triton.cdiv(N * Q, meta["BLOCK_N"]))
    kron_kernel[grid](
        a, b, c, M, N, P, Q,
        a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
        BLOCK_M=16, BLOCK_N=32,
    )
    return c


def reference(a, b):
    return torch.kron(a, b)


TRUTH = "verified"
