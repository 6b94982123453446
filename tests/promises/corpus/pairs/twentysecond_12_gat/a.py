"""Graph attention as in the paper's text: for every pair of nodes, both features side by side under one vector."""

import torch
from torch import nn
from torch.nn import functional as F


class GATHead(nn.Module):
    def __init__(self, size, out, slope=0.2):
        super().__init__()
        self.W = nn.Linear(size, out, bias=False)
        self.a = nn.Linear(2 * out, 1, bias=False)
        self.slope = slope

    def forward(self, x, adjacency):
        N = x.shape[0]
        h = self.W(x)
        source = h.repeat_interleave(N, dim=0)
        target = h.repeat(N, 1)
        pairs = torch.cat([source, target], dim=1).view(N, N, -1)
        e = F.leaky_relu(self.a(pairs).squeeze(2), self.slope)
        e = torch.where(adjacency, e, torch.full_like(e, float("-inf")))
        return F.softmax(e, dim=1) @ h


class GAT(nn.Module):
    def __init__(self, size=7, hidden=4, heads=3, classes=5):
        super().__init__()
        self.heads = nn.ModuleList(GATHead(size, hidden) for _ in range(heads))
        self.out = nn.ModuleList(GATHead(heads * hidden, classes) for _ in range(2))

    def forward(self, x, adjacency):
        """x [N, size], adjacency [N, N] of booleans; every node is its own neighbour."""
        adjacency = adjacency | torch.eye(x.shape[0], dtype=torch.bool)
        x = torch.cat([F.elu(head(x, adjacency)) for head in self.heads], dim=1)
        x = torch.stack([head(x, adjacency) for head in self.out]).mean(0)
        return F.log_softmax(x, dim=1)


def inputs():
    return torch.randn(6, 7), torch.rand(6, 6) < 0.35
