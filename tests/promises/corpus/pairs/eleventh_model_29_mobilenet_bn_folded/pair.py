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


class ConvBN(nn.Sequential):
    def __init__(self, a, b, k, stride=1, groups=1):
        super().__init__(nn.Conv2d(a, b, k, stride, k // 2, groups=groups, bias=False), nn.BatchNorm2d(b))


class SqueezeExcite(nn.Module):
    def __init__(self, dim, mid):
        super().__init__()
        self.reduce, self.expand = nn.Conv2d(dim, mid, 1), nn.Conv2d(mid, dim, 1)

    def forward(self, x):
        s = F.adaptive_avg_pool2d(x, 1)
        return x * F.hardsigmoid(self.expand(F.relu(self.reduce(s))))


class Inverted(nn.Module):
    def __init__(self, a, mid, b, stride):
        super().__init__()
        self.up, self.dw, self.down = ConvBN(a, mid, 1), ConvBN(mid, mid, 3, stride, mid), ConvBN(mid, b, 1)
        self.se = SqueezeExcite(mid, 4)
        self.skip = stride == 1 and a == b

    def forward(self, x):
        y = self.down(self.se(F.hardswish(self.dw(F.hardswish(self.up(x))))))
        return x + y if self.skip else y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = ConvBN(3, 8, 3, 2)
        self.b0, self.b1 = Inverted(8, 12, 8, 1), Inverted(8, 12, 10, 2)
        self.head = nn.Linear(10, 4)

    def forward(self, x):
        x = self.b1(self.b0(F.hardswish(self.stem(x))))
        return self.head(x.mean((2, 3)))


def fuse(block):
    conv, bn = block
    scale = bn.weight / torch.sqrt(bn.running_var + bn.eps)
    out = nn.Conv2d(conv.in_channels, conv.out_channels, conv.kernel_size, conv.stride, conv.padding, groups=conv.groups)
    out.weight.data.copy_(conv.weight * scale[:, None, None, None])
    out.bias.data.copy_(bn.bias - bn.running_mean * scale)
    return out


def flat(conv):
    out = nn.Linear(conv.in_channels, conv.out_channels)
    out.weight.data.copy_(conv.weight[:, :, 0, 0])
    out.bias.data.copy_(conv.bias)
    return out


class FusedInverted(nn.Module):
    def __init__(self, old):
        super().__init__()
        self.up, self.dw, self.down, self.skip = fuse(old.up), fuse(old.dw), fuse(old.down), old.skip
        self.reduce, self.expand = flat(old.se.reduce), flat(old.se.expand)

    def forward(self, x):
        y = self.up(x)
        y = self.dw(y * F.relu6(y + 3) / 6)
        y = y * F.relu6(y + 3) / 6
        gate = self.expand(self.reduce(y.mean((-2, -1))).clamp(min=0))
        y = self.down(y * (F.relu6(gate + 3) / 6)[:, :, None, None])
        return x + y if self.skip else y


class Fused(nn.Module):
    def __init__(self, old):
        super().__init__()
        self.stem, self.b0, self.b1 = fuse(old.stem), FusedInverted(old.b0), FusedInverted(old.b1)
        self.head = nn.Linear(10, 4)
        self.head.load_state_dict(old.head.state_dict())

    def forward(self, x):
        y = self.stem(x)
        y = self.b1(self.b0(y * F.relu6(y + 3) / 6))
        return self.head(y.flatten(2).mean(-1))


left = drawn(Net())
g = torch.Generator().manual_seed(5)
for m in left.modules():
    if isinstance(m, nn.BatchNorm2d):
        m.running_mean.copy_(0.3 * torch.randn(m.running_mean.shape, generator=g))
        m.running_var.copy_(0.5 + torch.rand(m.running_var.shape, generator=g))
right = Fused(left).eval()


def inputs():
    return (torch.randn(2, 3, 12, 12),)
