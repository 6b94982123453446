"""Partial NeoX rotary embedding, q and k rotated in place by one launch (heads of both along grid axis 1), cos|sin cache looked up by position."""
import torch
import triton
import triton.language as tl


@triton.jit
def rope_kernel(q_ptr, k_ptr, cache_ptr, pos_ptr, sqt, sqh, skt, skh, n_q_heads, ROT: tl.constexpr, HALF: tl.constexpr, BLOCK: tl.constexpr):
    t = tl.program_id(0)
    h = tl.program_id(1)
    pos = tl.load(pos_ptr + t)
    i = tl.arange(0, BLOCK)
    ok = i < HALF
    cos = tl.load(cache_ptr + pos * ROT + i, mask=ok, other=1.0)
    sin = tl.load(cache_ptr + pos * ROT + HALF + i, mask=ok, other=0.0)
    if h < n_q_heads:
        base = q_ptr + t * sqt + h * sqh
    else:
        base = k_ptr + t * skt + (h - n_q_heads) * skh
    x1 = tl.load(base + i, mask=ok, other=0.0)
    x2 = tl.load(base + HALF + i, mask=ok, other=0.0)
    tl.store(base + i, x1 * cos - x2 * sin, mask=ok)
    tl.store(base + HALF + i, x2 * cos + x1 * sin, mask=ok)


def launch(T=9, HQ=6, HK=2, max_pos=64):
    D, ROT = 40, 24
    q = torch.randn(T, HQ, D, device="cuda")
    k = torch.randn(T, HK, D, device="cuda")
    positions = torch.randint(0, max_pos, (T,), device="cuda")
    cache = torch.randn(max_pos, ROT, device="cuda")
    rope_kernel[(T, HQ + HK)](q, k, cache, positions, q.stride(0), q.stride(1), k.stride(0), k.stride(1), HQ,
                              ROT=ROT, HALF=ROT // 2, BLOCK=triton.next_power_of_2(ROT // 2))
    return q, k


def reference(q, k, positions, cache):
    cos, sin = cache[positions].chunk(2, dim=-1)
    cos, sin = cos[:, None], sin[:, None]

    def rotate(x):
        x1, x2, rest = x[..., :12], x[..., 12:24], x[..., 24:]
        return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin, rest], dim=-1)

    return rotate(q), rotate(k)
TRUTH = "verified"
