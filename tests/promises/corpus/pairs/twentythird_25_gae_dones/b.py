"""The same with deltas of all steps at once, and the critic called on one batch; only the discounted sum is a loop."""
import torch
from a import GAMMA, LAMBDA, Rollout
from torch import nn


class VectorRollout(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = Rollout().critic
        self.w1 = nn.Parameter(theirs[0].weight.detach().t().contiguous())
        self.b1 = nn.Parameter(theirs[0].bias.detach().clone())
        self.w2 = nn.Parameter(theirs[2].weight.detach()[0].clone())
        self.b2 = nn.Parameter(theirs[2].bias.detach().clone())

    def value(self, observations):
        return torch.tanh(observations @ self.w1 + self.b1) @ self.w2 + self.b2

    @torch.no_grad()
    def forward(self, observations, rewards, dones, next_observation, next_done):
        values = self.value(torch.cat([observations, next_observation[None]]))
        alive = 1.0 - dones
        deltas = rewards + GAMMA * alive * values[1:] - values[:-1]
        carry = GAMMA * LAMBDA * alive
        advantage = torch.zeros_like(next_done)
        advantages = []
        for delta, factor in zip(reversed(deltas.unbind(0)), reversed(carry.unbind(0)), strict=True):
            advantage = delta + factor * advantage
            advantages.append(advantage)
        advantages = torch.stack(advantages[::-1])
        return advantages, advantages + values[:-1]
