import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def embedding_backward_kernel(grad_out, idx, grad_weight, n_elements, embedding_dim,
                              BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    mask_m = offs_m < n_elements
    indices = tl.load(idx + offs_m, mask=mask_m, other=0)
    offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    mask_n = offs_n < embedding_dim
    block_mask = mask_m[:, None] & mask_n[None, :]
    g = tl.load(grad_out + offs_m[:, None] * embedding_dim + offs_n[None, :], mask=block_mask, other=0.0)
    tl.atomic_add(grad_weight + indices[:, None] * embedding_dim + offs_n[None, :], g, mask=block_mask)


def launch(grad_output, indices, weight):
    dim = weight.shape[1]
    grad_weight = torch.zeros_like(weight)
    flat = indices.view(-1)
    g = grad_output.contiguous().view(-1, dim)
    n = flat.numel()
    grid = (triton.cdiv(n, 16), triton.cdiv(dim, 32))
    embedding_backward_kernel[grid](g, flat, grad_weight, n, dim, BLOCK_SIZE_M=16, BLOCK_SIZE_N=32)
    return grad_weight


def reference(grad_output, indices, weight):
    grad = torch.zeros_like(weight)
    return grad.index_add(0, indices.flatten(), grad_output.flatten(0, -2))


def inputs(batch=3, seq=9, vocab=20, dim=40):
    return torch.randn(batch, seq, dim), torch.randint(0, vocab, (batch, seq)), torch.randn(vocab, dim)
