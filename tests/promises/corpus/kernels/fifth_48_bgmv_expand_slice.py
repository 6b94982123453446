"""LoRA expand: each token's low-rank vector times the B matrix of its adapter, added to a slice of the output."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def _bgmv_expand_slice_kernel(
    input_ptr,
    lora_ptr,
    out_ptr,
    N,
    rank,
    lora_indices,
    xm_stride,
    l0_stride,
    lora_n_stride,
    cm_stride,
    slice_offset,
    BLOCK_N: tl.constexpr,
    BLOCK_R: tl.constexpr,
):
    cur_batch = tl.program_id(0)
    lora_index = tl.load(lora_indices + cur_batch)
    offset_r = tl.arange(0, BLOCK_R)
    offset_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x = tl.load(input_ptr + cur_batch * xm_stride + offset_r, mask=offset_r < rank, other=0.0)
    mask = (offset_n[:, None] < N) & (offset_r[None, :] < rank)
    w = tl.load(lora_ptr + lora_index * l0_stride + offset_n[:, None] * lora_n_stride + offset_r[None, :], mask=mask, other=0.0)
    c_ptr = out_ptr + cur_batch * cm_stride + slice_offset + offset_n
    acc = tl.load(c_ptr, mask=offset_n < N, other=0.0)
    acc += tl.sum(x[None, :] * w, 1)
    tl.store(c_ptr, acc, mask=offset_n < N)


def launch():
    tokens, rank, adapters, q_size, width = 8, 12, 3, 90, 150
    x = torch.randn(tokens, rank)
    lora_b = torch.randn(adapters, q_size, rank)
    indices = torch.tensor([0, 2, -1, 1, 1, -1, 0, 2])
    out = torch.randn(tokens, width)
    grid = (tokens, triton.cdiv(q_size, 64))
    _bgmv_expand_slice_kernel[grid](
        x, lora_b, out, q_size, rank, indices, x.stride(0), lora_b.stride(0), lora_b.stride(1), out.stride(0), 40,
        BLOCK_N=64, BLOCK_R=triton.next_power_of_2(rank),
    )
    return out


def reference(x, lora_b, indices, out):
    y = torch.einsum("tr,tnr->tn", x, lora_b[indices.clamp(min=0)])
    y = torch.where((indices >= 0)[:, None], y, torch.zeros_like(y))
    right = out.shape[1] - 40 - y.shape[1]
    return out + torch.nn.functional.pad(y, (40, right))
