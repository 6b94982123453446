"""Muon's Newton-Schulz step: both symmetric products compute the upper tiles only and mirror them."""
import torch
import triton
import triton.language as tl


@triton.jit
def symmetric_mm_kernel(
    X, C, Out,
    M, K,
    stride_xm, stride_xk, stride_cm, stride_cn, stride_om, stride_on,
    alpha, beta,
    HAS_C: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    if pid_m > pid_n:
        return

    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_M + tl.arange(0, BLOCK_M)
    acc = tl.zeros((BLOCK_M, BLOCK_M), dtype=tl.float32)
    for k0 in range(0, K, BLOCK_K):
        k = k0 + tl.arange(0, BLOCK_K)
        a = tl.load(
            X + offs_m[:, None] * stride_xm + k[None, :] * stride_xk,
            mask=(offs_m[:, None] < M) & (k[None, :] < K), other=0.0,
        )
        b = tl.load(
            X + offs_n[None, :] * stride_xm + k[:, None] * stride_xk,
            mask=(offs_n[None, :] < M) & (k[:, None] < K), other=0.0,
        )
        acc = tl.dot(a, b, acc)
    acc = acc * alpha

    mask = (offs_m[:, None] < M) & (offs_n[None, :] < M)
    if HAS_C:
        acc += beta * tl.load(C + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn, mask=mask, other=0.0)

    tl.store(Out + offs_m[:, None] * stride_om + offs_n[None, :] * stride_on, acc, mask=mask)
    if pid_m < pid_n:
        tl.store(Out + offs_n[None, :] * stride_om + offs_m[:, None] * stride_on, acc, mask=mask)


def symmetric_mm(x, alpha=1.0, c=None, beta=0.0):
    m, k = x.shape
    out = torch.empty(m, m, device=x.device, dtype=x.dtype)
    grid = lambda meta: (triton.cdiv(m, meta["BLOCK_M"]), triton.cdiv(m, meta["BLOCK_M"]))
    src = out if c is None else c
    symmetric_mm_kernel[grid](
        x, src, out, m, k,
        x.stride(0), x.stride(1), src.stride(0), src.stride(1), out.stride(0), out.stride(1),
        alpha, beta,
        HAS_C=c is not None, BLOCK_M=16, BLOCK_K=16,
    )
    return out


def launch(rows=37, cols=45):
    X = torch.randn(rows, cols, device="cuda") / 45
    A = symmetric_mm(X)
    B = symmetric_mm(A, alpha=2.0315, c=A, beta=-4.7750)
    return 3.4445 * X + B @ X


def reference(X):
    A = X @ X.T
    B = -4.7750 * A + 2.0315 * A @ A
    return 3.4445 * X + B @ X


TRUTH = "verified"
