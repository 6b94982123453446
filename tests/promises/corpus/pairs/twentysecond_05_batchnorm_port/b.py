"""The block after a round trip through Flax: batch norm written out as flax.linen.BatchNorm computes it (momentum 0.9)."""

import torch
from torch import nn


class FlaxBatchNorm(nn.Module):
    def __init__(self, features, momentum=0.9, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.momentum, self.eps = momentum, eps
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))
        self.register_buffer("num_batches_tracked", torch.tensor(0, dtype=torch.long))

    def forward(self, x):
        mean = x.mean((0, 2, 3))
        var = (x * x).mean((0, 2, 3)) - mean * mean
        if self.training:
            with torch.no_grad():
                self.running_mean.copy_(self.momentum * self.running_mean + (1 - self.momentum) * mean)
                self.running_var.copy_(self.momentum * self.running_var + (1 - self.momentum) * var)
                self.num_batches_tracked.add_(1)
        else:
            mean, var = self.running_mean, self.running_var
        scale = self.weight * torch.rsqrt(var + self.eps)
        return x * scale[:, None, None] + (self.bias - mean * scale)[:, None, None]


class PortedBlock(nn.Module):
    def __init__(self, channels=5, out=7, stride=2):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.bn1 = FlaxBatchNorm(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = FlaxBatchNorm(out)
        self.shortcut = nn.Conv2d(channels, out, 1, stride, bias=False)
        for bn in (self.bn1, self.bn2):
            nn.init.normal_(bn.weight)
            nn.init.normal_(bn.bias)

    def forward(self, x):
        h = self.bn1(self.conv1(x)).clamp_min(0)
        h = self.bn2(self.conv2(h)) + self.shortcut(x)
        return h.clamp_min(0)
