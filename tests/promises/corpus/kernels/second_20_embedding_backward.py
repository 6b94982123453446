"""Gradient of an embedding, added to what the gradient holds already; the padding token gets none."""

import torch
import triton
import triton.language as tl

PADDING_IDX = 0


@triton.jit
def embedding_backward_kernel(
    dy_ptr, ids_ptr, grad_ptr, n_tokens, D, padding_idx,
    BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr,
):
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    t_mask = t < n_tokens
    d_mask = d < D
    token = tl.load(ids_ptr + t, mask=t_mask, other=padding_idx)
    dy = tl.load(dy_ptr + t[:, None] * D + d[None, :], mask=t_mask[:, None] & d_mask[None, :], other=0.0)
    live = (token != padding_idx)[:, None] & d_mask[None, :]
    tl.atomic_add(grad_ptr + token[:, None] * D + d[None, :], dy, mask=live)


def launch(T=21, V=9, D=20):
    dy = torch.randn(T, D, device="cuda")
    ids = torch.randint(0, V, (T,), device="cuda")
    grad_weight = torch.randn(V, D, device="cuda")
    grid = (triton.cdiv(T, 8), triton.cdiv(D, 16))
    embedding_backward_kernel[grid](dy, ids, grad_weight, T, D, PADDING_IDX, BLOCK_T=8, BLOCK_D=16)
    return grad_weight


def reference(dy, ids, grad_weight):
    live = (ids != PADDING_IDX).to(dy.dtype)
    return grad_weight.index_add(0, ids, dy * live[:, None])


TRUTH = "verified"
