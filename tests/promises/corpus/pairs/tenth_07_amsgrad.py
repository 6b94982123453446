# DIFFERENT
import torch
from torch import nn


def make_model():
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2))


class TorchStep(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = make_model()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=0.01, amsgrad=True)

    def forward(self, x, y):
        self.opt.zero_grad()
        loss = ((self.net(x) - y) ** 2).mean()
        loss.backward()
        self.opt.step()
        return loss.detach(), [p.detach().clone() for p in self.net.parameters()]


class ManualStep(nn.Module):
    """AMSGrad by hand; the running maximum is taken of the corrected second moment, as Keras did in one version."""
    def __init__(self):
        super().__init__()
        self.net = make_model()
        self.t = 0
        params = list(self.net.parameters())
        self.m = [torch.zeros_like(p) for p in params]
        self.v = [torch.zeros_like(p) for p in params]
        self.vmax = [torch.zeros_like(p) for p in params]

    def forward(self, x, y):
        self.net.zero_grad()
        loss = ((self.net(x) - y) ** 2).mean()
        loss.backward()
        self.t += 1
        with torch.no_grad():
            for p, m, v, vmax in zip(self.net.parameters(), self.m, self.v, self.vmax):
                g = p.grad
                m.mul_(0.9).add_(g, alpha=0.1)
                v.mul_(0.999).addcmul_(g, g, value=0.001)
                torch.maximum(vmax, v / (1 - 0.999 ** self.t), out=vmax)
                denom = vmax.sqrt() + 1e-8
                p -= 0.01 / (1 - 0.9 ** self.t) * m / denom
        return loss.detach(), [p.detach().clone() for p in self.net.parameters()]


left, right = TorchStep, ManualStep


def inputs():
    return torch.randn(4, 5), torch.randn(4, 2)
