# EQUAL
"""RegNetY-like network with squeeze-and-excitation, and the network for deployment: every batch norm inside its convolution."""
import copy

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


class ConvNormAct(nn.Sequential):
    def __init__(self, i, o, k, s=1, g=1, act=True):
        super().__init__(
            nn.Conv2d(i, o, k, s, k // 2, groups=g, bias=False), nn.BatchNorm2d(o), nn.ReLU() if act else nn.Identity()
        )


class SqueezeExcitation(nn.Module):
    def __init__(self, c, r):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(c, r, 1), nn.Conv2d(r, c, 1)

    def forward(self, x):
        s = torch.relu(self.fc1(x.mean((2, 3), keepdim=True)))
        return x * torch.sigmoid(self.fc2(s))


class YBlock(nn.Module):
    def __init__(self, i, o, s, group_width=4):
        super().__init__()
        self.proj = ConvNormAct(i, o, 1, s, act=False) if i != o or s != 1 else None
        self.a = ConvNormAct(i, o, 1)
        self.b = ConvNormAct(o, o, 3, s, g=o // group_width)
        self.se = SqueezeExcitation(o, i // 4)
        self.c = ConvNormAct(o, o, 1, act=False)

    def forward(self, x):
        skip = x if self.proj is None else self.proj(x)
        return torch.relu(skip + self.c(self.se(self.b(self.a(x)))))


class RegNet(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.stem = ConvNormAct(3, 8, 3, 2)
        self.trunk = nn.Sequential(YBlock(8, 8, 1), YBlock(8, 16, 2), YBlock(16, 16, 1))
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        return self.fc(self.trunk(self.stem(x)).mean((2, 3)))


def pretrained():
    model = RegNet()
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            nn.init.uniform_(m.weight, 0.5, 1.5)
            nn.init.normal_(m.bias, std=0.2)
            m.running_mean.normal_(std=0.5)
            m.running_var.uniform_(0.3, 3.0)
    return model.eval()


def deploy(model):
    model = copy.deepcopy(model)
    for m in model.modules():
        if isinstance(m, ConvNormAct):
            m[0] = fuse_conv_bn_eval(m[0], m[1])
            m[1] = nn.Identity()
    return model


left = pretrained()
right = deploy(left)
inputs = (torch.randn(2, 3, 16, 16),)
