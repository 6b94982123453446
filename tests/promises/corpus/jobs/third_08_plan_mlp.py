import torch
from torch import nn
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

TRUTH = "refines"
WHY = 'a plan of torch.distributed.tensor.parallel for a two-layer MLP, with gradients'


class FeedForward(nn.Module):
    def __init__(self, dim=8, hidden=16):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden)
        self.w2 = nn.Linear(hidden, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        return self.norm(x + self.w2(torch.relu(self.w1(x))))


def sequential():
    torch.manual_seed(42)
    return FeedForward()


plan = {"w1": ColwiseParallel(), "w2": RowwiseParallel()}
world_size = 2
backward = True


def inputs():
    torch.manual_seed(1)
    return (torch.randn(3, 4, 8),)
