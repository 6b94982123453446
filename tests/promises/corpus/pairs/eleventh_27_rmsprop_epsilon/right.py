import torch
from torch import nn


class Right:
    def __init__(self):
        torch.manual_seed(0)
        self.model = nn.Linear(6, 3)
        self.mean_square = [torch.zeros_like(p) for p in self.model.parameters()]

    def __call__(self, x, y):
        self.model.zero_grad()
        loss = (self.model(x) - y).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            for p, s in zip(self.model.parameters(), self.mean_square):
                s.mul_(0.9).addcmul_(p.grad, p.grad, value=0.1)
                p.sub_(0.01 * p.grad * torch.rsqrt(s + 1e-3))
        return loss.detach()


def inputs():
    return torch.randn(5, 6), torch.randn(5, 3)
