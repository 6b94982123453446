# EQUAL
"""BLOOM's attention: fused qkv by heads and ALiBi over key positions; and ours with distances and separate projections."""
import math

import torch
from torch import nn

torch.manual_seed(12)
D, H = 24, 4


def alibi_slopes(n):
    start = 2 ** (-(2 ** -(math.log2(n) - 3)))
    return torch.tensor([start * start ** i for i in range(n)])


class BloomAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_key_value = nn.Linear(D, 3 * D)
        self.dense = nn.Linear(D, D)
        self.inv_norm_factor = 1.0 / math.sqrt(D // H)

    def forward(self, hidden, attention_mask):
        b, t, _ = hidden.shape
        arange = ((attention_mask.cumsum(dim=-1) - 1) * attention_mask)[:, None, :]
        alibi = (alibi_slopes(H)[..., None] * arange).reshape(b * H, 1, t)
        fused = self.query_key_value(hidden).view(b, t, H, 3, D // H)
        q, k, v = fused[..., 0, :], fused[..., 1, :], fused[..., 2, :]
        q = q.transpose(1, 2).reshape(b * H, t, D // H)
        k = k.permute(0, 2, 3, 1).reshape(b * H, D // H, t)
        v = v.transpose(1, 2).reshape(b * H, t, D // H)
        scores = torch.baddbmm(alibi, q, k, beta=1.0, alpha=self.inv_norm_factor).view(b, H, t, t)
        causal = torch.triu(torch.ones(t, t, dtype=torch.bool), diagonal=1)
        scores = scores.masked_fill(causal, torch.finfo(scores.dtype).min)
        probs = scores.softmax(-1).view(b * H, t, t)
        out = torch.bmm(probs, v).view(b, H, t, D // H).transpose(1, 2).reshape(b, t, D)
        return self.dense(out)


class DistanceAttention(nn.Module):
    def __init__(self, bloom):
        super().__init__()
        w = bloom.query_key_value.weight.detach().view(H, 3, D // H, D)
        bias = bloom.query_key_value.bias.detach().view(H, 3, D // H)
        self.wq, self.wk, self.wv = (nn.Parameter(w[:, i].clone()) for i in range(3))
        self.bq, self.bk, self.bv = (nn.Parameter(bias[:, i].clone()) for i in range(3))
        self.dense = nn.Linear(D, D)
        self.dense.load_state_dict(bloom.dense.state_dict())
        self.register_buffer("slopes", alibi_slopes(H).view(H, 1, 1))

    def forward(self, hidden, attention_mask):
        t = hidden.shape[1]
        q = torch.einsum("btd,hed->bhte", hidden, self.wq) + self.bq[:, None]
        k = torch.einsum("btd,hed->bhte", hidden, self.wk) + self.bk[:, None]
        v = torch.einsum("btd,hed->bhte", hidden, self.wv) + self.bv[:, None]
        s = torch.einsum("bhqe,bhke->bhqk", q, k) / (D // H) ** 0.5
        real = attention_mask.to(s.dtype)
        at = torch.cumsum(real, -1) - 1
        at = at * real
        distance = at[:, None, :] - at[:, :, None]                 # ≤ 0 in the past
        s = s + self.slopes * distance[:, None]
        allowed = torch.arange(t)[:, None] >= torch.arange(t)[None]
        s = torch.where(allowed, s, torch.finfo(s.dtype).min)
        y = torch.einsum("bhqk,bhke->bqhe", torch.softmax(s, dim=-1), v)
        return self.dense(y.flatten(2))


left = BloomAttention().eval()
right = DistanceAttention(left).eval()


def inputs():
    return torch.randn(2, 7, D), torch.ones(2, 7, dtype=torch.long)
