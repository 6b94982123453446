"""Advantages of PPO: a critic, generalised advantage estimation backwards in time, and their normalisation (CleanRL)."""

import torch
from torch import nn


class Advantages(nn.Module):
    def __init__(self, obs=5, hidden=8, gamma=0.99, lam=0.95):
        super().__init__()
        self.gamma, self.lam = gamma, lam
        self.critic = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, obs, rewards, dones):
        """obs [T + 1, N, obs], rewards [T, N], dones [T, N]: whether the episode ended with this step."""
        T = rewards.shape[0]
        values = self.critic(obs).squeeze(-1)
        nonterminal = 1.0 - dones.to(values.dtype)
        advantages = torch.zeros_like(rewards)
        last = torch.zeros_like(rewards[0])
        for t in reversed(range(T)):
            delta = rewards[t] + self.gamma * values[t + 1] * nonterminal[t] - values[t]
            last = delta + self.gamma * self.lam * nonterminal[t] * last
            advantages[t] = last
        returns = advantages + values[:-1]
        normed = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        return normed, returns


def inputs():
    return torch.randn(8, 3, 5), torch.randn(7, 3), torch.rand(7, 3) < 0.25
