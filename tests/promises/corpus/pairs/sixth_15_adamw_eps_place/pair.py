import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(21)
LR, BETAS, EPS, WD = 1e-2, (0.9, 0.999), 1e-6, 0.01


def make_net():
    return nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))


class TorchTrainer(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.optimizer = torch.optim.AdamW(net.parameters(), lr=LR, betas=BETAS, eps=EPS, weight_decay=WD)

    def forward(self, x, y):
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()


class HandTrainer(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.m = [torch.zeros_like(p) for p in net.parameters()]
        self.v = [torch.zeros_like(p) for p in net.parameters()]
        self.t = 0

    def forward(self, x, y):
        self.t += 1
        params = list(self.net.parameters())
        loss = ((self.net(x) - y) ** 2).mean()
        grads = torch.autograd.grad(loss, params)
        b1, b2 = BETAS
        step_size = LR * math.sqrt(1 - b2**self.t) / (1 - b1**self.t)
        with torch.no_grad():
            for p, g, m, v in zip(params, grads, self.m, self.v):
                m.mul_(b1).add_(g, alpha=1 - b1)
                v.mul_(b2).addcmul_(g, g, value=1 - b2)
                p.mul_(1 - LR * WD)
                p.addcdiv_(m, v.sqrt().add_(EPS), value=-step_size)
        return loss.detach()


_net = make_net()
left = TorchTrainer(_net)
right = HandTrainer(copy.deepcopy(_net))
inputs = (torch.randn(6, 5), torch.randn(6, 3))
