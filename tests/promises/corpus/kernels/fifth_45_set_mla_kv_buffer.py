"""Write the latent and the rotary part of new MLA keys, two views of one projection, into rows of the cache."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def set_mla_kv_buffer_kernel(
    kv_buffer_ptr,
    cache_k_nope_ptr,
    cache_k_rope_ptr,
    loc_ptr,
    buffer_stride,
    nope_stride,
    rope_stride,
    nope_dim: tl.constexpr,
    rope_dim: tl.constexpr,
    BLOCK: tl.constexpr,
):
    pid_loc = tl.program_id(0)
    base = tl.program_id(1) * BLOCK
    offs = base + tl.arange(0, BLOCK)
    total_dim = nope_dim + rope_dim
    mask = offs < total_dim
    loc = tl.load(loc_ptr + pid_loc).to(tl.int64)
    dst_ptr = kv_buffer_ptr + loc * buffer_stride + offs
    if base + BLOCK <= nope_dim:
        src = tl.load(cache_k_nope_ptr + pid_loc * nope_stride + offs, mask=mask)
    else:
        src = tl.load(cache_k_rope_ptr + pid_loc * rope_stride + offs - nope_dim, mask=mask)
    tl.store(dst_ptr, src, mask=mask)


def set_mla_kv_buffer(kv_buffer, loc, cache_k_nope, cache_k_rope):
    nope_dim, rope_dim = cache_k_nope.shape[-1], cache_k_rope.shape[-1]
    BLOCK = 64
    assert nope_dim % BLOCK == 0
    grid = (loc.numel(), triton.cdiv(nope_dim + rope_dim, BLOCK))
    set_mla_kv_buffer_kernel[grid](
        kv_buffer,
        cache_k_nope,
        cache_k_rope,
        loc,
        kv_buffer.stride(0),
        cache_k_nope.stride(0),
        cache_k_rope.stride(0),
        nope_dim,
        rope_dim,
        BLOCK,
    )


def launch():
    tokens, slots, lora_rank, rope = 6, 15, 128, 24
    kv_buffer = torch.zeros(slots, lora_rank + rope)
    latent = torch.randn(tokens, lora_rank + rope)
    k_nope, k_rope = latent.split([lora_rank, rope], dim=-1)
    loc = torch.argsort(torch.rand(slots))[:tokens]
    set_mla_kv_buffer(kv_buffer, loc, k_nope, k_rope)
    return kv_buffer


def reference(kv_buffer, loc, k_nope, k_rope):
    y = kv_buffer.clone()
    y[loc] = torch.cat([k_nope, k_rope], -1)
    return y
