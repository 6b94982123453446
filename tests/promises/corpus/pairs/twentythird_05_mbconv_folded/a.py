"""The inverted bottleneck of EfficientNet, in eval mode: expand, depthwise, squeeze and excite, project, add."""
import torch
from torch import nn

CHANNELS, EXPANDED, SQUEEZED = 4, 8, 3


def conv_norm(inside, outside, kernel, groups=1):
    conv = nn.Conv2d(inside, outside, kernel, padding=kernel // 2, groups=groups, bias=False)
    norm = nn.BatchNorm2d(outside, eps=1e-3)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    nn.init.normal_(norm.running_mean)
    nn.init.uniform_(norm.running_var, 0.5, 2.0)
    return nn.Sequential(conv, norm)


class SqueezeExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce, self.expand = nn.Conv2d(EXPANDED, SQUEEZED, 1), nn.Conv2d(SQUEEZED, EXPANDED, 1)

    def forward(self, x):
        scale = self.expand(nn.functional.silu(self.reduce(self.pool(x))))
        return x * torch.sigmoid(scale)


class MBConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.expand = conv_norm(CHANNELS, EXPANDED, 1)
        self.depthwise = conv_norm(EXPANDED, EXPANDED, 3, groups=EXPANDED)
        self.se = SqueezeExcite()
        self.project = conv_norm(EXPANDED, CHANNELS, 1)
        self.eval()

    def forward(self, x):
        y = nn.functional.silu(self.expand(x))
        y = nn.functional.silu(self.depthwise(y))
        return x + self.project(self.se(y))


def inputs():
    return (torch.randn(2, CHANNELS, 6, 5),)
