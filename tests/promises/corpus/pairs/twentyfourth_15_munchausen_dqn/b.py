"""Munchausen DQN in the shape of a soft-Q learner: the expectation over the next policy is τ·logsumexp(q/τ)."""
import torch
from torch import nn
from torch.nn import functional as F


class SoftAgent(nn.Module):
    def __init__(self, observation=5, actions=4, tau=0.03, alpha=0.9, low=-1.0, discount=0.99):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(observation, 8), nn.ReLU(), nn.Linear(8, actions))
        self.target = nn.Sequential(nn.Linear(observation, 8), nn.ReLU(), nn.Linear(8, actions))
        self.tau, self.alpha, self.low, self.discount = tau, alpha, low, discount

    def soft_value(self, q):
        return self.tau * torch.logsumexp(q / self.tau, dim=-1)

    @torch.no_grad()
    def bootstrap(self, state, action, reward, next_state, terminal):
        q = self.target(state)
        bonus = q.gather(1, action[:, None]).squeeze(1) - self.soft_value(q)     # τ log π(a | s), never above 0
        bonus = bonus.clamp(min=self.low)
        future = self.soft_value(self.target(next_state)).masked_fill(terminal, 0.0)
        return reward + self.alpha * bonus + self.discount * future

    def forward(self, state, action, reward, next_state, terminal):
        y = self.bootstrap(state, action, reward, next_state, terminal)
        q = self.online(state).gather(1, action[:, None]).squeeze(1)
        gap = (q - y).abs()
        return torch.where(gap < 1, 0.5 * gap * gap, gap - 0.5).mean()
