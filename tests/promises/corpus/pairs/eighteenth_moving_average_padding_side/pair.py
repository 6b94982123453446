import torch
from torch import nn

KERNEL = 4


class Autoformer(nn.Module):
    """Series decomposition: a moving average over the series padded with its own ends, and what is left."""

    def __init__(self):
        super().__init__()
        self.average = nn.AvgPool1d(KERNEL, stride=1)
        self.trend_head = nn.Linear(3, 2)
        self.season_head = nn.Linear(3, 2)

    def forward(self, x):
        front = x[:, :1].repeat(1, KERNEL // 2, 1)
        end = x[:, -1:].repeat(1, (KERNEL - 1) // 2, 1)
        padded = torch.cat([front, x, end], dim=1)
        trend = self.average(padded.transpose(1, 2)).transpose(1, 2)
        return self.trend_head(trend) + self.season_head(x - trend)


class ByCumulativeSum(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = Autoformer()
        self.trend_head, self.season_head = theirs.trend_head, theirs.season_head

    def forward(self, x):
        length = x.shape[1]
        before = (KERNEL - 1) // 2
        places = torch.arange(length + KERNEL - 1) - before
        padded = x[:, places.clamp(0, length - 1)]
        total = torch.cumsum(padded, dim=1)
        total = torch.cat([torch.zeros_like(total[:, :1]), total], dim=1)
        trend = (total[:, KERNEL:] - total[:, :-KERNEL]) / KERNEL
        return self.season_head(x - trend) + self.trend_head(trend)


def example(B=2, T=7):
    return (torch.randn(B, T, 3),)


def inputs():
    return example()
