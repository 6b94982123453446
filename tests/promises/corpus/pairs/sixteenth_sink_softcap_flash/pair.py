"""gpt-oss sinks with Gemma's soft cap: a column that is dropped, or the start of a running maximum and sum."""
import torch

CAP, BLOCK = 20.0, 4


def left(q, k, v, sinks):
    b, h, t, d = q.shape
    s = q @ k.mT * d ** -0.5
    s = CAP * torch.tanh(s / CAP)
    s = s.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
    s = torch.cat([s, sinks.view(1, h, 1, 1).expand(b, h, t, 1)], dim=-1)
    return s.softmax(dim=-1)[..., :-1] @ v


def right(q, k, v, sinks):
    b, h, t, d = q.shape
    rows = torch.arange(t)[:, None]
    m = sinks.view(1, h, 1, 1).expand(b, h, t, 1)
    total = torch.ones_like(m)
    acc = torch.zeros(b, h, t, v.shape[-1], dtype=v.dtype)
    for start in range(0, t, BLOCK):
        kb, vb = k[:, :, start:start + BLOCK], v[:, :, start:start + BLOCK]
        s = CAP * torch.tanh(torch.einsum("bhid,bhjd->bhij", q, kb) / (CAP * d ** 0.5))
        cols = start + torch.arange(kb.shape[2])[None, :]
        s = s.masked_fill(cols > rows, float("-inf"))
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        shrink, p = torch.exp(m - new), torch.exp(s - new)
        total = total * shrink + p.sum(-1, keepdim=True)
        acc = acc * shrink + p @ vb
        m = new
    return acc / total


inputs = (torch.randn(2, 3, 12, 5), torch.randn(2, 3, 12, 5), torch.randn(2, 3, 12, 5), torch.randn(3))
