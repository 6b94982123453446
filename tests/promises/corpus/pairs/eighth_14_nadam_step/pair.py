import torch
import torch.nn.functional as F
from torch import nn

LR, B1, B2, EPS, PSI, WD = 2e-2, 0.9, 0.999, 1e-8, 4e-3, 1e-2


def build():
    torch.manual_seed(24)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


class WithTorch(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = build()
        self.opt = torch.optim.NAdam(self.net.parameters(), lr=LR, betas=(B1, B2), eps=EPS,
                                     weight_decay=WD, momentum_decay=PSI)

    def forward(self, x, y):
        self.opt.zero_grad()
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        self.opt.step()
        return loss.detach()


class WithFormula(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = build()
        self.t = 0
        self.mu_product = 1.0
        self.m = [torch.zeros_like(p) for p in self.net.parameters()]
        self.n = [torch.zeros_like(p) for p in self.net.parameters()]

    def forward(self, x, y):
        params = list(self.net.parameters())
        loss = F.cross_entropy(self.net(x), y)
        for p, g in zip(params, torch.autograd.grad(loss, params)):
            p.grad = g
        self.t += 1
        mu = B1 * (1 - 0.5 * 0.96 ** (self.t * PSI))
        mu_next = B1 * (1 - 0.5 * 0.96 ** ((self.t + 1) * PSI))
        self.mu_product *= mu
        with torch.no_grad():
            for i, p in enumerate(params):
                g = p.grad + WD * p
                self.m[i] = B1 * self.m[i] + (1 - B1) * g
                self.n[i] = B2 * self.n[i] + (1 - B2) * g ** 2
                m_hat = mu_next * self.m[i] / (1 - self.mu_product * mu_next) \
                    + (1 - mu) * g / (1 - self.mu_product)
                n_hat = self.n[i] / (1 - B2 ** self.t)
                p -= LR * m_hat / (n_hat.sqrt() + EPS)
        return loss.detach()


left, right = WithTorch(), WithFormula()
inputs = (torch.randn(5, 6), torch.tensor([0, 2, 1, 1, 0]))
