"""EfficientNet's stem and first depthwise layer: padded as in TensorFlow, and as a PyTorch port."""
import torch
from torch import nn
from torch.nn import functional as F


class SameConv2d(nn.Conv2d):
    def forward(self, x):
        amounts = []
        for size, k, s in zip(x.shape[:1:-1], self.kernel_size[::-1], self.stride[::-1]):
            total = max((-(-size // s) - 1) * s + k - size, 0)
            amounts += [total // 2, total - total // 2]
        return F.conv2d(F.pad(x, amounts), self.weight, self.bias, self.stride, 0, 1, self.groups)


def norm(channels):
    bn = nn.BatchNorm2d(channels, eps=1e-3)
    nn.init.normal_(bn.weight, 1.0, 0.2)
    nn.init.normal_(bn.bias, 0.0, 0.2)
    bn.running_mean.normal_(0.0, 0.2)
    bn.running_var.uniform_(0.5, 1.5)
    return bn


class Stem(nn.Module):
    def __init__(self, conv):
        super().__init__()
        self.conv = conv(3, 8, 3, 2)
        self.bn1 = norm(8)
        self.depthwise = conv(8, 8, 3, 1, groups=8)
        self.bn2 = norm(8)

    def forward(self, x):
        x = F.silu(self.bn1(self.conv(x)))
        return F.silu(self.bn2(self.depthwise(x)))


def tensorflow(i, o, k, s, groups=1):
    return SameConv2d(i, o, k, stride=s, groups=groups, bias=False)


def pytorch(i, o, k, s, groups=1):
    return nn.Conv2d(i, o, k, stride=s, padding=k // 2, groups=groups, bias=False)


def left():
    return Stem(tensorflow).eval()


def right():
    return Stem(pytorch).eval()


def inputs():
    return (torch.randn(2, 3, 12, 16),)
