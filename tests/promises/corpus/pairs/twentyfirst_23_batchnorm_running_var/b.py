import torch
from torch import nn
from torch.nn import functional as F


class BatchNorm(nn.Module):
    """Batch norm by sums, so that these can be reduced over processes."""

    def __init__(self, channels, momentum=0.1, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))
        self.register_buffer("num_batches_tracked", torch.tensor(0))
        self.momentum, self.eps = momentum, eps

    def forward(self, x):
        dims = (0, 2, 3)
        count = x.numel() / x.shape[1]
        total, squares = x.sum(dims), x.square().sum(dims)
        mean = total / count
        var = squares / count - mean.square()
        with torch.no_grad():
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(var, self.momentum)
        scale = self.weight * torch.rsqrt(var + self.eps)
        shift = self.bias - mean * scale
        return x * scale[:, None, None] + shift[:, None, None]


class Stem(nn.Module):
    def __init__(self, cin=3, cout=6):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride=2, padding=1, bias=False)
        self.bn = BatchNorm(cout)

    def forward(self, x):
        y = self.bn(self.conv(x))
        return y * F.relu6(y + 3) / 6


def make():
    m = Stem()
    nn.init.normal_(m.bn.weight)
    nn.init.normal_(m.bn.bias)
    return m.train()
