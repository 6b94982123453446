import torch
from torch import nn
from torch.nn import functional as F

from left import Left


class Right(nn.Module):
    def __init__(self, dim=12, heads=3):
        super().__init__()
        theirs = Left(dim, heads)
        self.heads, self.size = heads, dim // heads
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(dim, dim) for _ in range(3))
        weight = theirs.query_key_value.weight.detach().view(heads, 3, self.size, dim)
        bias = theirs.query_key_value.bias.detach().view(heads, 3, self.size)
        for i, linear in enumerate((self.q_proj, self.k_proj, self.v_proj)):
            linear.weight.data = weight[:, i].reshape(dim, dim).clone()
            linear.bias.data = bias[:, i].reshape(dim).clone()
        self.o_proj = theirs.dense

    def forward(self, x):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.heads, -1)
        k = self.k_proj(x).view(b, t, self.heads, -1)
        v = self.v_proj(x).view(b, t, self.heads, -1)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * self.size**-0.5
        causal = torch.full((t, t), float("-inf"), dtype=x.dtype, device=x.device).triu(1)
        probs = F.softmax(scores + causal, dim=-1)
        return self.o_proj(torch.einsum("bhqk,bkhd->bqhd", probs, v).flatten(2))


def inputs():
    return (torch.randn(2, 5, 12),)
