"""A double-DQN step with Adam: torch's, and the one of our small trainer."""
import torch
from torch import nn
from torch.nn import functional as F

LR, BETA1, BETA2, EPS, GAMMA = 1e-3, 0.9, 0.999, 1.5e-4, 0.99
B, OBS, ACT = 5, 6, 3


class Step:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(OBS, 12), nn.Tanh(), nn.Linear(12, ACT))
        self.target = nn.Sequential(nn.Linear(OBS, 12), nn.Tanh(), nn.Linear(12, ACT)).requires_grad_(False)

    def loss(self, obs, actions, rewards, next_obs, dones):
        with torch.no_grad():
            best = self.q(next_obs).argmax(dim=1, keepdim=True)
            bootstrap = self.target(next_obs).gather(1, best).squeeze(1)
            wanted = rewards + GAMMA * (1 - dones) * bootstrap
        chosen = self.q(obs).gather(1, actions[:, None]).squeeze(1)
        return F.smooth_l1_loss(chosen, wanted)


class ByTorch(Step):
    def __init__(self):
        super().__init__()
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=LR, betas=(BETA1, BETA2), eps=EPS)

    def __call__(self, *batch):
        self.optimizer.zero_grad()
        loss = self.loss(*batch)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class ByHand(Step):
    def __init__(self):
        super().__init__()
        self.step = 0
        self.m = [torch.zeros_like(p) for p in self.q.parameters()]
        self.v = [torch.zeros_like(p) for p in self.q.parameters()]

    def __call__(self, *batch):
        for p in self.q.parameters():
            p.grad = None
        loss = self.loss(*batch)
        loss.backward()
        self.step += 1
        rate = LR * (1 - BETA2**self.step) ** 0.5 / (1 - BETA1**self.step)
        with torch.no_grad():
            for p, m, v in zip(self.q.parameters(), self.m, self.v):
                m.mul_(BETA1).add_(p.grad, alpha=1 - BETA1)
                v.mul_(BETA2).addcmul_(p.grad, p.grad, value=1 - BETA2)
                p.sub_(rate * m / (v.sqrt() + EPS))
        return loss.detach()


left = ByTorch
right = ByHand


def inputs():
    dones = torch.zeros(B)
    dones[1] = 1.0
    return torch.randn(B, OBS), torch.randint(0, ACT, (B,)), torch.randn(B), torch.randn(B, OBS), dones
