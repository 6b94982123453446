# broken: the scale of each output channel is looked up by the row's offsets
import torch
import triton
import triton.language as tl


@triton.jit
def scaled_mm_kernel(a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
                     BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], dtype=tl.int32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * stride_am + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0)
        b = tl.load(b_ptr + k[:, None] * stride_bk + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0)
        acc += tl.dot(a, b, out_dtype=tl.int32)
    sa = tl.load(sa_ptr + m, mask=m < M, other=0.0)
    sb = tl.load(sb_ptr + m, mask=m < M, other=0.0)
    c = acc.to(tl.float32) * sa[:, None] * sb[None, :]
    tl.store(c_ptr + m[:, None] * stride_cm + n[None, :], c, mask=(m[:, None] < M) & (n[None, :] < N))


def launch(M=20, N=40, K=48):
    a = torch.randint(-127, 128, (M, K), dtype=torch.int8, device="cuda")
    b = torch.randint(-127, 128, (K, N), dtype=torch.int8, device="cuda")
    scale_a = torch.rand(M, device="cuda")
    scale_b = torch.rand(N, device="cuda")
    c = torch.empty(M, N, device="cuda")
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    scaled_mm_kernel[grid](a, b, scale_a, scale_b, c, M, N, K, a.stride(0), b.stride(0), c.stride(0),
                           BM=32, BN=32, BK=32)
    return c


def reference(a, b, scale_a, scale_b):
    return (a.float() @ b.float()) * scale_a[:, None] * scale_b[None, :]


TRUTH = "broken"
