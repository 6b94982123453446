"""Matrix product: tiles of the output, GROUP rows of them together, and a loop over the inner size."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_col, b_row, b_col, c_row, c_col,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):
    program = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    group = program // (GROUP * tiles_n)
    first = group * GROUP
    height = min(tiles_m - first, GROUP)
    tile_m = first + (program % (GROUP * tiles_n)) % height
    tile_n = (program % (GROUP * tiles_n)) // height
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        ks = k * BLOCK_K + inner
        a = tl.load(a_ptr + rows[:, None] * a_row + ks[None, :] * a_col,
                    mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * b_row + cols[None, :] * b_col,
                    mask=(ks[:, None] < K) & (cols[None, :] < N), other=0.0)
        total = tl.dot(a, b, total)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c_ptr + rows[:, None] * c_row + cols[None, :] * c_col, total, mask=inside)


def launch(M=50, N=70, K=40):
    a = torch.randn(M, K, device="cuda")
    b = torch.randn(K, N, device="cuda")
    c = torch.empty(M, N, device="cuda")
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)  # noqa: E731
    matmul_kernel[grid](
        a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
        BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, GROUP=3,
    )
    return c


def reference(a, b):
    return a @ b


BROKEN = {
    "inner_unmasked_in_b": ("(ks[:, None] < K) & (cols[None, :] < N)", "cols[None, :] < N", "bounds", "fault"),
    "loop_too_short": ("range(tl.cdiv(K, BLOCK_K))", "range(K // BLOCK_K)", "value", "value"),
    "not_initialised": ("total = tl.dot(a, b, total)", "total = tl.dot(a, b)", "value", "value"),
    "missing_other": ("(ks[None, :] < K), other=0.0)", "(ks[None, :] < K))", "undefined", "value"),
    "wrong_stride": ("ks[:, None] * b_row", "ks[:, None] * b_col", "value", "value"),
    "group_not_cut": ("min(tiles_m - first, GROUP)", "GROUP", "coverage", "value"),
}
