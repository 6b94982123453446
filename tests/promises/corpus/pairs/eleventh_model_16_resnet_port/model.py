import math

import torch
from torch import nn
from torch.nn import functional as F


def drawn(model, seed=0):
    """Weights of every parameter from a fixed seed, norms and biases too."""
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(torch.randn(p.shape, generator=g) * (p.shape[-1] ** -0.5 if p.ndim > 1 else 0.2))
            if p.ndim == 1 and name.endswith("weight"):
                p.add_(1.0)
    return model.eval()


def linear(sd, name, bias=True):
    w = sd[name + ".weight"]
    layer = nn.Linear(w.shape[1], w.shape[0], bias=bias)
    layer.weight.data.copy_(w)
    if bias:
        layer.bias.data.copy_(sd[name + ".bias"])
    return layer


def param(sd, name):
    return nn.Parameter(sd[name].clone())


class BasicBlock(nn.Module):
    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = None
        if stride != 1 or inplanes != planes:
            self.downsample = nn.Sequential(nn.Conv2d(inplanes, planes, 1, stride, bias=False), nn.BatchNorm2d(planes))

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, 2, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.maxpool = nn.MaxPool2d(2)
        self.layer1, self.layer2 = BasicBlock(8, 8), BasicBlock(8, 12, 2)
        self.fc = nn.Linear(12, 5)

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


def original():
    model = drawn(ResNet())
    g = torch.Generator().manual_seed(7)
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.running_mean.copy_(0.3 * torch.randn(m.running_mean.shape, generator=g))
            m.running_var.copy_(0.5 + torch.rand(m.running_var.shape, generator=g))
    return model


class Conv(nn.Module):
    """A convolution and its batch norm, on images of (batch, height, width, channels)."""

    def __init__(self, sd, conv, bn, stride=1):
        super().__init__()
        w = sd[conv + ".weight"]
        self.size, self.stride = w.shape[-1], stride
        self.kernel = nn.Parameter(w.permute(2, 3, 1, 0).reshape(-1, w.shape[0]).clone())
        self.gamma, self.beta = param(sd, bn + ".weight"), param(sd, bn + ".bias")
        self.register_buffer("mean", sd[bn + ".running_mean"].clone())
        self.register_buffer("var", sd[bn + ".running_var"].clone())

    def forward(self, x):
        k, p = self.size, self.size // 2
        x = F.pad(x, (0, 0, p, p, p, p))
        windows = x.unfold(1, k, self.stride).unfold(2, k, self.stride)
        y = windows.permute(0, 1, 2, 4, 5, 3).flatten(3) @ self.kernel
        return (y - self.mean) / torch.sqrt(self.var + 1e-5) * self.gamma + self.beta


class Port(nn.Module):
    def __init__(self, sd):
        super().__init__()
        self.stem = Conv(sd, "conv1", "bn1", 2)
        self.a1, self.a2 = Conv(sd, "layer1.conv1", "layer1.bn1"), Conv(sd, "layer1.conv2", "layer1.bn2")
        self.b1, self.b2 = Conv(sd, "layer2.conv1", "layer2.bn1", 2), Conv(sd, "layer2.conv2", "layer2.bn2")
        self.short = Conv(sd, "layer2.downsample.0", "layer2.downsample.1", 2)
        self.fc = linear(sd, "fc")

    def forward(self, x):
        x = self.stem(x.permute(0, 2, 3, 1)).clamp(min=0)
        b, h, w, c = x.shape
        x = x.reshape(b, h // 2, 2, w // 2, 2, c).amax((2, 4))
        x = (self.a2(self.a1(x).clamp(min=0)) + x).clamp(min=0)
        x = (self.b2(self.b1(x).clamp(min=0)) + self.short(x)).clamp(min=0)
        return self.fc(x.mean((1, 2)))


def port():
    return Port(original().state_dict()).eval()


def inputs():
    return (torch.randn(2, 3, 16, 16),)
