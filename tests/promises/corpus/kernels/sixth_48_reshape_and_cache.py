# SPDX-License-Identifier: Apache-2.0
import torch
import triton
import triton.language as tl


@triton.jit
def reshape_and_cache_kernel(
    key_ptr,  # [num_tokens, num_heads, head_size]
    value_ptr,
    key_cache_ptr,  # [num_blocks, block_size, num_heads, head_size]
    value_cache_ptr,
    slot_mapping_ptr,  # [num_tokens]
    key_stride,
    value_stride,
    block_stride,
    page_stride,
    num_elems,
    block_size,
    TILE: tl.constexpr,
):
    token_idx = tl.program_id(axis=0)
    slot_idx = tl.load(slot_mapping_ptr + token_idx).to(tl.int64)
    if slot_idx < 0:
        # padding token, nothing to cache
        return

    tile_pos = tl.program_id(axis=1) * TILE + tl.arange(0, TILE)
    block_idx = slot_idx // block_size
    block_offset = slot_idx % block_size

    in_row = tile_pos < num_elems
    k = tl.load(key_ptr + token_idx * key_stride + tile_pos, mask=in_row)
    v = tl.load(value_ptr + token_idx * value_stride + tile_pos, mask=in_row)
    tgt = block_idx * block_stride + block_offset * page_stride + tile_pos
    tl.store(key_cache_ptr + tgt, k, mask=in_row)
    tl.store(value_cache_ptr + tgt, v, mask=in_row)


def triton_reshape_and_cache(key, value, key_cache, value_cache, slot_mapping):
    num_tokens, num_heads, head_size = key.shape
    assert slot_mapping.numel() == num_tokens
    block_size = key_cache.shape[1]
    n = num_heads * head_size
    TILE = 32
    grid = (num_tokens, triton.cdiv(n, TILE))
    reshape_and_cache_kernel[grid](
        key, value, key_cache, value_cache, slot_mapping,
        key.stride(0), value.stride(0), key_cache.stride(0), key_cache.stride(1),
        n, block_size, TILE=TILE,
    )


def launch(num_tokens=9, num_heads=3, head_size=20, num_blocks=5, block_size=4):
    key = torch.randn(num_tokens, num_heads, head_size)
    value = torch.randn(num_tokens, num_heads, head_size)
    key_cache = torch.randn(num_blocks, block_size, num_heads, head_size)
    value_cache = torch.randn(num_blocks, block_size, num_heads, head_size)
    slot_mapping = torch.randperm(num_blocks * block_size)[:num_tokens]
    triton_reshape_and_cache(key, value, key_cache, value_cache, slot_mapping)
    return key_cache, value_cache


def reference(key, value, key_cache, value_cache, slot_mapping):
    kc = key_cache.flatten(0, 1).index_copy(0, slot_mapping, key)
    vc = value_cache.flatten(0, 1).index_copy(0, slot_mapping, value)
    return kc.view_as(key_cache), vc.view_as(value_cache)


TRUTH = "verified"
