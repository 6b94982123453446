"""A packed QKV projection whose epilogue adds the bias and writes q, k and v split into heads, autotuned."""
import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 16}, num_warps=2, num_stages=2),
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 16, "BLOCK_K": 32}, num_warps=4, num_stages=3),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def qkv_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr,
    M, N, K, seq, heads, head_dim,
    stride_xm, stride_xk, stride_wn, stride_wk,
    stride_o3, stride_ob, stride_oh, stride_os,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid = tl.program_id(0)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    pid_m = pid // num_pid_n
    pid_n = pid % num_pid_n
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)

    x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
    w_ptrs = w_ptr + offs_n[None, :] * stride_wn + offs_k[:, None] * stride_wk
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        k_left = K - k * BLOCK_K
        x = tl.load(x_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < k_left), other=0.0)
        w = tl.load(w_ptrs, mask=(offs_n[None, :] < N) & (offs_k[:, None] < k_left), other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
        x_ptrs += BLOCK_K * stride_xk
        w_ptrs += BLOCK_K * stride_wk
    bias = tl.load(b_ptr + offs_n, mask=offs_n < N, other=0.0)
    acc += bias[None, :]

    b = offs_m // seq
    s = offs_m % seq
    hidden = heads * head_dim
    which = offs_n // hidden
    h = (offs_n % hidden) // head_dim
    d = offs_n % head_dim
    o_ptrs = out_ptr + (b * stride_ob + s * stride_os)[:, None] + (which * stride_o3 + h * stride_oh + d)[None, :]
    tl.store(o_ptrs, acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


def launch(batch=2, seq=19, heads=3, head_dim=6, model=37):
    x = torch.randn(batch, seq, model, device="cuda")
    weight = torch.randn(3 * heads * head_dim, model, device="cuda")
    bias = torch.randn(3 * heads * head_dim, device="cuda")
    qkv = torch.empty(3, batch, heads, seq, head_dim, device="cuda")
    M, N, K = batch * seq, 3 * heads * head_dim, model
    grid = lambda META: (triton.cdiv(M, META["BLOCK_M"]) * triton.cdiv(N, META["BLOCK_N"]),)
    qkv_kernel[grid](
        x, weight, bias, qkv, M, N, K, seq, heads, head_dim,
        x.stride(1), x.stride(2), weight.stride(0), weight.stride(1),
        qkv.stride(0), qkv.stride(1), qkv.stride(2), qkv.stride(3),
    )
    return qkv[0], qkv[1], qkv[2]


def reference(x, weight, bias, heads, head_dim):
    b, s, _ = x.shape
    y = torch.nn.functional.linear(x, weight, bias)
    q, k, v = y.view(b, s, 3, heads, head_dim).permute(2, 0, 3, 1, 4)
    return q, k, v


TRUTH = "verified"
