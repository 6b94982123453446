import math

import torch
from torch import nn
from torch.nn import functional as F


class ShiftedSoftplus(nn.Module):
    def forward(self, x):
        return F.softplus(x) - math.log(2.0)


class Left(nn.Module):
    def __init__(self, hidden=8, gaussians=6, cutoff=3.0):
        super().__init__()
        self.cutoff = cutoff
        self.register_buffer("offset", torch.linspace(0.0, cutoff, gaussians))
        self.coeff = -0.5 / (cutoff / (gaussians - 1)) ** 2
        self.mlp = nn.Sequential(nn.Linear(gaussians, hidden), ShiftedSoftplus(), nn.Linear(hidden, hidden))
        self.lin1 = nn.Linear(hidden, hidden, bias=False)
        self.lin2, self.lin = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.act = ShiftedSoftplus()

    def forward(self, h, pos, edge_index):
        row, col = edge_index
        distance = (pos[row] - pos[col]).norm(dim=-1)
        rbf = torch.exp(self.coeff * torch.pow(distance.view(-1, 1) - self.offset.view(1, -1), 2))
        c = 0.5 * (torch.cos(distance * math.pi / self.cutoff) + 1.0)
        c = c * (distance < self.cutoff).to(c.dtype)
        w = self.mlp(rbf) * c.view(-1, 1)
        x = self.lin1(h)
        x = torch.zeros_like(x).index_add_(0, col, x[row] * w)
        return h + self.lin(self.act(self.lin2(x)))


def inputs():
    return torch.randn(4, 8), 1.5 * torch.randn(4, 3), torch.tensor([[0, 1, 1, 2, 3, 0, 2], [1, 0, 2, 1, 0, 3, 3]])
