import torch
from torch import nn


class Stem(nn.Module):
    """Convolution and batch norm in training."""

    def __init__(self, cin=3, cout=6):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride=2, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(cout)
        self.act = nn.Hardswish()

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


def make():
    m = Stem()
    nn.init.normal_(m.bn.weight)
    nn.init.normal_(m.bn.bias)
    return m.train()


def inputs():
    return (torch.randn(2, 3, 6, 8),)
