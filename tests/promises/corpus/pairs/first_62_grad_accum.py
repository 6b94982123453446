# EQUAL. one backward over the batch vs gradient accumulation over two micro-batches (loss / 2), softmax classifier
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3))


def left(x, y):
    with torch.enable_grad():
        loss = F.cross_entropy(net(x), y)
        return torch.autograd.grad(loss, list(net.parameters()))


def right(x, y):
    acc = [torch.zeros_like(p) for p in net.parameters()]
    for xb, yb in zip(x.chunk(2), y.chunk(2)):
        with torch.enable_grad():
            loss = F.cross_entropy(net(xb), yb) / 2
            for a, g in zip(acc, torch.autograd.grad(loss, list(net.parameters()))):
                a.add_(g)
    return tuple(acc)


inputs = (torch.randn(8, 5), torch.randint(0, 3, (8,)))
