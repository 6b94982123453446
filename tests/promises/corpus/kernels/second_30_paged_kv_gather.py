"""Keys from a paged cache into a dense tensor, zero past each sequence's length."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_paged_kernel(
    cache_ptr, block_table_ptr, seq_lens_ptr, out_ptr,
    stride_cache_block, stride_cache_slot, stride_table, stride_out_seq, stride_out_tok,
    HEAD_SIZE, BLOCK_SIZE: tl.constexpr, BLOCK_D: tl.constexpr,
):
    seq = tl.program_id(0)
    logical = tl.program_id(1)
    seq_len = tl.load(seq_lens_ptr + seq)
    physical = tl.load(block_table_ptr + seq * stride_table + logical).to(tl.int64)
    slot = tl.arange(0, BLOCK_SIZE)
    d = tl.arange(0, BLOCK_D)
    token = logical * BLOCK_SIZE + slot
    d_mask = d[None, :] < HEAD_SIZE
    src = cache_ptr + physical * stride_cache_block + slot[:, None] * stride_cache_slot + d[None, :]
    k = tl.load(src, mask=(token[:, None] < seq_len) & d_mask, other=0.0)
    dst = out_ptr + seq * stride_out_seq + token[:, None] * stride_out_tok + d[None, :]
    tl.store(dst, k, mask=d_mask)


def gather(cache, block_table, seq_lens):
    num_blocks, block_size, width = cache.shape
    batch, max_blocks = block_table.shape
    out = torch.empty(batch, max_blocks * block_size, width, dtype=cache.dtype, device=cache.device)
    gather_paged_kernel[(batch, max_blocks)](
        cache, block_table, seq_lens, out,
        cache.stride(0), cache.stride(1), block_table.stride(0), out.stride(0), out.stride(1),
        width, BLOCK_SIZE=block_size, BLOCK_D=triton.next_power_of_2(width),
    )
    return out


def launch(B=3, NB=11, MAXB=4, W=24):
    cache = torch.randn(NB, 8, W, device="cuda")
    block_table = torch.randint(0, NB, (B, MAXB), dtype=torch.int32, device="cuda")
    seq_lens = torch.randint(1, MAXB * 8 + 1, (B,), dtype=torch.int32, device="cuda")
    return gather(cache, block_table, seq_lens)


def reference(cache, block_table, seq_lens):
    k = cache[block_table.long()].flatten(1, 2)
    live = torch.arange(k.shape[1], device=k.device)[None, :] < seq_lens[:, None]
    return k * live[:, :, None].to(k.dtype)


TRUTH = "verified"
