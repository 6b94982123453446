"""Embedding backward: token gradients added to the rows of the table by atomics, the padding token left out."""
import torch
import triton
import triton.language as tl


@triton.jit
def embedding_bwd_kernel(ids_ptr, dy_ptr, dw_ptr, tokens, dim, padding_idx, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    ids = tl.load(ids_ptr + t, mask=t < tokens, other=padding_idx)
    mask = (t[:, None] < tokens) & (d[None, :] < dim)
    dy = tl.load(dy_ptr + t[:, None] * dim + d[None, :], mask=mask, other=0.0)
    keep = mask & (ids != padding_idx)[:, None]
    tl.atomic_add(dw_ptr + ids[:, None] * dim + d[None, :], dy, mask=keep)


def launch(tokens=37, vocab=11, dim=50):
    ids = torch.randint(0, vocab, (tokens,))
    dy = torch.randn(tokens, dim)
    dw = torch.zeros(vocab, dim)
    embedding_bwd_kernel[(triton.cdiv(tokens, 16), triton.cdiv(dim, 32))](
        ids, dy, dw, tokens, dim, 1, BLOCK_T=16, BLOCK_D=32
    )
    return dw


def reference(ids, dy, vocab):
    dy = torch.where((ids == 1)[:, None], 0.0, dy)
    return torch.zeros(vocab, dy.shape[1]).index_add(0, ids, dy)
TRUTH = "verified"
