"""DeBERTa's disentangled attention: content-content, content-position and position-content scores."""
import math

import torch
from torch import nn

torch.manual_seed(38)
D, H, DH, SPAN = 12, 2, 6, 3


class Disentangled(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_proj, self.key_proj, self.value_proj = (nn.Linear(D, D) for _ in range(3))
        self.rel_embeddings = nn.Embedding(2 * SPAN, D)

    def heads(self, x):
        x = x.view(*x.shape[:-1], H, -1).permute(0, 2, 1, 3)
        return x.contiguous().view(-1, x.size(2), x.size(3))

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.heads(self.query_proj(x)), self.heads(self.key_proj(x)), self.heads(self.value_proj(x))
        scale = math.sqrt(DH * 3)
        scores = torch.bmm(q, k.transpose(-1, -2) / scale)
        ids = torch.arange(n)
        rel = ids[:, None] - ids[None, :]
        emb = self.rel_embeddings.weight.unsqueeze(0)
        pos_k = self.heads(self.key_proj(emb)).repeat(b, 1, 1)
        pos_q = self.heads(self.query_proj(emb)).repeat(b, 1, 1)
        c2p_pos = torch.clamp(rel + SPAN, 0, 2 * SPAN - 1)
        c2p = torch.bmm(q, pos_k.transpose(-1, -2))
        c2p = torch.gather(c2p, -1, c2p_pos.expand(b * H, n, n))
        p2c_pos = torch.clamp(-rel + SPAN, 0, 2 * SPAN - 1)
        p2c = torch.bmm(k, pos_q.transpose(-1, -2))
        p2c = torch.gather(p2c, -1, p2c_pos.expand(b * H, n, n)).transpose(-1, -2)
        scores = scores + c2p / scale + p2c / scale
        ctx = torch.bmm(scores.softmax(-1), v)
        return ctx.view(b, H, n, DH).permute(0, 2, 1, 3).reshape(b, n, D)


class DisentangledEinsum(Disentangled):
    def forward(self, x):
        n = x.shape[1]
        q, k, v = (f(x).unflatten(-1, (H, DH)) for f in (self.query_proj, self.key_proj, self.value_proj))
        i = torch.arange(n).unsqueeze(1)
        j = torch.arange(n).unsqueeze(0)
        delta = (i - j + SPAN).clamp(0, 2 * SPAN - 1)
        e = self.rel_embeddings.weight
        pk = self.key_proj(e).unflatten(-1, (H, DH))[delta]
        pq = self.query_proj(e).unflatten(-1, (H, DH))[(j - i + SPAN).clamp(0, 2 * SPAN - 1)]
        s = torch.einsum("bihd,bjhd->bhij", q, k)
        s = s + torch.einsum("bihd,ijhd->bhij", q, pk)
        s = s + torch.einsum("bjhd,ijhd->bhij", k, pq)
        a = torch.softmax(s * (3 * DH) ** -0.5, dim=-1)
        return torch.einsum("bhij,bjhd->bihd", a, v).flatten(2)


left, right = Disentangled(), DisentangledEinsum()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 5, D),)
