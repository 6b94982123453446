"""A matrix is copied between two layouts, tile by tile; offsets have 64 bits, so that a large one may be copied."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, M, N, x_row, x_col, out_row, out_col, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * x_row + cols[None, :] * x_col, mask=inside)
    tl.store(out_ptr + rows[:, None] * out_row + cols[None, :] * out_col, x, mask=inside)


def launch(M=37, N=53):
    x = torch.randn(N, M, device="cuda").t()
    out = torch.empty(M, N, device="cuda")
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 32))
    copy_kernel[grid](x, out, M, N, x.stride(0), x.stride(1), out.stride(0), out.stride(1), BLOCK_M=16, BLOCK_N=32)
    return out


def reference(x):
    return x.clone()


BROKEN = {
    "mask_le": ("cols[None, :] < N", "cols[None, :] <= N", "bounds", "fault"),
    "rows_unmasked": ("(rows[:, None] < M) & (cols[None, :] < N)", "cols[None, :] < N", "bounds", "fault"),
    "wrong_stride": ("cols[None, :] * x_col", "cols[None, :] * x_row", "value", "value"),
    "missing_column_block": ("triton.cdiv(N, 32))", "N // 32)", "coverage", "value"),
    # Only where a matrix may span 2^31 elements or more.
    "offsets_of_32_bits": ("program_id(0).to(tl.int64)", "program_id(0)", "overflow", "proof"),
}
