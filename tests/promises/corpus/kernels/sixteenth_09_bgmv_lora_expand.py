"""Multi-LoRA decode: each token has its own adapter (-1: none); shrink kernel, then expand kernel that adds into the base output."""
import torch
import triton
import triton.language as tl


@triton.jit
def _shrink_kernel(
    x_ptr, a_ptr, idx_ptr, mid_ptr, scale, K,
    x_stride, a_stride_l, a_stride_r, mid_stride,
    RANK: tl.constexpr, BLOCK_K: tl.constexpr,
):
    tok = tl.program_id(0)
    lora = tl.load(idx_ptr + tok)
    if lora == -1:
        return
    r = tl.arange(0, RANK)
    acc = tl.zeros((RANK,), dtype=tl.float32)
    for k0 in range(0, K, BLOCK_K):
        k = k0 + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + tok * x_stride + k, mask=k < K, other=0.0)
        a = tl.load(a_ptr + lora * a_stride_l + r[:, None] * a_stride_r + k[None, :], mask=k[None, :] < K, other=0.0)
        acc += tl.sum(a * x[None, :], axis=1)
    tl.store(mid_ptr + tok * mid_stride + r, acc * scale)


@triton.jit
def _expand_kernel(
    mid_ptr, b_ptr, idx_ptr, y_ptr, N,
    mid_stride, b_stride_l, b_stride_n, y_stride,
    RANK: tl.constexpr, BLOCK_N: tl.constexpr,
):
    tok = tl.program_id(0)
    lora = tl.load(idx_ptr + tok)
    if lora == -1:
        return
    r = tl.arange(0, RANK)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mid = tl.load(mid_ptr + tok * mid_stride + r)
    b = tl.load(b_ptr + lora * b_stride_l + n[:, None] * b_stride_n + r[None, :], mask=n[:, None] < N, other=0.0)
    y_ptrs = y_ptr + tok * y_stride + n
    y = tl.load(y_ptrs, mask=n < N, other=0.0)
    tl.store(y_ptrs, y + tl.sum(b * mid[None, :], axis=1), mask=n < N)


def launch(tokens=5, K=70, N=45, loras=3):
    RANK = 8
    x = torch.randn(tokens, K, device="cuda")
    lora_a = torch.randn(loras, RANK, K, device="cuda")
    lora_b = torch.randn(loras, N, RANK, device="cuda")
    y = torch.randn(tokens, N, device="cuda")
    indices = torch.randint(-1, loras, (tokens,), device="cuda")
    mid = torch.zeros(tokens, RANK, device="cuda", dtype=torch.float32)
    _shrink_kernel[(tokens,)](
        x, lora_a, indices, mid, 0.5, K,
        x.stride(0), lora_a.stride(0), lora_a.stride(1), mid.stride(0), RANK=RANK, BLOCK_K=32,
    )
    _expand_kernel[(tokens, triton.cdiv(N, 32))](
        mid, lora_b, indices, y, N,
        mid.stride(0), lora_b.stride(0), lora_b.stride(1), y.stride(0), RANK=RANK, BLOCK_N=32,
    )
    return y


def reference(x, lora_a, lora_b, y, indices):
    chosen = indices.clamp(min=0)
    mid = torch.einsum("tk,trk->tr", x, lora_a[chosen]) * 0.5
    delta = torch.einsum("tr,tnr->tn", mid, lora_b[chosen])
    return y + torch.where((indices >= 0)[:, None], delta, torch.zeros_like(delta))

TRUTH = "verified"
