import math

import torch
from torch import nn

from left import Left


def ssp(x):
    return torch.log(0.5 * torch.exp(x) + 0.5)


class Right(nn.Module):
    def __init__(self, hidden=8, gaussians=6, cutoff=3.0):
        super().__init__()
        theirs = Left(hidden, gaussians, cutoff)
        self.cutoff = cutoff
        self.register_buffer("centres", theirs.offset)
        self.width = cutoff / (gaussians - 1)
        self.filter_in, self.filter_out = theirs.mlp[0], theirs.mlp[2]
        self.lin1, self.lin2, self.lin3 = theirs.lin1, theirs.lin2, theirs.lin

    def forward(self, h, pos, edge_index):
        nodes = torch.arange(h.shape[0], device=h.device)
        sender = (edge_index[0][:, None] == nodes).to(h.dtype)
        receiver = (edge_index[1][:, None] == nodes).to(h.dtype)
        distance = ((sender - receiver) @ pos).square().sum(-1, keepdim=True).sqrt()
        rbf = torch.exp(-0.5 * ((distance - self.centres) / self.width) ** 2)
        envelope = torch.where(distance < self.cutoff, torch.cos(math.pi / 2 * distance / self.cutoff) ** 2, 0.0)
        filters = self.filter_out(ssp(self.filter_in(rbf))) * envelope
        messages = sender @ self.lin1(h) * filters
        return h + self.lin3(ssp(self.lin2(receiver.T @ messages)))


def inputs():
    return torch.randn(4, 8), 1.5 * torch.randn(4, 3), torch.tensor([[0, 1, 1, 2, 3, 0, 2], [1, 0, 2, 1, 0, 3, 3]])
