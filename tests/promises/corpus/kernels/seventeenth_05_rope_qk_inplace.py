"""LLM: neox rotary embedding of the q and k parts of a packed qkv, in place, cos/sin gathered by position."""
import torch
import triton
import triton.language as tl


@triton.jit
def rope_qk_kernel(
    qkv_ptr, cos_sin_ptr, pos_ptr,
    stride_t, stride_h, stride_cs,
    num_tokens, n_rot_heads,
    HALF: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_H: tl.constexpr,
):
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    h = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    d = tl.arange(0, HALF)
    t_mask = t < num_tokens
    pos = tl.load(pos_ptr + t, mask=t_mask, other=0)
    cs = cos_sin_ptr + pos[:, None] * stride_cs + d[None, :]
    cos = tl.load(cs, mask=t_mask[:, None], other=0.0)[:, None, :]
    sin = tl.load(cs + HALF, mask=t_mask[:, None], other=0.0)[:, None, :]
    base = qkv_ptr + t[:, None, None] * stride_t + h[None, :, None] * stride_h + d[None, None, :]
    mask = t_mask[:, None, None] & (h < n_rot_heads)[None, :, None]
    x1 = tl.load(base, mask=mask, other=0.0)
    x2 = tl.load(base + HALF, mask=mask, other=0.0)
    tl.store(base, x1 * cos - x2 * sin, mask=mask)
    tl.store(base + HALF, x2 * cos + x1 * sin, mask=mask)


def launch(tokens=11, heads=6, kv_heads=2, max_pos=40):
    head_dim = 32
    qkv = torch.randn(tokens, heads + 2 * kv_heads, head_dim, device="cuda")
    cos_sin = torch.randn(max_pos, head_dim, device="cuda")
    positions = torch.randint(0, max_pos, (tokens,), device="cuda")
    rot = heads + kv_heads
    BLOCK_T, BLOCK_H = 4, 4
    rope_qk_kernel[(triton.cdiv(tokens, BLOCK_T), triton.cdiv(rot, BLOCK_H))](
        qkv, cos_sin, positions, qkv.stride(0), qkv.stride(1), cos_sin.stride(0),
        tokens, rot, HALF=head_dim // 2, BLOCK_T=BLOCK_T, BLOCK_H=BLOCK_H,
    )
    return qkv


def reference(qkv, cos_sin, positions, kv_heads):
    cos, sin = cos_sin[positions][:, None, :].chunk(2, dim=-1)
    rot = qkv.shape[1] - kv_heads
    x1, x2 = qkv[:, :rot].chunk(2, dim=-1)
    turned = torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1)
    return torch.cat([turned, qkv[:, rot:]], dim=1)

TRUTH = "verified"
