"""A linear layer with its low-rank update, x·Wᵀ + scaling·(x·Aᵀ)·Bᵀ, in one pass over K; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def lora_linear_kernel(
    x_ptr, w_ptr, a_ptr, b_ptr, y_ptr, M, N, K, scaling,
    stride_xm, stride_xk, stride_wn, stride_wk, stride_ar, stride_ak, stride_bn, stride_br, stride_ym, stride_yn,
    R: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rr = tl.arange(0, R)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    low = tl.zeros((BLOCK_M, R), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        rk = k * BLOCK_K + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + rm[:, None] * stride_xm + rk[None, :] * stride_xk,
                    mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        w = tl.load(w_ptr + rn[None, :] * stride_wn + rk[:, None] * stride_wk,
                    mask=(rn[None, :] < N) & (rk[:, None] < K), other=0.0)
        a = tl.load(a_ptr + rr[None, :] * stride_ar + rk[:, None] * stride_ak, mask=rk[:, None] < K, other=0.0)
        acc = tl.dot(x, w, acc)
        low = tl.dot(x, a, low)
    b = tl.load(b_ptr + rn[None, :] * stride_bn + rr[:, None] * stride_br, mask=rn[None, :] < N, other=0.0)
    acc += scaling * tl.dot(low.to(b.dtype), b)
    tl.store(y_ptr + rm[:, None] * stride_ym + rn[None, :] * stride_yn, acc.to(y_ptr.dtype.element_ty),
             mask=(rm[:, None] < M) & (rn[None, :] < N))


def lora_linear(x, W, A, B, scaling=2.0):
    M, K = x.shape
    N, R = B.shape
    y = torch.empty((M, N), dtype=x.dtype)
    BLOCK_M, BLOCK_N, BLOCK_K = 16, 32, 32
    lora_linear_kernel[(triton.cdiv(M, BLOCK_M), triton.cdiv(N, BLOCK_N))](
        x, W, A, B, y, M, N, K, scaling,
        x.stride(0), x.stride(1), W.stride(0), W.stride(1), A.stride(0), A.stride(1), B.stride(0), B.stride(1),
        y.stride(0), y.stride(1), R=R, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K)
    return y


def launch(M=20, N=50, K=70):
    x = torch.randn(M, K)
    W = torch.randn(N, K)
    A = torch.randn(16, K)
    B = torch.randn(N, 16)
    return lora_linear(x, W, A, B)


def reference(x, W, A, B, scaling=2.0):
    return x @ W.T + scaling * (x @ A.T) @ B.T
