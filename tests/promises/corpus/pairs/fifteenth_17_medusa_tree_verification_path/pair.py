"""Verification of a Medusa tree: every candidate path by itself, and all in one pass."""
import torch
from torch import nn
from torch.nn import functional as F

DIM, HEADS = 8, 2
PARENT = [-1, 0, 0, 1, 1, 2]
PATHS = [[0, 1, 3], [0, 1, 4], [0, 2, 5]]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.up, self.down = nn.Linear(DIM, 12), nn.Linear(12, DIM)

    def forward(self, x, visible):
        q, k, v = (y.unflatten(-1, (HEADS, -1)).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(F.silu(self.up(x)))


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.position = nn.Embedding(32, DIM)

    def run(self, x, positions, visible):
        x = x + self.position(positions)
        for layer in self.layers:
            x = layer(x, visible)
        return x


class PathByPath(Base):
    def forward(self, prefix, nodes):
        p, found = prefix.shape[1], {}
        for path in PATHS:
            x = torch.cat([prefix, nodes[:, path]], dim=1)
            n = x.shape[1]
            y = self.run(x, torch.arange(n), torch.ones(n, n, dtype=torch.bool).tril())
            for place, node in enumerate(path):
                found[node] = y[:, p + place]
        return torch.stack([found[i] for i in range(len(PARENT))], dim=1)


class Tree(Base):
    def forward(self, prefix, nodes):
        p, m = prefix.shape[1], len(PARENT)
        ancestors = torch.eye(m, dtype=torch.bool)
        for i, parent in enumerate(PARENT):
            if parent >= 0:
                ancestors[i] |= ancestors[parent]
        visible = torch.ones(p + m, p + m, dtype=torch.bool).tril()
        visible[p:, p:] = ancestors
        depth = ancestors.sum(-1) - 1
        y = self.run(torch.cat([prefix, nodes], 1), torch.cat([torch.arange(p), p + depth]), visible)
        return y[:, p:]


def left():
    return PathByPath()


def right():
    return Tree()


def inputs():
    return torch.randn(2, 4, DIM), torch.randn(2, len(PARENT), DIM)
