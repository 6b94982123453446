# EQUAL
# Involution (CVPR 2021): with unfold, and as a sum over shifted images
import torch
from torch import nn
import torch.nn.functional as F


class Involution2d(nn.Module):
    def __init__(self, channels=8, groups=2, kernel_size=3, reduction=2):
        super().__init__()
        self.groups, self.k = groups, kernel_size
        self.reduce = nn.Conv2d(channels, channels // reduction, 1)
        self.bn = nn.BatchNorm2d(channels // reduction)
        nn.init.normal_(self.bn.weight)
        nn.init.normal_(self.bn.bias)
        self.span = nn.Conv2d(channels // reduction, kernel_size ** 2 * groups, 1)

    def kernel(self, x):
        return self.span(torch.relu(self.bn(self.reduce(x))))

    def forward(self, x):
        b, c, h, w = x.shape
        weight = self.kernel(x).view(b, self.groups, self.k ** 2, h, w).unsqueeze(2)
        patches = F.unfold(x, self.k, padding=self.k // 2)
        patches = patches.view(b, self.groups, c // self.groups, self.k ** 2, h, w)
        return (weight * patches).sum(dim=3).view(b, c, h, w)


class ShiftedInvolution(Involution2d):
    def forward(self, x):
        h, w = x.shape[-2:]
        r = self.k // 2
        taps = self.kernel(x).unflatten(1, (self.groups, self.k, self.k))
        padded = F.pad(x, (r, r, r, r)).unflatten(1, (self.groups, -1))
        out = 0
        for dy in range(self.k):
            for dx in range(self.k):
                out = out + taps[:, :, dy, dx].unsqueeze(2) * padded[..., dy:dy + h, dx:dx + w]
        return out.flatten(1, 2)


def left():
    return Involution2d().eval()


def right():
    return ShiftedInvolution().eval()


def inputs():
    return (torch.randn(2, 8, 5, 6),)
