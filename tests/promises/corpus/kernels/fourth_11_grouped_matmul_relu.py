"""Matmul of equal groups (x of G groups, each with its own weight) with bias and ReLU fused, tiles in grouped order; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def grouped_linear_relu_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, M, N, K,
    stride_xg, stride_xm, stride_wg, stride_wk, stride_yg, stride_ym,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    pid = tl.program_id(0)
    g = tl.program_id(1)
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * num_n
    group_id = pid // in_group
    first_m = group_id * GROUP_M
    group_size = min(num_m - first_m, GROUP_M)
    pid_m = first_m + (pid % in_group) % group_size
    pid_n = (pid % in_group) // group_size
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    x_ptrs = x_ptr + g * stride_xg + offs_m[:, None] * stride_xm + offs_k[None, :]
    w_ptrs = w_ptr + g * stride_wg + offs_k[:, None] * stride_wk + offs_n[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        x = tl.load(x_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < K - k), other=0.0)
        w = tl.load(w_ptrs, mask=(offs_k[:, None] < K - k) & (offs_n[None, :] < N), other=0.0)
        acc = tl.dot(x, w, acc)
        x_ptrs += BLOCK_K
        w_ptrs += BLOCK_K * stride_wk
    bias = tl.load(bias_ptr + g * N + offs_n, mask=offs_n < N, other=0.0)
    acc = tl.maximum(acc + bias[None, :], 0.0)
    y_ptrs = y_ptr + g * stride_yg + offs_m[:, None] * stride_ym + offs_n[None, :]
    tl.store(y_ptrs, acc.to(tl.float16), mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


def launch(G=3, M=40, N=36, K=50):
    x = torch.randn(G, M, K, dtype=torch.float16)
    w = torch.randn(G, K, N, dtype=torch.float16)
    bias = torch.randn(G, N)
    y = torch.empty(G, M, N, dtype=torch.float16)
    BLOCK_M, BLOCK_N = 16, 16
    grouped_linear_relu_kernel[(triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N), G)](
        x, w, bias, y, M, N, K, x.stride(0), x.stride(1), w.stride(0), w.stride(1), y.stride(0), y.stride(1),
        BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=32, GROUP_M=2)
    return y


def reference(x, w, bias):
    return torch.relu(x.float() @ w.float() + bias[:, None, :]).half()
