import torch
import triton
import triton.language as tl


@triton.jit
def outer_kernel(a_ptr, b_ptr, out_ptr, M, N, alpha, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    a = tl.load(a_ptr + rows, mask=rows < M, other=0.0)
    b = tl.load(b_ptr + cols, mask=cols < N, other=0.0)
    tile = alpha * a[:, None] * b[None, :]
    out = out_ptr + rows[:, None] * M + cols[None, :]
    tl.store(out, tile, mask=(rows[:, None] < M) & (cols[None, :] < N))


def outer(a, b, alpha=1.0):
    M, N = a.numel(), b.numel()
    out = torch.empty(M, N, device=a.device, dtype=a.dtype)
    outer_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 32))](a, b, out, M, N, alpha, BM=16, BN=32)
    return out


def launch(M=24, N=50):
    a = torch.randn(M, device="cuda")
    b = torch.randn(N, device="cuda")
    return outer(a, b, alpha=0.5)


def reference(a, b):
    return 0.5 * torch.outer(a, b)


# rows are N elements apart, not M
TRUTH = "broken"
