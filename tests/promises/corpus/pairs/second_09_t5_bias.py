# EQUAL.
"""T5 relative position bias: buckets of the T x T matrix vs buckets of the 2T-1 distances then a Toeplitz gather. EQUAL."""
import math
import torch
from torch import nn


def bucket(rel, num_buckets=8, max_distance=20):
    # bidirectional, as in transformers
    num_buckets //= 2
    ret = (rel > 0).to(torch.long) * num_buckets
    n = rel.abs()
    exact = num_buckets // 2
    large = exact + (torch.log(n.float() / exact) / math.log(max_distance / exact) * (num_buckets - exact)).to(torch.long)
    large = torch.min(large, torch.full_like(large, num_buckets - 1))
    return ret + torch.where(n < exact, n, large)


class T5Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.rel = nn.Embedding(8, 3)
        self.q = nn.Linear(12, 12, bias=False)
        self.k = nn.Linear(12, 12, bias=False)
        self.v = nn.Linear(12, 12, bias=False)
        self.o = nn.Linear(12, 12, bias=False)

    def bias(self, T):
        ctx = torch.arange(T)[:, None]
        mem = torch.arange(T)[None, :]
        return self.rel(bucket(mem - ctx)).permute(2, 0, 1).unsqueeze(0)

    def forward(self, x):
        B, T, _ = x.shape
        sh = lambda y: y.view(B, T, 3, 4).transpose(1, 2)
        s = sh(self.q(x)) @ sh(self.k(x)).transpose(2, 3) + self.bias(T)
        return self.o((s.softmax(-1) @ sh(self.v(x))).transpose(1, 2).reshape(B, T, 12))


class T5Fast(T5Attn):
    def bias(self, T):
        table = self.rel.weight[bucket(torch.arange(-T + 1, T))]          # [2T-1, H]
        where = torch.arange(T)[None] - torch.arange(T)[:, None] + T - 1
        return table.T[:, where][None]


left = T5Attn()
right = T5Fast()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 9, 12),)
