"""kvstore, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _reshape_and_cache_kernel(
    key_ptr,
    value_ptr,
    k_cache_ptr,
    v_cache_ptr,
    slot_mapping_ptr,
    stride_kt,
    stride_kh,
    stride_vt,
    stride_vh,
    stride_kcb,
    stride_kcs,
    stride_kch,
    stride_vcb,
    stride_vcs,
    stride_vch,
    block_size,
    dk,
    dv,
    BLOCK_DK: tl.constexpr,
    BLOCK_DV: tl.constexpr,
):
    token = tl.program_id(0)
    head = tl.program_id(1)
    slot = tl.load(slot_mapping_ptr + token).to(tl.int64)
    if slot < 0:
        return
    block = slot // block_size
    pos = slot % block_size

    offs_k = tl.arange(0, BLOCK_DK)
    k = tl.load(key_ptr + token * stride_kt + head * stride_kh + offs_k, mask=offs_k < dk)
    tl.store(k_cache_ptr + block * stride_kcb + pos * stride_kcs + head * stride_kch + offs_k, k, mask=offs_k < dk)

    offs_v = tl.arange(0, BLOCK_DV)
    v = tl.load(value_ptr + token * stride_vt + head * stride_vh + offs_v, mask=offs_v < dv)
    tl.store(v_cache_ptr + block * stride_vcb + pos * stride_vcs + head * stride_kch + offs_v, v, mask=offs_v < dv)


def reshape_and_cache(key, value, k_cache, v_cache, slot_mapping):
    tokens, heads, dk = key.shape
    dv = value.shape[-1]
    _reshape_and_cache_kernel[(tokens, heads)](
        key, value, k_cache, v_cache, slot_mapping,
        key.stride(0), key.stride(1), value.stride(0), value.stride(1),
        k_cache.stride(0), k_cache.stride(1), k_cache.stride(2),
        v_cache.stride(0), v_cache.stride(1), v_cache.stride(2),
        k_cache.shape[1], dk, dv,
        BLOCK_DK=triton.next_power_of_2(dk), BLOCK_DV=triton.next_power_of_2(dv),
    )
    return k_cache, v_cache


def launch(tokens=7, heads=3, dk=24, dv=16, blocks=5):
    key = torch.randn(tokens, heads, dk, device="cuda")
    value = torch.randn(tokens, heads, dv, device="cuda")
    k_cache = torch.randn(blocks, 16, heads, dk, device="cuda")
    v_cache = torch.randn(blocks, 16, heads, dv, device="cuda")
    slot_mapping = torch.randperm(blocks * 16, device="cuda")[:tokens]
    return reshape_and_cache(key, value, k_cache, v_cache, slot_mapping)


def reference(key, value, k_cache, v_cache, slot_mapping):
    k = k_cache.flatten(0, 1).index_copy(0, slot_mapping, key)
    v = v_cache.flatten(0, 1).index_copy(0, slot_mapping, value)
    return k.view_as(k_cache), v.view_as(v_cache)


TRUTH = "broken"
