"""Adam with AMSGrad on logistic regression, by torch and in a port to an engine without optimizers."""
import torch
from torch import nn
from torch.nn import functional as F

LR, B1, B2, EPS = 0.05, 0.9, 0.99, 1e-6


class ByTorch:
    def __init__(self):
        self.model = nn.Linear(4, 3)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=LR, betas=(B1, B2), eps=EPS, amsgrad=True)

    def __call__(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class ByHand:
    def __init__(self):
        self.model = nn.Linear(4, 3)
        self.step = 0
        self.moments = {p: [torch.zeros_like(p) for _ in range(3)] for p in self.model.parameters()}

    def __call__(self, x, y):
        for p in self.model.parameters():
            p.grad = None
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.step += 1
        with torch.no_grad():
            for p, (m, v, top) in self.moments.items():
                m.mul_(B1).add_(p.grad, alpha=1 - B1)
                v.mul_(B2).addcmul_(p.grad, p.grad, value=1 - B2)
                top.copy_(torch.maximum(top, v / (1 - B2**self.step)))
                p.sub_(LR * (m / (1 - B1**self.step)) / (top.sqrt() + EPS))
        return loss.detach()


def inputs():
    return torch.randn(6, 4), torch.randint(0, 3, (6,))
