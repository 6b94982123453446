"""Falcon-style packed QKV: the checkpoint groups q, q, q, k, v per kv head; the reference has three linears."""
import torch
from torch import nn
from torch.nn import functional as F

D, H, KV, HD = 20, 6, 2, 4


class Separate(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(D, H * HD)
        self.k_proj = nn.Linear(D, KV * HD)
        self.v_proj = nn.Linear(D, KV * HD)
        self.o_proj = nn.Linear(H * HD, D, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, H, HD).transpose(1, 2)
        k = self.k_proj(x).view(b, t, KV, HD).transpose(1, 2).repeat_interleave(H // KV, dim=1)
        v = self.v_proj(x).view(b, t, KV, HD).transpose(1, 2).repeat_interleave(H // KV, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, H * HD))


class Packed(nn.Module):
    def __init__(self, ref):
        super().__init__()
        rep = H // KV
        self.query_key_value = nn.Linear(D, KV * (rep + 2) * HD)
        self.dense = nn.Linear(H * HD, D, bias=False)

        def pack(q, k, v):
            tail = q.shape[1:]
            parts = [q.view(KV, rep, HD, *tail), k.view(KV, 1, HD, *tail), v.view(KV, 1, HD, *tail)]
            return torch.cat(parts, dim=1).reshape(-1, *tail)

        with torch.no_grad():
            self.query_key_value.weight.copy_(pack(ref.q_proj.weight, ref.k_proj.weight, ref.v_proj.weight))
            self.query_key_value.bias.copy_(pack(ref.q_proj.bias, ref.k_proj.bias, ref.v_proj.bias))
            self.dense.weight.copy_(ref.o_proj.weight)

    def forward(self, x):
        b, t, _ = x.shape
        qkv = self.query_key_value(x).view(b, t, KV, H // KV + 2, HD)
        q, k, v = qkv[..., :-2, :], qkv[..., -2, :], qkv[..., -1, :]
        scores = torch.einsum("bigrd,bjgd->bgrij", q, k) * HD ** -0.5
        future = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        p = scores.masked_fill(future, float("-inf")).softmax(-1)
        y = torch.einsum("bgrij,bjgd->bigrd", p, v)
        return self.dense(y.flatten(2))


left = Separate()
right = Packed(left)
inputs = (torch.randn(3, 5, D),)
