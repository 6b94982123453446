"""CoordConv: coordinates as channels, and as a map that is added after the convolution."""
import torch
from torch import nn
from torch.nn import functional as F


class Coordinates(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4 + 3, 6, 3, padding=1)

    def forward(self, x):
        b, _, h, w = x.shape
        ys = torch.linspace(-1, 1, h).view(1, 1, h, 1).expand(b, 1, h, w)
        xs = torch.linspace(-1, 1, w).view(1, 1, 1, w).expand(b, 1, h, w)
        radius = torch.sqrt(xs**2 + ys**2)
        return F.leaky_relu(self.conv(torch.cat([x, xs, ys, radius], dim=1)), 0.1)


class AddedMap(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4 + 3, 6, 3, padding=1)

    def forward(self, x):
        content, place = self.conv.weight.split([4, 3], dim=1)
        h, w = x.shape[-2:]
        ys, xs = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
        grid = torch.stack([xs, ys, torch.hypot(xs, ys)])
        bias = F.conv2d(grid[None], place, self.conv.bias, padding=1)
        y = F.conv2d(x, content, padding=1) + bias
        return torch.maximum(y, 0.1 * y)


def left():
    return Coordinates()


def right():
    return AddedMap()


def inputs():
    return (torch.randn(2, 4, 5, 6),)
