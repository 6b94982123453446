import torch
from torch import nn

from left import Left


class Heads(nn.Module):
    def __init__(self, theirs):
        super().__init__()
        dim = theirs.embed_dim
        self.heads = theirs.num_heads
        self.q, self.kv = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim)
        self.q.weight.data, self.kv.weight.data = (w.clone() for w in theirs.in_proj_weight.data.split([dim, 2 * dim]))
        self.q.bias.data, self.kv.bias.data = (w.clone() for w in theirs.in_proj_bias.data.split([dim, 2 * dim]))
        self.out = theirs.out_proj

    def forward(self, x, context, keep):
        b, t, d = x.shape
        q = self.q(x).view(b, t, self.heads, -1)
        k, v = self.kv(context).view(b, context.shape[1], 2, self.heads, -1).unbind(2)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~keep, float("-inf")).softmax(-1)
        return self.out(torch.einsum("bhqk,bkhd->bqhd", weights, v).reshape(b, t, d))


class Right(nn.Module):
    def __init__(self, dim=16, heads=4, hidden=24):
        super().__init__()
        theirs = Left(dim, heads, hidden).layer
        self.self_attention, self.cross_attention = Heads(theirs.self_attn), Heads(theirs.multihead_attn)
        self.norms = nn.ModuleList([theirs.norm1, theirs.norm2, theirs.norm3])
        self.up, self.down = theirs.linear1, theirs.linear2

    def forward(self, x, memory, memory_lengths):
        t, s = x.shape[1], memory.shape[1]
        causal = torch.ones(t, t, dtype=torch.bool).tril()
        there = (torch.arange(s) < memory_lengths.unsqueeze(1))[:, None, None, :]
        y = self.norms[0](x)
        x = x + self.self_attention(y, y, causal)
        x = x + self.cross_attention(self.norms[1](x), memory, there)
        return x + self.down(torch.relu(self.up(self.norms[2](x))))


def inputs():
    return torch.randn(2, 4, 16), torch.randn(2, 6, 16), torch.tensor([6, 3])
