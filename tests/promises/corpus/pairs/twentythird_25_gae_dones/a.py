"""Generalised advantage estimation of CleanRL: `dones[t]` says that an episode had ended before the observation t."""
import torch
from torch import nn

OBSERVATION, GAMMA, LAMBDA = 5, 0.99, 0.95


class Rollout(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(OBSERVATION, 8), nn.Tanh(), nn.Linear(8, 1))

    @torch.no_grad()
    def forward(self, observations, rewards, dones, next_observation, next_done):
        values = self.critic(observations).squeeze(-1)
        next_value = self.critic(next_observation).squeeze(-1)
        steps = rewards.shape[0]
        advantages = torch.zeros_like(rewards)
        last = torch.zeros_like(next_done)
        for t in reversed(range(steps)):
            if t == steps - 1:
                nonterminal, following = 1.0 - next_done, next_value
            else:
                nonterminal, following = 1.0 - dones[t + 1], values[t + 1]
            delta = rewards[t] + GAMMA * following * nonterminal - values[t]
            last = delta + GAMMA * LAMBDA * nonterminal * last
            advantages[t] = last
        return advantages, advantages + values


def inputs():
    steps, environments = 6, 4
    dones = (torch.rand(steps + 1, environments) < 0.3).float()
    return (
        torch.randn(steps, environments, OBSERVATION),
        torch.randn(steps, environments),
        dones[:-1].clone(),
        torch.randn(environments, OBSERVATION),
        dones[-1].clone(),
    )
