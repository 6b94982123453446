# EQUAL
"""A whole training step: torch.optim.RMSprop with autograd, and everything by hand."""
import torch
from torch import nn
import torch.nn.functional as F

LR, ALPHA, EPS, WD, MOM = 0.01, 0.95, 1e-6, 0.02, 0.9


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(42)
        self.w1 = nn.Parameter(torch.randn(5, 4) * 0.5)
        self.b1 = nn.Parameter(torch.randn(5) * 0.1)
        self.w2 = nn.Parameter(torch.randn(5) * 0.5)


class ByTorch(Net):
    def __init__(self):
        super().__init__()
        self.opt = torch.optim.RMSprop(
            self.parameters(), lr=LR, alpha=ALPHA, eps=EPS, weight_decay=WD, momentum=MOM, centered=True
        )

    def forward(self, x, y):
        self.opt.zero_grad()
        logits = torch.tanh(F.linear(x, self.w1, self.b1)) @ self.w2
        loss = F.binary_cross_entropy_with_logits(logits, y)
        loss.backward()
        self.opt.step()
        return loss.detach()


class ByHand(Net):
    def __init__(self):
        super().__init__()
        self.sq = [torch.zeros_like(p) for p in self.parameters()]
        self.avg = [torch.zeros_like(p) for p in self.parameters()]
        self.buf = [torch.zeros_like(p) for p in self.parameters()]

    @torch.no_grad()
    def forward(self, x, y):
        n = x.shape[0]
        h = torch.tanh(x @ self.w1.T + self.b1)
        z = h @ self.w2
        loss = (F.softplus(z) - y * z).mean()
        dz = (torch.sigmoid(z) - y) / n
        dpre = dz[:, None] * self.w2 * (1 - h * h)
        self.w2.grad = h.T @ dz
        self.w1.grad = dpre.T @ x
        self.b1.grad = dpre.sum(0)
        for p, s, m, b in zip(self.parameters(), self.sq, self.avg, self.buf):
            g = p.grad + WD * p
            s.mul_(ALPHA).add_((1 - ALPHA) * g * g)
            m.mul_(ALPHA).add_((1 - ALPHA) * g)
            b.mul_(MOM).add_(g / ((s - m * m).sqrt() + EPS))
            p.sub_(LR * b)
        return loss


left = ByTorch
right = ByHand


def inputs():
    torch.manual_seed(43)
    return torch.randn(6, 4), torch.randint(0, 2, (6,)).to(torch.get_default_dtype())
