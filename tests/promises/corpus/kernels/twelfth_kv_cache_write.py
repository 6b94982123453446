"""New keys and values go to distinct slots of a paged cache; everything else in the cache stays as it was."""
import torch
import triton
import triton.language as tl


@triton.jit
def reshape_and_cache_kernel(
    key_ptr, value_ptr, k_cache_ptr, v_cache_ptr, slot_ptr,
    key_stride, value_stride, block_stride, page_stride, width, PAGE: tl.constexpr, BLOCK: tl.constexpr,
):
    token = tl.program_id(0)
    slot = tl.load(slot_ptr + token)
    block = slot // PAGE
    within = slot % PAGE
    offs = tl.arange(0, BLOCK)
    mask = offs < width
    key = tl.load(key_ptr + token * key_stride + offs, mask=mask)
    value = tl.load(value_ptr + token * value_stride + offs, mask=mask)
    dst = block * block_stride + within * page_stride + offs
    tl.store(k_cache_ptr + dst, key, mask=mask)
    tl.store(v_cache_ptr + dst, value, mask=mask)


def launch(tokens=12, blocks=6, heads=3, dim=20):
    key = torch.randn(tokens, heads, dim, device="cuda")
    value = torch.randn(tokens, heads, dim, device="cuda")
    k_cache = torch.randn(blocks, 16, heads, dim, device="cuda")
    v_cache = torch.randn(blocks, 16, heads, dim, device="cuda")
    slots = torch.randperm(blocks * 16, device="cuda")[:tokens]
    reshape_and_cache_kernel[(tokens,)](
        key, value, k_cache, v_cache, slots,
        key.stride(0), value.stride(0), k_cache.stride(0), k_cache.stride(1), heads * dim,
        PAGE=16, BLOCK=triton.next_power_of_2(heads * dim),
    )
    return k_cache, v_cache


launch.assume = ["distinct(slots)"]


def reference(key, value, k_cache, v_cache, slots):
    k = k_cache.flatten(0, 1).index_copy(0, slots, key)
    v = v_cache.flatten(0, 1).index_copy(0, slots, value)
    return k.view(k_cache.shape), v.view(v_cache.shape)


TRUTH = "verified"
