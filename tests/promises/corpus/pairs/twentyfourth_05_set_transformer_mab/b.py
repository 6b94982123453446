"""Pooling by multihead attention, tidied up: heads by views and torch's fused attention."""
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.fc_q, self.fc_k, self.fc_v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.ln0, self.ln1 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.fc_o = nn.Linear(dim, dim)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, queries, items):
        q, k, v = self.split(self.fc_q(queries)), self.split(self.fc_k(items)), self.split(self.fc_v(items))
        attended = q + F.scaled_dot_product_attention(q, k, v)
        out = self.ln0(attended.transpose(1, 2).flatten(2))
        return self.ln1(out + torch.relu(self.fc_o(out)))


class AttentionPool(nn.Module):
    def __init__(self, dim=8, heads=4, seeds=3):
        super().__init__()
        self.S = nn.Parameter(torch.empty(1, seeds, dim))
        nn.init.xavier_uniform_(self.S)
        self.mab = Block(dim, heads)

    def forward(self, x):
        return self.mab(self.S.expand(x.shape[0], -1, -1), x)
