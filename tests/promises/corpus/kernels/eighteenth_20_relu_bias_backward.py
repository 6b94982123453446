"""Backward of relu(x + bias): programs of different row tiles add to the bias gradient by a plain load and store, which is a race."""
import torch
import triton
import triton.language as tl


@triton.jit
def relu_bias_bwd_kernel(
    dy_ptr, y_ptr, dx_ptr, dbias_ptr,
    M, N,
    stride_m, stride_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    offs = offs_m[:, None] * stride_m + offs_n[None, :] * stride_n

    dy = tl.load(dy_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + offs, mask=mask, other=0.0)
    dx = tl.where(y > 0, dy, 0.0)
    tl.store(dx_ptr + offs, dx, mask=mask)

    partial = tl.sum(dx, axis=0)
    n_mask = offs_n < N
    total = tl.load(dbias_ptr + offs_n, mask=n_mask, other=0.0)
    tl.store(dbias_ptr + offs_n, total + partial, mask=n_mask)


def launch(M=50, N=40):
    dy = torch.randn(M, N, device="cuda")
    y = torch.randn(M, N, device="cuda").relu()
    dx = torch.empty_like(dy)
    dbias = torch.zeros(N, device="cuda", dtype=torch.float32)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))
    relu_bias_bwd_kernel[grid](
        dy, y, dx, dbias,
        M, N,
        dy.stride(0), dy.stride(1),
        BLOCK_M=16, BLOCK_N=32,
    )
    return dx, dbias


def reference(dy, y):
    dx = torch.where(y > 0, dy, 0.0)
    return dx, dx.sum(dim=0)

TRUTH = "broken"
