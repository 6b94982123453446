"""Decode attention over a paged cache: the reference in our tests. Blocks are gathered, heads repeated, softmax."""
import torch


def decode(q, k_cache, v_cache, block_tables, context_lens):
    b, hq, d = q.shape
    _, bs, hk, _ = k_cache.shape
    k = k_cache[block_tables].reshape(b, -1, hk, d)
    v = v_cache[block_tables].reshape(b, -1, hk, d)
    k = k.repeat_interleave(hq // hk, dim=2)
    v = v.repeat_interleave(hq // hk, dim=2)
    scores = torch.einsum("bhd,bthd->bht", q, k) * d ** -0.5
    t = torch.arange(k.shape[1], device=q.device)
    scores = scores.masked_fill(t[None, None] >= context_lens[:, None, None], float("-inf"))
    return torch.einsum("bht,bthd->bhd", scores.softmax(-1), v)


def inputs():
    return (torch.randn(2, 4, 8), torch.randn(7, 3, 2, 8), torch.randn(7, 3, 2, 8),
            torch.tensor([[4, 0, 2], [6, 5, 1]]), torch.tensor([7, 4]))
