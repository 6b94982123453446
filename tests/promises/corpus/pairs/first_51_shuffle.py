# EQUAL. ShuffleNet unit with pixel-shuffle head: group conv, channel shuffle, nn.PixelShuffle vs split convs, index, permutes
import torch
from torch import nn
import torch.nn.functional as F


class Unit(nn.Module):
    def __init__(self):
        super().__init__()
        self.g1 = nn.Conv2d(6, 12, 1, groups=3)
        self.shuf = nn.ChannelShuffle(3)
        self.g2 = nn.Conv2d(12, 8, 3, padding=1, groups=2)
        self.up = nn.PixelShuffle(2)

    def forward(self, x):
        return self.up(self.g2(self.shuf(self.g1(x))))


class Plain(nn.Module):
    def __init__(self, u):
        super().__init__()
        self.a = nn.ModuleList()
        for w, b in zip(u.g1.weight.data.chunk(3), u.g1.bias.data.chunk(3)):
            c = nn.Conv2d(2, 4, 1); c.weight.data, c.bias.data = w.clone(), b.clone()
            self.a.append(c)
        self.b = nn.ModuleList()
        for w, b in zip(u.g2.weight.data.chunk(2), u.g2.bias.data.chunk(2)):
            c = nn.Conv2d(6, 4, 3, padding=1); c.weight.data, c.bias.data = w.clone(), b.clone()
            self.b.append(c)
        self.perm = [g * 4 + i for i in range(4) for g in range(3)]

    def forward(self, x):
        y = torch.cat([c(p) for c, p in zip(self.a, x.chunk(3, 1))], 1)
        y = y[:, self.perm]
        y = torch.cat([c(p) for c, p in zip(self.b, torch.split(y, 6, 1))], 1)
        n, c, h, w = y.shape
        y = y.reshape(n, c // 4, 2, 2, h, w).permute(0, 1, 4, 2, 5, 3)
        return y.reshape(n, c // 4, 2 * h, 2 * w)


torch.manual_seed(0)
left = Unit()
right = Plain(left)
inputs = (torch.randn(2, 6, 4, 5),)
