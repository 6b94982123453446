"""Causal attention in one pass: a block of rows stops at its own diagonal."""

import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, T, scale, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    base = tl.program_id(1) * T * D
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    lanes = tl.arange(0, D)
    q = tl.load(q_ptr + base + rows[:, None] * D + lanes[None, :], mask=rows[:, None] < T, other=0.0)
    largest = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    mixed = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start in range(0, tl.minimum(T, (tl.program_id(0) + 1) * BLOCK_M), BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        at = base + cols[:, None] * D + lanes[None, :]
        k = tl.load(k_ptr + at, mask=cols[:, None] < T, other=0.0)
        v = tl.load(v_ptr + at, mask=cols[:, None] < T, other=0.0)
        scores = tl.dot(q, tl.trans(k)) * scale
        scores = tl.where((cols[None, :] <= rows[:, None]) & (cols[None, :] < T), scores, -float("inf"))
        now = tl.maximum(largest, tl.max(scores, axis=1))
        weights = tl.exp(scores - now[:, None])
        shrink = tl.exp(largest - now)
        total = total * shrink + tl.sum(weights, axis=1)
        mixed = mixed * shrink[:, None] + tl.dot(weights, v)
        largest = now
    tl.store(out_ptr + base + rows[:, None] * D + lanes[None, :], mixed / total[:, None], mask=rows[:, None] < T)


def launch(H=2, T=37):
    q = torch.randn(H, T, 16, device="cuda")
    k = torch.randn(H, T, 16, device="cuda")
    v = torch.randn(H, T, 16, device="cuda")
    out = torch.empty_like(q)
    attention_kernel[(triton.cdiv(T, 16), H)](q, k, v, out, T, 0.25, D=16, BLOCK_M=16, BLOCK_N=16)
    return out


def reference(q, k, v):
    later = torch.ones(q.shape[1], q.shape[1]).triu(1).bool()
    scores = (q @ k.transpose(-1, -2) * 0.25).masked_fill(later, -float("inf"))
    return torch.softmax(scores, dim=-1) @ v


BROKEN = {
    "missing_rescale": ("mixed * shrink[:, None] + tl.dot", "mixed + tl.dot", "value", "value"),
    "sees_the_next": ("cols[None, :] <= rows[:, None]", "cols[None, :] <= rows[:, None] + 1", "value", "value"),
    "misses_itself": ("cols[None, :] <= rows[:, None]", "cols[None, :] < rows[:, None]", "value", "value"),
    "stops_too_early": ("(tl.program_id(0) + 1) * BLOCK_M)", "tl.program_id(0) * BLOCK_M)", "value", "value"),
    "mask_le": ("k_ptr + at, mask=cols[:, None] < T", "k_ptr + at, mask=cols[:, None] <= T", "bounds", "fault"),
}
