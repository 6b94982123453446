import torch
from torch import nn
from torch.nn import functional as F

LR, MOMENTUM, WEIGHT_DECAY, EMA = 0.05, 0.9, 0.01, 0.99


def network():
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))


class Library(nn.Module):
    def __init__(self):
        super().__init__()
        self.student, self.teacher = network(), network()
        self.optimizer = torch.optim.SGD(self.student.parameters(), lr=LR, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        out = self.student(x)
        with torch.no_grad():
            target = self.teacher(x)
        loss = F.cross_entropy(out, y) + 0.5 * F.mse_loss(out, target)
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
                slow.mul_(EMA).add_(fast, alpha=1 - EMA)
        return loss.detach()


class ByHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.student, self.teacher = network(), network()
        self.velocity = [torch.zeros_like(p) for p in self.student.parameters()]

    def forward(self, x, y):
        for p in self.student.parameters():
            p.grad = None
        logits = self.student(x)
        gap = logits - self.teacher(x).detach()
        nll = -(F.one_hot(y, 3) * logits.log_softmax(dim=1)).sum(dim=1)
        loss = nll.mean() + gap.pow(2).mean() / 2
        loss.backward()
        with torch.no_grad():
            for i, p in enumerate(self.student.parameters()):
                self.velocity[i] = MOMENTUM * self.velocity[i] + p.grad + WEIGHT_DECAY * p
                p -= LR * self.velocity[i]
            for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
                slow.lerp_(fast, 1 - EMA)
        return loss.detach()


def example(B=4):
    return torch.randn(B, 6), torch.randint(0, 3, (B,))


def inputs():
    return example()
