# DIFFERENT
import math
import torch
from torch import nn
import torch.nn.functional as F


class WithOptimizer(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(71)
        self.fc1 = nn.Linear(4, 6)
        self.fc2 = nn.Linear(6, 3)
        self.optimizer = torch.optim.AdamW(self.parameters(), lr=0.05, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.1)

    def forward(self, x, label):
        loss = F.cross_entropy(self.fc2(F.gelu(self.fc1(x))), label)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class WithoutOptimizer(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(71)
        self.fc1 = nn.Linear(4, 6)
        self.fc2 = nn.Linear(6, 3)
        self.t = 0
        self.m = {n: torch.zeros_like(p) for n, p in self.named_parameters()}
        self.v = {n: torch.zeros_like(p) for n, p in self.named_parameters()}

    def forward(self, x, label):
        for p in self.parameters():
            p.grad = None
        loss = F.cross_entropy(self.fc2(F.gelu(self.fc1(x))), label)
        loss.backward()
        self.t += 1
        lr, b1, b2, eps, wd = 0.05, 0.9, 0.99, 1e-6, 0.1
        with torch.no_grad():
            for n, p in self.named_parameters():
                g = p.grad + wd * p
                self.m[n] = b1 * self.m[n] + (1 - b1) * g
                self.v[n] = b2 * self.v[n] + (1 - b2) * g * g
                mhat = self.m[n] / (1 - b1 ** self.t)
                vhat = self.v[n] / (1 - b2 ** self.t)
                p -= lr * mhat / (vhat.sqrt() + eps)
        return loss.detach()


left = WithOptimizer
right = WithoutOptimizer


def inputs():
    torch.manual_seed(72)
    return torch.randn(5, 4), torch.randint(0, 3, (5,))
