# EQUAL.
"""Flash attention's running maximum over key blocks vs softmax; returns the logsumexp too. EQUAL."""
import torch

BLOCK = 4


def left(q, k, v):
    s = q @ k.transpose(-1, -2) * 0.5
    return s.softmax(-1) @ v, s.logsumexp(-1)


def right(q, k, v):
    m = torch.full(q.shape[:-1], -float("inf"), dtype=q.dtype)
    l = torch.zeros_like(m)
    acc = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    for start in range(0, k.shape[-2], BLOCK):
        kb, vb = k[..., start:start + BLOCK, :], v[..., start:start + BLOCK, :]
        s = q @ kb.transpose(-1, -2) * 0.5
        m_new = torch.maximum(m, s.amax(-1))
        p = torch.exp(s - m_new[..., None])
        alpha = torch.exp(m - m_new)
        l = alpha * l + p.sum(-1)
        acc = alpha[..., None] * acc + p @ vb
        m = m_new
    return acc / l[..., None], m + torch.log(l)


inputs = (torch.randn(2, 5, 4), torch.randn(2, 10, 4), torch.randn(2, 10, 3))
