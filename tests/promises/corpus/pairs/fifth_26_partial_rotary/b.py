import torch
from torch import nn
from torch.nn import functional as F

from a import program as original


class Attention(nn.Module):
    """The same in an engine's layout: all queries, all keys, all values; a table of cosines."""

    def __init__(self, neox, positions=64):
        super().__init__()
        self.heads, self.head_dim, self.rotary = neox.heads, neox.head_dim, neox.rotary
        shape = (self.heads, 3, self.head_dim)
        weight = neox.query_key_value.weight.detach().unflatten(0, shape).transpose(0, 1)
        bias = neox.query_key_value.bias.detach().unflatten(0, shape).transpose(0, 1)
        self.qkv_weight = nn.Parameter(weight.flatten(0, 2).contiguous())
        self.qkv_bias = nn.Parameter(bias.flatten().contiguous())
        self.out = neox.dense
        frequency = 10000.0 ** (-torch.arange(0, self.rotary, 2) / self.head_dim)
        angle = torch.arange(positions)[:, None] * frequency
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def rotate(self, x):
        t, half = x.shape[-2], self.rotary // 2
        cos, sin = self.cos[:t].to(x.dtype), self.sin[:t].to(x.dtype)
        a, b, rest = x.split([half, half, self.head_dim - self.rotary], dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], dim=-1)

    def forward(self, x):
        qkv = F.linear(x, self.qkv_weight, self.qkv_bias)
        q, k, v = (z.unflatten(-1, (self.heads, -1)).transpose(1, 2) for z in qkv.chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


program = Attention(original).eval()
