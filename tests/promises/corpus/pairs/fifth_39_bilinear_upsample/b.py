import torch
from torch import nn
from torch.nn import functional as F


def double(x, dim):
    """Each number becomes two: 3/4 of it and 1/4 of the neighbour on that side; edges are repeated."""
    n = x.shape[dim]
    before = torch.cat([x.narrow(dim, 0, 1), x.narrow(dim, 0, n - 1)], dim=dim)
    after = torch.cat([x.narrow(dim, 1, n - 1), x.narrow(dim, n - 1, 1)], dim=dim)
    pairs = torch.stack([0.75 * x + 0.25 * before, 0.75 * x + 0.25 * after], dim=dim + 1)
    return pairs.flatten(dim, dim + 1)


class UpBlock(nn.Module):
    """The 1 × 1 convolution comes first, on a quarter of the pixels."""

    def __init__(self, inside=4, outside=3):
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, 1)

    def forward(self, x, skip):
        return F.relu(double(double(self.conv(x), 2), 3) + skip)


def program():
    torch.manual_seed(0)
    return UpBlock().eval()
