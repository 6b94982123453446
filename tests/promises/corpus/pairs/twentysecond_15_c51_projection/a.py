"""Categorical DQN (C51): the target distribution, projected on the support. A whole number of bins keeps its mass."""

import torch
from torch import nn
from torch.nn import functional as F


class C51Loss(nn.Module):
    def __init__(self, obs=6, actions=3, atoms=11, v_min=-5.0, v_max=5.0, gamma=0.99):
        super().__init__()
        self.actions, self.atoms, self.v_min, self.v_max, self.gamma = actions, atoms, v_min, v_max, gamma
        self.online = nn.Sequential(nn.Linear(obs, 12), nn.ReLU(), nn.Linear(12, actions * atoms))
        self.target = nn.Sequential(nn.Linear(obs, 12), nn.ReLU(), nn.Linear(12, actions * atoms))

    def project(self, next_dist, rewards, dones):
        delta_z = (self.v_max - self.v_min) / (self.atoms - 1)
        support = torch.arange(self.atoms) * delta_z + self.v_min
        tz = rewards[:, None] + self.gamma * (~dones)[:, None] * support
        b = (tz.clamp(self.v_min, self.v_max) - self.v_min) / delta_z
        lower, upper = b.floor().long(), b.ceil().long()
        # b may be whole: then both neighbours are one atom, and both weights below would be 0
        lower = torch.where((upper > 0) & (lower == upper), lower - 1, lower)
        upper = torch.where((lower < self.atoms - 1) & (lower == upper), upper + 1, upper)
        m = torch.zeros_like(next_dist)
        m.scatter_add_(1, lower, next_dist * (upper - b))
        m.scatter_add_(1, upper, next_dist * (b - lower))
        return m

    def forward(self, obs, actions, rewards, next_obs, dones):
        with torch.no_grad():
            logits = self.target(next_obs).view(-1, self.actions, self.atoms)
            next_dist = logits.softmax(-1).mean(1)                       # expected over a uniform policy
            m = self.project(next_dist, rewards, dones)
        logits = self.online(obs).view(-1, self.actions, self.atoms)
        index = actions[:, None, None].expand(-1, 1, self.atoms)
        log_p = F.log_softmax(logits.gather(1, index).squeeze(1), dim=-1)
        return -(m * log_p).sum(1).mean()


def inputs():
    return torch.randn(7, 6), torch.randint(0, 3, (7,)), 2 * torch.randn(7), torch.randn(7, 6), torch.rand(7) < 0.3
