import torch
from torch import nn
from torch.nn import functional as F


class Left:
    def __init__(self, lr=0.1, rho=0.05):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))
        self.lr, self.rho = lr, rho

    def __call__(self, x, y):
        params = list(self.model.parameters())
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        with torch.no_grad():
            norm = torch.norm(torch.stack([p.grad.norm(p=2) for p in params]), p=2)
            moves = []
            for p in params:
                e = p.grad * (self.rho / (norm + 1e-12))
                p.add_(e)
                moves.append(e)
        self.model.zero_grad()
        F.cross_entropy(self.model(x), y).backward()
        with torch.no_grad():
            for p, e in zip(params, moves):
                p.sub_(e)
                p.sub_(self.lr * p.grad)
        self.model.zero_grad()
        return loss.detach()


def inputs():
    return torch.randn(6, 5), torch.tensor([0, 2, 1, 1, 0, 2])
