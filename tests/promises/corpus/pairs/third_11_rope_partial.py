# DIFFERENT: Partial rotary (GPT-NeoX, half of the head): inverse frequencies over rotary_dim vs over head_dim
import torch
from torch import nn
import torch.nn.functional as F

D, H, HD, PCT = 16, 2, 8, 0.5
ROT = int(HD * PCT)


class NeoX(nn.Module):
    freq_dim = ROT

    def __init__(self):
        super().__init__()
        self.query_key_value = nn.Linear(D, 3 * D)
        self.dense = nn.Linear(D, D)
        inv = 1.0 / (10000 ** (torch.arange(0, self.freq_dim, 2).to(self.dense.weight.dtype) / self.freq_dim))
        self.register_buffer("inv_freq", inv[: ROT // 2], persistent=False)

    def rot(self, x, cos, sin):
        r, p = x[..., :ROT], x[..., ROT:]
        a, b = r.chunk(2, -1)
        return torch.cat([r * cos + torch.cat([-b, a], -1) * sin, p], -1)

    def forward(self, x):
        b, t, _ = x.shape
        qkv = self.query_key_value(x).view(b, t, H, 3 * HD).transpose(1, 2)
        q, k, v = qkv.chunk(3, -1)
        f = torch.outer(torch.arange(t).to(x.dtype), self.inv_freq)
        emb = torch.cat([f, f], -1)
        cos, sin = emb.cos(), emb.sin()
        q, k = self.rot(q, cos, sin), self.rot(k, cos, sin)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dense(o.transpose(1, 2).reshape(b, t, D))


class Port(NeoX):
    freq_dim = HD


left = NeoX()
right = Port()
right.load_state_dict(left.state_dict())


def inputs():
    return (torch.randn(2, 6, D),)
