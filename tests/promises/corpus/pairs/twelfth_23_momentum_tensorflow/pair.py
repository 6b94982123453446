"""Training step with momentum: torch.optim.SGD, and the convention of TensorFlow by hand."""
import torch
from torch import nn
from torch.nn import functional as F

LR, MOMENTUM, DECAY = 0.05, 0.9, 1e-2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 8)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


class TorchStep:
    def __init__(self):
        self.net = Net()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=LR, momentum=MOMENTUM, weight_decay=DECAY)

    def __call__(self, x, y):
        self.opt.zero_grad()
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        self.opt.step()
        return loss.detach()


class TFStep:
    def __init__(self):
        self.net = Net()
        self.velocity = [torch.zeros_like(p) for p in self.net.parameters()]

    def __call__(self, x, y):
        for p in self.net.parameters():
            p.grad = None
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        with torch.no_grad():
            for v, p in zip(self.velocity, self.net.parameters()):
                v.mul_(MOMENTUM).sub_(LR * (p.grad + DECAY * p))
                p.add_(v)
        return loss.detach()


left = TorchStep
right = TFStep


def inputs():
    return torch.randn(5, 6), torch.randint(0, 3, (5,))
