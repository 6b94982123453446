# EQUAL.
"""Chunked prefill: new queries against keys in pages, gathered by block table vs by flat slots; mask by absolute position
vs is-causal lower-right. EQUAL (block_table within range)."""
import torch
import torch.nn.functional as F

BS = 4


def left(q, k_pages, v_pages, block_table):
    # q: [T, H, D]; pages: [N, BS, KVH, D]; block_table: [M]
    T, H, D = q.shape
    k = k_pages[block_table].flatten(0, 1)
    v = v_pages[block_table].flatten(0, 1)
    S = k.shape[0]
    g = H // k.shape[1]
    k, v = k.repeat_interleave(g, 1), v.repeat_interleave(g, 1)
    s = torch.einsum("thd,shd->hts", q, k) * D ** -0.5
    pos = torch.arange(S - T, S)
    s = s.masked_fill(torch.arange(S)[None] > pos[:, None], float("-inf"))
    return torch.einsum("hts,shd->thd", s.softmax(-1), v)


def right(q, k_pages, v_pages, block_table):
    T, H, D = q.shape
    S = block_table.numel() * BS
    p = torch.arange(S)
    slots = block_table[p // BS] * BS + p % BS
    k = k_pages.view(-1, *k_pages.shape[2:]).index_select(0, slots)
    v = v_pages.view(-1, *v_pages.shape[2:]).index_select(0, slots)
    mask = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    out = F.scaled_dot_product_attention(
        q.transpose(0, 1)[None], k.transpose(0, 1)[None], v.transpose(0, 1)[None], attn_mask=mask, enable_gqa=True)
    return out[0].transpose(0, 1)


def inputs():
    return (torch.randn(5, 4, 6), torch.randn(7, BS, 2, 6), torch.randn(7, BS, 2, 6), torch.tensor([5, 0, 3]))
