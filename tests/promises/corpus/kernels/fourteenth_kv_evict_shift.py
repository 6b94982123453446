"""StreamingLLM eviction: rows behind the sinks are moved to the front in place by many programs, which read rows that others have overwritten already (a race)."""
import torch
import triton
import triton.language as tl


@triton.jit
def evict_shift_kernel(cache_ptr, T, sink, evict, dim, c_b, c_t, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    b = tl.program_id(0)
    t = sink + tl.program_id(1) * BLOCK_T + tl.arange(0, BLOCK_T)
    d = tl.arange(0, BLOCK_D)
    mask = (t[:, None] < T - evict) & (d[None, :] < dim)
    ptrs = cache_ptr + b * c_b + t[:, None] * c_t + d[None, :]
    kept = tl.load(ptrs + evict * c_t, mask=mask, other=0.0)
    tl.store(ptrs, kept, mask=mask)


def launch(batch=3, sink=4, evict=10, kept=61, dim=20):
    T = sink + evict + kept
    cache = torch.randn(batch, T, dim)
    evict_shift_kernel[(batch, triton.cdiv(kept, 16))](
        cache, T, sink, evict, dim, cache.stride(0), cache.stride(1), BLOCK_T=16, BLOCK_D=triton.next_power_of_2(dim)
    )
    return cache


def reference(cache, sink, evict):
    return torch.cat([cache[:, :sink], cache[:, sink + evict :], cache[:, -evict:]], dim=1)
TRUTH = "broken"
