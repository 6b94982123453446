import math

import torch
from torch import nn
from torch.nn import functional as F

from left import Left


def piece(linear, i, n):
    part = nn.Linear(linear.in_features, linear.out_features // n)
    part.weight.data = linear.weight.detach().chunk(n)[i].clone()
    part.bias.data = linear.bias.detach().chunk(n)[i].clone()
    return part


class Right(nn.Module):
    def __init__(self, dim=12, heads=3):
        super().__init__()
        theirs = Left(dim, heads)
        self.heads = heads
        self.to_q, self.to_k, self.to_v = (piece(theirs.attn.qkv, i, 3) for i in range(3))
        self.to_out = theirs.attn.proj
        self.up, self.down = theirs.mlp[0], theirs.mlp[2]
        names = ["attn_shift", "attn_scale", "attn_gate", "mlp_shift", "mlp_scale", "mlp_gate"]
        self.ada = nn.ModuleDict({name: piece(theirs.adaLN_modulation[1], i, 6) for i, name in enumerate(names)})

    def attention(self, x):
        b, n, c = x.shape
        q, k, v = (f(x).view(b, n, self.heads, -1).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)
        return self.to_out((weights @ v).transpose(1, 2).flatten(2))

    def feed_forward(self, x):
        h = self.up(x)
        h = 0.5 * h * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))
        return self.down(h)

    def forward(self, x, c):
        c = c * torch.sigmoid(c)
        m = {name: f(c)[:, None] for name, f in self.ada.items()}
        y = F.layer_norm(x, x.shape[-1:], eps=1e-6)
        x = x + m["attn_gate"] * self.attention(y + y * m["attn_scale"] + m["attn_shift"])
        y = F.layer_norm(x, x.shape[-1:], eps=1e-6)
        return x + m["mlp_gate"] * self.feed_forward(y + y * m["mlp_scale"] + m["mlp_shift"])


def inputs():
    return torch.randn(2, 5, 12), torch.randn(2, 12)
