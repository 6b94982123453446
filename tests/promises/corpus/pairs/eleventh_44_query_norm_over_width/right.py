import torch
from torch import nn

from left import Left


def rms(x, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


class Right(nn.Module):
    def __init__(self, dim=12, heads=3, hidden=20):
        super().__init__()
        theirs = Left(dim, heads, hidden)
        self.heads, self.size = heads, dim // heads
        self.input_norm, self.post_norm = theirs.input_norm.weight, theirs.post_norm.weight
        self.q_norm, self.k_norm = theirs.q_norm.weight, theirs.k_norm.weight
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.qkv.weight.data = torch.cat([p.weight.detach() for p in (theirs.q_proj, theirs.k_proj, theirs.v_proj)])
        self.o_proj, self.down = theirs.o_proj, theirs.down
        self.gate_up = nn.Linear(dim, 2 * hidden, bias=False)
        self.gate_up.weight.data = torch.cat([theirs.gate.weight.detach(), theirs.up.weight.detach()])

    def forward(self, x):
        t = x.shape[1]
        q, k, v = self.qkv(rms(x) * self.input_norm).chunk(3, dim=-1)
        q, k, v = (y.unflatten(-1, (self.heads, self.size)) for y in (rms(q), rms(k), v))
        q, k = q * self.q_norm, k * self.k_norm
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * self.size**-0.5
        future = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(-1)
        x = x + self.o_proj(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2))
        gate, up = self.gate_up(rms(x) * self.post_norm).chunk(2, dim=-1)
        return x + self.down(gate * torch.sigmoid(gate) * up)


def inputs():
    return (torch.randn(2, 5, 12),)
