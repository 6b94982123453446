"""New keys and values go into their slots of a paged cache; padded tokens have slot -1."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def reshape_and_cache_kernel(
    key_ptr, value_ptr, key_cache_ptr, value_cache_ptr, slot_mapping_ptr,
    key_stride, value_stride, block_stride, page_stride, row: tl.constexpr, block_size: tl.constexpr, TILE: tl.constexpr,
):
    token_idx = tl.program_id(axis=0)
    slot_idx = tl.load(slot_mapping_ptr + token_idx).to(tl.int64)
    if slot_idx < 0:
        return
    pos = tl.program_id(axis=1) * TILE + tl.arange(0, TILE)
    block_idx = slot_idx // block_size
    block_offset = slot_idx % block_size
    tgt = block_idx * block_stride + block_offset * page_stride
    k = tl.load(key_ptr + token_idx * key_stride + pos, mask=pos < row)
    tl.store(key_cache_ptr + tgt + pos, k, mask=pos < row)
    v = tl.load(value_ptr + token_idx * value_stride + pos, mask=pos < row)
    tl.store(value_cache_ptr + tgt + pos, v, mask=pos < row)


def launch(key, value, key_cache, value_cache, slot_mapping):
    num_heads, head_size = key.shape[1:]
    block_size = key_cache.shape[1]
    n = num_heads * head_size
    reshape_and_cache_kernel[(slot_mapping.shape[0], triton.cdiv(n, 32))](
        key, value, key_cache, value_cache, slot_mapping, key.stride(0), value.stride(0),
        key_cache.stride(0), key_cache.stride(1), row=n, block_size=block_size, TILE=32)
    return key_cache, value_cache


def reference(key, value, key_cache, value_cache, slot_mapping):
    flat_k = key_cache.flatten(0, 1)
    flat_v = value_cache.flatten(0, 1)
    places = torch.arange(flat_k.shape[0])
    hit = places[:, None] == slot_mapping[None, :]                       # slot, token
    written = hit.any(dim=1)[:, None, None]
    new_k = torch.einsum("st,thd->shd", hit.to(key.dtype), key)
    new_v = torch.einsum("st,thd->shd", hit.to(value.dtype), value)
    return (torch.where(written, new_k, flat_k).view_as(key_cache),
            torch.where(written, new_v, flat_v).view_as(value_cache))


def inputs(tokens=9, heads=3, head_size=14, blocks=5, block_size=4):
    slots = torch.randperm(blocks * block_size)[:tokens]
    slots[-2:] = -1
    cache = (blocks, block_size, heads, head_size)
    return (torch.randn(tokens, heads, head_size), torch.randn(tokens, heads, head_size),
            torch.randn(cache), torch.randn(cache), slots)
