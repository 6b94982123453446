"""PCGrad for two tasks: flattened gradients projected, and one backward of weighted losses."""
import torch
from torch import nn
from torch.nn import functional as F


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(5, 7)
        self.depth, self.label = nn.Linear(7, 1), nn.Linear(7, 4)

    def losses(self, x, depth, target):
        h = torch.tanh(self.shared(x))
        return F.l1_loss(self.depth(h).squeeze(-1), depth), F.cross_entropy(self.label(h), target)


class Projected(Base):
    def forward(self, x, depth, target):
        flat = []
        for loss in self.losses(x, depth, target):
            grads = torch.autograd.grad(loss, list(self.shared.parameters()), retain_graph=True)
            flat.append(torch.cat([g.flatten() for g in grads]))
        merged = torch.zeros_like(flat[0])
        for i, own in enumerate(flat):
            for j, other in enumerate(flat):
                if i != j:
                    inner = torch.dot(own, other)
                    own = torch.where(inner < 0, own - inner / other.dot(other) * other, own)
            merged = merged + own
        weight, bias = merged.split([35, 7])
        return weight.view(7, 5), bias


class Weighted(Base):
    def forward(self, x, depth, target):
        one, two = self.losses(x, depth, target)
        params = (self.shared.weight, self.shared.bias)
        a = torch.autograd.grad(one, params, retain_graph=True)
        b = torch.autograd.grad(two, params, retain_graph=True)
        inner = sum((u * v).sum() for u, v in zip(a, b))
        conflict = F.relu(-inner)
        c1 = 1 + conflict / sum(u.square().sum() for u in a)
        c2 = 1 + conflict / sum(v.square().sum() for v in b)
        return torch.autograd.grad(c1.detach() * one + c2.detach() * two, params)


def left():
    return Projected()


def right():
    return Weighted()


def inputs():
    return torch.randn(6, 5), torch.randn(6), torch.randint(0, 4, (6,))
