import torch
from torch import nn
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

world_size = 2


class Block(nn.Module):
    """x + down(sigmoid(gate(x)) * up(x) + up(x))"""

    def __init__(self, d=6, h=10):
        super().__init__()
        self.gate = nn.Linear(d, h)
        self.up = nn.Linear(d, h, bias=False)
        self.down = nn.Linear(h, d)

    def forward(self, x):
        u = self.up(x)
        return x + self.down(torch.sigmoid(self.gate(x)) * u + u)


def sequential():
    torch.manual_seed(5)
    return nn.Sequential(Block(), nn.Tanh(), Block())


plan = {
    "0.gate": ColwiseParallel(),
    "0.up": ColwiseParallel(),
    "0.down": RowwiseParallel(),
    "2.gate": ColwiseParallel(),
    "2.up": ColwiseParallel(),
    "2.down": RowwiseParallel(),
}


def inputs():
    torch.manual_seed(6)
    return (torch.randn(3, 6),)


TRUTH = "refines"
