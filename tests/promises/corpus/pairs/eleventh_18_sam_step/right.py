import torch
from torch import nn
from torch.nn import functional as F

from torch.func import functional_call, grad_and_value


class Right:
    def __init__(self, lr=0.1, rho=0.05):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))
        self.lr, self.rho = lr, rho

    def loss(self, weights, x, y):
        return F.cross_entropy(functional_call(self.model, weights, (x,)), y)

    def __call__(self, x, y):
        weights = {name: p.detach() for name, p in self.model.named_parameters()}
        slopes, loss = grad_and_value(self.loss)(weights, x, y)
        length = sum(g.square().sum() for g in slopes.values()).sqrt() + 1e-12
        moved = {name: w + self.rho * slopes[name] / length for name, w in weights.items()}
        slopes, _ = grad_and_value(self.loss)(moved, x, y)
        with torch.no_grad():
            for name, p in self.model.named_parameters():
                p.add_(slopes[name], alpha=-self.lr)
        return loss


def inputs():
    return torch.randn(6, 5), torch.tensor([0, 2, 1, 1, 0, 2])
