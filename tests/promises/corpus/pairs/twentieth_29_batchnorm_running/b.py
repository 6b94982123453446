"""The same with batch norm written out, to be made synchronous over devices later."""
import torch
from torch import nn

from a import Stem


class Norm(nn.Module):
    def __init__(self, theirs):
        super().__init__()
        self.weight, self.bias = theirs.weight, theirs.bias
        self.register_buffer("running_mean", torch.zeros_like(theirs.running_mean))
        self.register_buffer("running_var", torch.ones_like(theirs.running_var))
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, x):
        mean = x.mean((0, 2, 3))
        var = (x * x).mean((0, 2, 3)) - mean * mean
        with torch.no_grad():
            self.running_mean.lerp_(mean, 0.1)
            self.running_var.lerp_(var, 0.1)
            self.num_batches_tracked += 1
        scale = self.weight * torch.rsqrt(var + 1e-5)
        return x * scale[:, None, None] + (self.bias - mean * scale)[:, None, None]


class Written(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = Stem()
        self.conv, self.bn = theirs.conv, Norm(theirs.bn)

    def forward(self, x):
        y = self.bn(self.conv(x)).clamp(min=0)
        return y.unflatten(2, (-1, 2)).unflatten(4, (-1, 2)).amax((3, 5))
