"""CRPS of an ensemble forecast: all pairs of members, and the form with sorted members."""
import torch
from torch import nn


class left(nn.Module):
    def __init__(self, dim=4, members=5):
        super().__init__()
        self.head = nn.Linear(dim, members)

    def forward(self, x, obs):
        ens = self.head(x)
        skill = (ens - obs[:, None]).abs().mean(-1)
        spread = (ens[:, :, None] - ens[:, None, :]).abs().mean((-1, -2))
        return (skill - 0.5 * spread).mean()


class right(nn.Module):
    def __init__(self, dim=4, members=5):
        super().__init__()
        self.head = nn.Linear(dim, members)

    def forward(self, x, obs):
        ens = self.head(x).sort(-1).values
        m = ens.shape[-1]
        rank = torch.arange(1, m + 1)
        spread = ((2 * rank - m - 1) * ens).sum(-1) / m ** 2
        skill = torch.relu(ens - obs[:, None]) + torch.relu(obs[:, None] - ens)
        return (skill.mean(-1) - spread).mean()


def inputs():
    return torch.randn(3, 4), torch.randn(3)
