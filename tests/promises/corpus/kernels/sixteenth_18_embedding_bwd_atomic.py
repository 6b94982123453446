"""Embedding backward: gradient rows added into the table's gradient with atomics, padding index left out, scaled by sqrt(dim)-like factor."""
import torch
import triton
import triton.language as tl


@triton.jit
def _embedding_bwd_kernel(
    grad_out_ptr, ids_ptr, grad_w_ptr,
    n_tokens, dim, padding_idx, scale,
    stride_go, stride_gw,
    BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr,
):
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    t_mask = t < n_tokens
    ids = tl.load(ids_ptr + t, mask=t_mask, other=padding_idx)
    mask = (t_mask & (ids != padding_idx))[:, None] & (d < dim)[None, :]
    g = tl.load(grad_out_ptr + t[:, None] * stride_go + d[None, :], mask=mask, other=0.0)
    tl.atomic_add(grad_w_ptr + ids[:, None] * stride_gw + d[None, :], g * scale, mask=mask, sem="relaxed")


def launch(tokens=30, vocab=11, dim=40):
    grad_out = torch.randn(tokens, dim, device="cuda")
    ids = torch.randint(0, vocab, (tokens,), device="cuda")
    grad_weight = torch.zeros(vocab, dim, device="cuda", dtype=torch.float32)
    grid = (triton.cdiv(tokens, 16), triton.cdiv(dim, 32))
    _embedding_bwd_kernel[grid](
        grad_out, ids, grad_weight, tokens, dim, 1, 4.0,
        grad_out.stride(0), grad_weight.stride(0), BLOCK_T=16, BLOCK_D=32,
    )
    return grad_weight


def reference(grad_out, ids, vocab):
    g = torch.where((ids != 1)[:, None], grad_out * 4.0, torch.zeros_like(grad_out))
    return torch.zeros(vocab, grad_out.shape[1], device=grad_out.device).index_add(0, ids, g)

TRUTH = "verified"
