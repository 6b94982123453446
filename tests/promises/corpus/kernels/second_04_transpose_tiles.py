"""Tiled transpose of a matrix."""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(
    x_ptr, out_ptr, M, N,
    stride_xm, stride_xn, stride_on, stride_om,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x_ptrs = x_ptr + rm[:, None] * stride_xm + rn[None, :] * stride_xn
    tile = tl.load(x_ptrs, mask=(rm[:, None] < M) & (rn[None, :] < N))
    out_ptrs = out_ptr + rn[:, None] * stride_on + rm[None, :] * stride_om
    tl.store(out_ptrs, tl.trans(tile), mask=(rn[:, None] < M) & (rm[None, :] < N))


def launch(M=45, N=70):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(N, M, device="cuda")
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    transpose_kernel[grid](
        x, out, M, N,
        x.stride(0), x.stride(1), out.stride(0), out.stride(1),
        BLOCK_M=32, BLOCK_N=32,
    )
    return out


def reference(x):
    return x.t().contiguous()


TRUTH = "different"
