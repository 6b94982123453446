# New latent keys and their rotary part are put side by side into a paged cache; slot -1 is padding.
import torch
import triton
import triton.language as tl


@triton.jit
def concat_cache_kernel(kv_c_ptr, k_pe_ptr, slot_ptr, cache_ptr, page, stride_page, stride_entry, rank, rope,
                        BLOCK_R: tl.constexpr, BLOCK_P: tl.constexpr):
    token = tl.program_id(0)
    slot = tl.load(slot_ptr + token)
    if slot >= 0:
        base = cache_ptr + (slot // page) * stride_page + (slot % page) * stride_entry
        r = tl.arange(0, BLOCK_R)
        c = tl.load(kv_c_ptr + token * rank + r, mask=r < rank)
        tl.store(base + r, c, mask=r < rank)
        p = tl.arange(0, BLOCK_P)
        pe = tl.load(k_pe_ptr + token * rope + p, mask=p < rope)
        tl.store(base + rank + p, pe, mask=p < rope)


def launch(T=6, blocks=5, page=4, rank=24, rope=8):
    kv_c = torch.randn(T, rank, device="cuda")
    k_pe = torch.randn(T, rope, device="cuda")
    slots = torch.randperm(blocks * page, device="cuda")[:T]
    slots[1] = -1
    cache = torch.zeros(blocks, page, rank + rope, device="cuda")
    concat_cache_kernel[(T,)](kv_c, k_pe, slots, cache, page, cache.stride(0), cache.stride(1), rank, rope,
                              BLOCK_R=triton.next_power_of_2(rank), BLOCK_P=triton.next_power_of_2(rope))
    return cache


launch.assume = ["0 <= slots < blocks * page or slots == -1", "distinct(slots[slots >= 0])"]


def reference(kv_c, k_pe, slots, cache):
    rows = torch.cat([kv_c, k_pe], dim=-1)
    flat = cache.reshape(-1, cache.shape[-1])
    n = flat.shape[0]
    padded = torch.cat([flat, torch.zeros_like(flat[:1])])
    where = torch.where(slots >= 0, slots, n)
    return padded.index_copy(0, where, rows)[:n].reshape(cache.shape)


TRUTH = "verified"
