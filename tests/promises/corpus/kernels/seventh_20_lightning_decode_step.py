"""MiniMax lightning attention, one decoded token: kv <- ratio kv + k^T v, o = q kv.  The key dimension is cut in blocks."""
import torch
import triton
import triton.language as tl


@triton.jit
def _linear_attn_decode_kernel(
    q_ptr, k_ptr, v_ptr, kv_cache_ptr, slope_ptr, out_ptr,
    H,
    D: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid_b, pid_h, pid_k = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    bh = pid_b * H + pid_h
    kd = pid_k * BLOCK_K + tl.arange(0, BLOCK_K)
    vd = tl.arange(0, D)
    ratio = tl.exp(-tl.load(slope_ptr + pid_h))
    q = tl.load(q_ptr + bh * D + kd)
    k = tl.load(k_ptr + bh * D + kd)
    v = tl.load(v_ptr + bh * D + vd)
    at = kv_cache_ptr + bh * D * D + kd[:, None] * D + vd[None, :]
    kv = tl.load(at) * ratio + k[:, None] * v[None, :]
    tl.store(at, kv)
    o = tl.sum(q[:, None] * kv, axis=0)
    tl.store(out_ptr + bh * D + vd, o)


def launch(B=2, H=3):
    D = 32
    q, k, v = (torch.randn(B, H, D, device="cuda") for _ in range(3))
    kv_cache = torch.randn(B, H, D, D, device="cuda")
    slope = torch.rand(H, device="cuda")
    out = torch.zeros(B, H, D, device="cuda")
    _linear_attn_decode_kernel[(B, H, D // 16)](q, k, v, kv_cache, slope, out, H, D=D, BLOCK_K=16)
    return out, kv_cache


def reference(q, k, v, kv_cache, slope):
    kv = kv_cache * torch.exp(-slope)[:, None, None] + k[..., :, None] * v[..., None, :]
    return torch.einsum("bhk,bhkv->bhv", q, kv), kv


# each block of keys stores its partial o, which should be added: the programs race for it
TRUTH = "broken"
