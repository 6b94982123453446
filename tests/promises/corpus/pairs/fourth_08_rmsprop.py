# EQUAL
"""One step of DQN training: torch.optim.RMSprop with momentum, and the update of the paper's Lua code by hand."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
GAMMA = 0.97


def qnet():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = qnet()
        self.target = qnet()
        self.target.requires_grad_(False)
        self.opt = torch.optim.RMSprop(self.q.parameters(), lr=1e-3, alpha=0.95, eps=1e-2, momentum=0.9)

    def forward(self, s, a, r, s2, done):
        with torch.no_grad():
            y = r + GAMMA * (1 - done.to(r.dtype)) * self.target(s2).max(1).values
        q = self.q(s).gather(1, a[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(q, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.detach()


class HandAgent(nn.Module):
    def __init__(self, agent):
        super().__init__()
        self.q = copy.deepcopy(agent.q)
        self.target = copy.deepcopy(agent.target)
        self.sq = [torch.zeros_like(p) for p in self.q.parameters()]
        self.mom = [torch.zeros_like(p) for p in self.q.parameters()]

    def forward(self, s, a, r, s2, done):
        best = self.target(s2).amax(1)
        y = torch.where(done, r, r + GAMMA * best).detach()
        d = (self.q(s) * F.one_hot(a, 3)).sum(1) - y
        loss = torch.where(d.abs() < 1, 0.5 * d * d, d.abs() - 0.5).mean()
        for p in self.q.parameters():
            p.grad = None
        loss.backward()
        with torch.no_grad():
            for p, v, m in zip(self.q.parameters(), self.sq, self.mom):
                v.copy_(0.95 * v + 0.05 * p.grad ** 2)
                m.copy_(0.9 * m + p.grad / (v.sqrt() + 1e-2))
                p -= 1e-3 * m
        return loss.detach()


left = Agent()
right = HandAgent(left)


def inputs():
    n = 8
    return (torch.randn(n, 6), torch.randint(3, (n,)), torch.randn(n), torch.randn(n, 6), torch.rand(n) < 0.3)
