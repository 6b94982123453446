"""reshape_and_cache with int8 KV: each token's head gets its own absmax scale and goes to its slot of the paged cache; slot -1 is padding."""
import torch
import triton
import triton.language as tl


@triton.jit
def cache_int8_kernel(
    key_ptr, slot_mapping_ptr, cache_ptr, scale_ptr,
    stride_kt, stride_kh,
    stride_cb, stride_cs, stride_ch,
    stride_sb, stride_ss,
    D, BLOCK_SIZE: tl.constexpr, BLOCK_D: tl.constexpr,
):
    token = tl.program_id(0)
    head = tl.program_id(1)
    slot = tl.load(slot_mapping_ptr + token)
    if slot < 0:
        return
    block = slot // BLOCK_SIZE
    offset = slot % BLOCK_SIZE

    cols = tl.arange(0, BLOCK_D)
    mask = cols < D
    x = tl.load(key_ptr + token * stride_kt + head * stride_kh + cols, mask=mask, other=0.0).to(tl.float32)
    amax = tl.max(tl.abs(x), axis=0)
    scale = tl.maximum(amax, 1e-6) / 127.0
    q = tl.floor(x / scale + 0.5).to(tl.int8)
    tl.store(cache_ptr + block * stride_cb + offset * stride_cs + head * stride_ch + cols, q, mask=mask)
    tl.store(scale_ptr + block * stride_sb + offset * stride_ss + head, scale)


def launch(T=6, H=3, D=20, num_blocks=4):
    BLOCK_SIZE = 8
    key = torch.randn(T, H, D, device="cuda")
    slot_mapping = torch.randperm(num_blocks * BLOCK_SIZE, device="cuda")[:T]
    slot_mapping[T - 1] = -1
    cache = torch.zeros(num_blocks, BLOCK_SIZE, H, D, device="cuda", dtype=torch.int8)
    scale = torch.zeros(num_blocks, BLOCK_SIZE, H, device="cuda", dtype=torch.float32)
    cache_int8_kernel[(T, H)](
        key, slot_mapping, cache, scale,
        key.stride(0), key.stride(1),
        cache.stride(0), cache.stride(1), cache.stride(2),
        scale.stride(0), scale.stride(1),
        D, BLOCK_SIZE=BLOCK_SIZE, BLOCK_D=triton.next_power_of_2(D),
    )
    return cache, scale


def reference(key, slot_mapping, cache, scale):
    s = key.abs().amax(dim=-1).clamp(min=1e-6) / 127.0
    q = torch.floor(key / s[..., None] + 0.5).to(torch.int8)
    # padding goes to a row behind the cache, which is cut off again
    slots = cache.shape[0] * cache.shape[1]
    where = torch.where(slot_mapping < 0, slots, slot_mapping)
    flat = torch.cat([cache.flatten(0, 1), torch.zeros_like(cache.flatten(0, 1)[:1])])
    flat_scale = torch.cat([scale.flatten(0, 1), torch.zeros_like(scale.flatten(0, 1)[:1])])
    flat[where] = q
    flat_scale[where] = s
    return flat[:slots].view_as(cache), flat_scale[:slots].view_as(scale)

TRUTH = "verified"
