# EQUAL (−1e9 read as −inf, as everybody does). Mistral-like local attention: mask by two triangles vs gathering the window of each query with padding
import torch
import torch.nn.functional as F

W = 3   # a query sees itself and the two before it


def left(q, k, v):
    t, d = q.shape[-2:]
    full = torch.ones(t, t, dtype=torch.bool)
    allowed = torch.tril(full) & torch.triu(full, diagonal=-(W - 1))
    s = (q @ k.transpose(-1, -2)) / d ** 0.5
    s.masked_fill_(~allowed, -1e9)
    return F.softmax(s, dim=-1) @ v


def right(q, k, v):
    B, H, T, D = q.shape
    kp = F.pad(k, (0, 0, W - 1, 0)).unfold(2, W, 1)        # B H T D W
    vp = F.pad(v, (0, 0, W - 1, 0)).unfold(2, W, 1)
    s = torch.einsum("bhtd,bhtdw->bhtw", q, kp) * D ** -0.5
    pos = torch.arange(T)[:, None] + torch.arange(W)[None] - (W - 1)
    s = s.masked_fill(pos < 0, float("-inf"))
    return torch.einsum("bhtw,bhtdw->bhtd", s.softmax(-1), vp)


def inputs():
    g = torch.Generator().manual_seed(4)
    return {n: torch.randn(2, 2, 7, 4, generator=g) for n in "qkv"}
