"""Domain-adversarial training: the gradient reversal layer, and a loss with a minus."""
import torch
from torch import nn
import torch.nn.functional as F

LAMBDA = 0.3
LR = 0.1


class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return -ctx.lam * grad_output, None


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
        self.label = nn.Linear(8, 3)
        self.domain = nn.Linear(8, 2)


def make():
    torch.manual_seed(0)
    return DANN()


class WithLayer:
    def __init__(self):
        self.model = make()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=LR)

    def __call__(self, x, y, d):
        m = self.model
        self.opt.zero_grad()
        f = m.features(x)
        label_loss = F.cross_entropy(m.label(f), y)
        domain_loss = F.cross_entropy(m.domain(GradReverse.apply(f, LAMBDA)), d)
        (label_loss + domain_loss).backward()
        self.opt.step()
        return label_loss.detach(), domain_loss.detach()


class WithMinus:
    def __init__(self):
        self.model = make()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=LR)

    def __call__(self, x, y, d):
        m = self.model
        self.opt.zero_grad()
        f = m.features(x)
        label_loss = F.cross_entropy(m.label(f), y)
        domain_loss = F.cross_entropy(m.domain(f), d)
        (label_loss - LAMBDA * domain_loss).backward()
        self.opt.step()
        return label_loss.detach(), domain_loss.detach()


left = WithLayer
right = WithMinus


def inputs():
    return torch.randn(6, 6), torch.randint(0, 3, (6,)), torch.tensor([0, 0, 0, 1, 1, 1])
