import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(128)
D, HEADS, KV, HD = 8, 4, 2, 3


def rms(x, weight, eps=1e-6):
    return weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))


class PerHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(D, HEADS * HD, bias=False)
        self.k_proj = nn.Linear(D, KV * HD, bias=False)
        self.v_proj = nn.Linear(D, KV * HD, bias=False)
        self.o_proj = nn.Linear(HEADS * HD, D, bias=False)
        self.q_norm = nn.Parameter(1 + 0.3 * torch.randn(HD))
        self.k_norm = nn.Parameter(1 + 0.3 * torch.randn(HD))

    def forward(self, x):
        b, t, _ = x.shape
        q = rms(self.q_proj(x).view(b, t, HEADS, HD), self.q_norm).transpose(1, 2)
        k = rms(self.k_proj(x).view(b, t, KV, HD), self.k_norm).transpose(1, 2)
        v = self.v_proj(x).view(b, t, KV, HD).transpose(1, 2)
        k, v = (s.repeat_interleave(HEADS // KV, dim=1) for s in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, HEADS * HD))


class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, (HEADS + 2 * KV) * HD, bias=False)
        self.o_proj = nn.Linear(HEADS * HD, D, bias=False)
        self.q_norm = nn.Parameter(torch.empty(HD))
        self.k_norm = nn.Parameter(torch.empty(HD))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).split([HEADS * HD, KV * HD, KV * HD], dim=-1)
        q = rms(q, self.q_norm.repeat(HEADS)).view(b, t, KV, HEADS // KV, HD)
        k = rms(k, self.k_norm.repeat(KV)).view(b, t, KV, HD)
        v = v.view(b, t, KV, HD)
        scores = torch.einsum("bigrd,bjgd->bgrij", q, k) * HD ** -0.5
        hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1)
        return self.o_proj(torch.einsum("bgrij,bjgd->bigrd", weights, v).flatten(2))


left = PerHead()
right = Fused()
s = left.state_dict()
packed = torch.cat([s.pop(f"{n}_proj.weight") for n in "qkv"])
right.load_state_dict({"qkv.weight": packed, **s})
inputs = (torch.randn(2, 5, D),)
