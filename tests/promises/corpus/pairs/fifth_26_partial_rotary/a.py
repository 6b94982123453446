import torch
from torch import nn


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


class PartialRotaryAttention(nn.Module):
    """As in GPT-NeoX: only the first quarter or half of each head is turned."""

    def __init__(self, dim=32, heads=2, rotary_pct=0.5, base=10000.0):
        super().__init__()
        self.heads, self.head_dim = heads, dim // heads
        self.rotary = int(self.head_dim * rotary_pct)
        inv_freq = 1.0 / (base ** (torch.arange(0, self.rotary, 2) / self.rotary))
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        self.query_key_value = nn.Linear(dim, 3 * dim)
        self.dense = nn.Linear(dim, dim)

    def turn(self, x, cos, sin):
        rot, rest = x[..., : self.rotary], x[..., self.rotary :]
        return torch.cat((rot * cos + rotate_half(rot) * sin, rest), dim=-1)

    def forward(self, x):
        b, t, d = x.shape
        qkv = self.query_key_value(x).view(b, t, self.heads, 3 * self.head_dim).transpose(1, 2)
        q, k, v = qkv.chunk(3, dim=-1)
        freqs = torch.outer(torch.arange(t, dtype=x.dtype), self.inv_freq.to(x.dtype))
        emb = torch.cat((freqs, freqs), dim=-1)
        q, k = (self.turn(z, emb.cos(), emb.sin()) for z in (q, k))
        scores = q @ k.transpose(-1, -2) * self.head_dim**-0.5
        causal = torch.ones(t, t, dtype=torch.bool).tril()
        p = scores.masked_fill(~causal, float("-inf")).softmax(-1)
        return self.dense((p @ v).transpose(1, 2).reshape(b, t, d))


torch.manual_seed(0)
program = PartialRotaryAttention().eval()
