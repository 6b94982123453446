"""LoRA shrink: each token times the A matrix of its own adapter; a token without adapter gives zeros."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _bgmv_shrink_kernel(
    input_ptr,
    lora_ptr,
    out_ptr,
    K,
    rank,
    lora_indices,
    scaling,
    xm_stride,
    l0_stride,
    lora_k_stride,
    cm_stride,
    BLOCK_R: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    cur_batch = tl.program_id(0)
    lora_index = tl.load(lora_indices + cur_batch)
    if lora_index == -1:
        return
    offset_r = tl.arange(0, BLOCK_R)
    offset_k = tl.arange(0, BLOCK_K)
    a_ptr = input_ptr + cur_batch * xm_stride
    b_ptr = lora_ptr + l0_stride * lora_index
    acc = tl.zeros((BLOCK_R,), dtype=tl.float32)
    for k0 in range(0, K, BLOCK_K):
        current_k = k0 + offset_k
        x = tl.load(a_ptr + current_k, mask=current_k < K, other=0.0).to(tl.float32)
        w = tl.load(
            b_ptr + offset_r[:, None] * lora_k_stride + current_k[None, :],
            mask=(offset_r[:, None] < rank) & (current_k[None, :] < K),
            other=0.0,
        ).to(tl.float32)
        acc += tl.sum(x[None, :] * w, 1)
    acc *= scaling
    tl.store(out_ptr + cur_batch * cm_stride + offset_r, acc, mask=offset_r < rank)


def bgmv_shrink(inputs, lora_a_weights, output, lora_indices, scaling):
    batches = lora_indices.shape[0]
    rank, K = lora_a_weights.shape[-2:]
    _bgmv_shrink_kernel[(batches,)](
        inputs,
        lora_a_weights,
        output,
        K,
        rank,
        lora_indices,
        scaling,
        inputs.stride(0),
        lora_a_weights.stride(0),
        lora_a_weights.stride(1),
        output.stride(0),
        BLOCK_R=triton.next_power_of_2(rank),
        BLOCK_K=128,
    )


def launch():
    tokens, hidden, rank, adapters = 9, 300, 12, 4
    x = torch.randn(tokens, hidden)
    lora_a = torch.randn(adapters, rank, hidden) / 16
    indices = torch.randint(-1, adapters, (tokens,))
    indices[3] = -1
    out = torch.zeros(tokens, rank)
    bgmv_shrink(x, lora_a, out, indices, 0.5)
    return out


def reference(x, lora_a, indices):
    chosen = lora_a[indices.clamp(min=0)]
    y = 0.5 * torch.einsum("tk,trk->tr", x, chosen)
    return torch.where((indices == -1)[:, None], torch.zeros_like(y), y)
