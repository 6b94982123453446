"""The Focus stem of YOLOv5 and a bottleneck behind it."""
import torch
from torch import nn


class Focus(nn.Module):
    def __init__(self, c1=3, c2=8):
        super().__init__()
        self.conv = nn.Conv2d(4 * c1, c2, 3, padding=1)

    def forward(self, x):
        pieces = [x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]]
        return self.conv(torch.cat(pieces, 1))


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.focus = Focus()
        self.cv1 = nn.Conv2d(8, 4, 1)
        self.cv2 = nn.Conv2d(4, 8, 3, padding=1)
        self.act = nn.SiLU()

    def forward(self, x):
        x = self.act(self.focus(x))
        return x + self.act(self.cv2(self.act(self.cv1(x))))


def inputs():
    return (torch.randn(2, 3, 8, 12),)
