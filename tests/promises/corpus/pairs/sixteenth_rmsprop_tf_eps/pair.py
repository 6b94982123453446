"""EfficientNet's optimizer (eps = 1e-3), by torch and by hand."""
import torch
from torch import nn

LR, ALPHA, EPS, MOMENTUM = 0.05, 0.9, 1e-3, 0.9


class ByTorch:
    def __init__(self):
        self.model = nn.Linear(6, 3)
        self.opt = torch.optim.RMSprop(self.model.parameters(), lr=LR, alpha=ALPHA, eps=EPS, momentum=MOMENTUM)

    def __call__(self, x, y):
        self.opt.zero_grad()
        loss = (self.model(x) - y).square().mean()
        loss.backward()
        self.opt.step()
        return loss.detach()


class ByHand:
    def __init__(self):
        self.model = nn.Linear(6, 3)
        self.square = [torch.zeros_like(p) for p in self.model.parameters()]
        self.buffer = [torch.zeros_like(p) for p in self.model.parameters()]

    def __call__(self, x, y):
        for p in self.model.parameters():
            p.grad = None
        loss = (self.model(x) - y).square().mean()
        loss.backward()
        with torch.no_grad():
            for p, s, m in zip(self.model.parameters(), self.square, self.buffer):
                s.mul_(ALPHA).addcmul_(p.grad, p.grad, value=1 - ALPHA)
                m.mul_(MOMENTUM).add_(p.grad / (s + EPS).sqrt())
                p.sub_(LR * m)
        return loss.detach()


left = ByTorch()
right = ByHand()
right.model.load_state_dict(left.model.state_dict())
inputs = (torch.randn(5, 6) * 0.3, torch.randn(5, 3) * 0.3)
