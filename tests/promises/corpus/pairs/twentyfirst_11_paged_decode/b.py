"""The kernel's algorithm: block by block with a running maximum and sum, query heads grouped by their key head."""
import torch


def decode(q, k_cache, v_cache, block_tables, context_lens):
    b, hq, d = q.shape
    bs, hk = k_cache.shape[1], k_cache.shape[2]
    g = hq // hk
    qg = (q / d ** 0.5).view(b, hk, g, d)
    m = q.new_full((b, hk, g), float("-inf"))
    l = q.new_zeros(b, hk, g)
    acc = q.new_zeros(b, hk, g, d)
    offs = torch.arange(bs, device=q.device)
    for j in range(block_tables.shape[1]):
        block = block_tables[:, j]
        k, v = k_cache.index_select(0, block), v_cache.index_select(0, block)      # b bs hk d
        s = torch.einsum("bkgd,btkd->bkgt", qg, k)
        inside = (j * bs + offs)[None] < context_lens[:, None]
        s = torch.where(inside[:, None, None], s, float("-inf"))
        m_new = torch.maximum(m, s.amax(-1))
        alpha = torch.exp(m - m_new)
        p = torch.exp(s - m_new[..., None])
        l = l * alpha + p.sum(-1)
        acc = acc * alpha[..., None] + torch.einsum("bkgt,btkd->bkgd", p, v)
        m = m_new
    return (acc / l[..., None]).reshape(b, hq, d)
