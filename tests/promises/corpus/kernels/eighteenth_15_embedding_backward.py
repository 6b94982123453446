"""Embedding gradient with padding_idx and scale_grad_by_freq: one launch counts the tokens, a second one adds gradients atomically."""
import torch
import triton
import triton.language as tl


@triton.jit
def count_tokens_kernel(ids_ptr, counts_ptr, T, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < T
    ids = tl.load(ids_ptr + offs, mask=mask, other=0)
    tl.atomic_add(counts_ptr + ids, 1, mask=mask)


@triton.jit
def embedding_backward_kernel(
    grad_ptr, ids_ptr, counts_ptr, grad_weight_ptr,
    D, stride_gt, stride_wv,
    PADDING_IDX: tl.constexpr, BLOCK_D: tl.constexpr,
):
    t = tl.program_id(0)
    offs_d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    mask = offs_d < D
    idx = tl.load(ids_ptr + t)
    if idx != PADDING_IDX:
        count = tl.load(counts_ptr + idx).to(tl.float32)
        g = tl.load(grad_ptr + t * stride_gt + offs_d, mask=mask, other=0.0)
        tl.atomic_add(grad_weight_ptr + idx * stride_wv + offs_d, g / count, mask=mask)


def launch(T=30, V=12, D=40):
    grad = torch.randn(T, D, device="cuda")
    ids = torch.randint(0, V, (T,), device="cuda")
    counts = torch.zeros(V, device="cuda", dtype=torch.int32)
    grad_weight = torch.zeros(V, D, device="cuda")
    count_tokens_kernel[(triton.cdiv(T, 16),)](ids, counts, T, BLOCK=16)
    embedding_backward_kernel[(T, triton.cdiv(D, 32))](
        grad, ids, counts, grad_weight,
        D, grad.stride(0), grad_weight.stride(0),
        PADDING_IDX=0, BLOCK_D=32,
    )
    return grad_weight


def reference(grad, ids, V):
    counts = torch.zeros(V, device=grad.device).index_add(0, ids, torch.ones_like(grad[:, 0]))
    scaled = torch.where((ids == 0)[:, None], 0.0, grad / counts[ids][:, None])
    return torch.zeros(V, grad.shape[1], device=grad.device).index_add(0, ids, scaled)

TRUTH = "verified"
