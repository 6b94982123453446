"""x @ w.T + b through exact GELU, with the grouped program order of the Triton tutorial; offsets wrap and the K tail is masked to zero."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def linear_gelu_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, M, N, K,
    stride_xm, stride_xk, stride_wn, stride_wk, stride_om, stride_on,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):
    pid = tl.program_id(0)
    num_m = tl.cdiv(M, BM)
    num_n = tl.cdiv(N, BN)
    in_group = GROUP * num_n
    group = pid // in_group
    first_m = group * GROUP
    size_m = min(num_m - first_m, GROUP)
    pid_m = first_m + (pid % in_group) % size_m
    pid_n = (pid % in_group) // size_m

    offs_m = (pid_m * BM + tl.arange(0, BM)) % M
    offs_n = (pid_n * BN + tl.arange(0, BN)) % N
    offs_k = tl.arange(0, BK)
    x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
    w_ptrs = w_ptr + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(x_ptrs, mask=offs_k[None, :] < K - k * BK, other=0.0)
        w = tl.load(w_ptrs, mask=offs_k[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, w, acc)
        x_ptrs += BK * stride_xk
        w_ptrs += BK * stride_wk
    acc += tl.load(b_ptr + offs_n)[None, :].to(tl.float32)
    y = 0.5 * acc * (1.0 + tl.erf(acc * 0.7071067811865476))

    out_m = pid_m * BM + tl.arange(0, BM)
    out_n = pid_n * BN + tl.arange(0, BN)
    mask = (out_m[:, None] < M) & (out_n[None, :] < N)
    tl.store(out_ptr + out_m[:, None] * stride_om + out_n[None, :] * stride_on, y.to(tl.float16), mask=mask)


def launch(m=75, n=52, k=40):
    x = torch.randn(m, k, device="cuda", dtype=torch.float16)
    w = torch.randn(n, k, device="cuda", dtype=torch.float16)
    b = torch.randn(n, device="cuda", dtype=torch.float16)
    out = torch.empty(m, n, device="cuda", dtype=torch.float16)
    grid = (triton.cdiv(m, 16) * triton.cdiv(n, 16),)
    linear_gelu_kernel[grid](
        x, w, b, out, m, n, k,
        x.stride(0), x.stride(1), w.stride(0), w.stride(1), out.stride(0), out.stride(1),
        BM=16, BN=16, BK=16, GROUP=3,
    )
    return out


def reference(x, w, b):
    return F.gelu(F.linear(x, w, b))


TRUTH = "verified"
