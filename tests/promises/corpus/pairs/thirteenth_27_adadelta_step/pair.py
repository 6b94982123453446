"""A training step by torch's Adadelta, and by hand after Zeiler's paper."""
import torch
from torch import nn
import torch.nn.functional as F

LR, RHO, EPS, DECAY = 0.5, 0.9, 1e-5, 0.01


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))


class ByTorch:
    def __init__(self):
        self.model = network()
        self.optimizer = torch.optim.Adadelta(
            self.model.parameters(), lr=LR, rho=RHO, eps=EPS, weight_decay=DECAY
        )

    def __call__(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class ByHand:
    def __init__(self):
        self.model = network()
        self.grad_sq = [torch.zeros_like(p) for p in self.model.parameters()]
        self.step_sq = [torch.zeros_like(p) for p in self.model.parameters()]

    def __call__(self, x, y):
        for p in self.model.parameters():
            p.grad = None
        loss = (self.model(x) - y).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            for p, e_g, e_dx in zip(self.model.parameters(), self.grad_sq, self.step_sq):
                g = p.grad + DECAY * p
                e_g.copy_(RHO * e_g + (1 - RHO) * g * g)
                dx = -torch.sqrt(e_dx + EPS) / torch.sqrt(e_g + EPS) * g
                e_dx.copy_(RHO * e_dx + (1 - RHO) * dx * dx)
                p += LR * dx
        return loss.detach()


left = ByTorch
right = ByHand
inputs = (torch.randn(5, 6), torch.randn(5, 2))
