import torch
import torch.distributed as dist
from torch import nn

TRUTH = "does not refine"
WHY = "five layers on two stages of two: the fifth is nobody's"
world_size = 2


class Stack(nn.Module):
    def __init__(self, layers=5, d=6):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Linear(d, d) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return {"y": x}


class Stage(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        layers = Stack().layers
        n = len(layers) // world_size
        lo, hi = rank * n, (rank + 1) * n
        self.rank, self.last = rank, world_size - 1
        self.layers = nn.ModuleList(layers[lo:hi])

    def forward(self, x):
        if self.rank > 0:
            x = torch.empty_like(x)
            dist.recv(x, self.rank - 1)
        for layer in self.layers:
            x = torch.tanh(layer(x))
        if self.rank < self.last:
            dist.send(x, self.rank + 1)
            return {}
        return {"y": x}


def sequential():
    return Stack()


def distributed(rank, world_size):
    return Stage(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(4, 6),)
