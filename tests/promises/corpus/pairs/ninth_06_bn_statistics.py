# DIFFERENT
import torch
import torch.nn.functional as F
from torch import nn


class TorchBN(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(c))
        self.bias = nn.Parameter(torch.randn(c))
        self.register_buffer("running_mean", torch.randn(c))
        self.register_buffer("running_var", torch.rand(c) + 0.5)

    def forward(self, x):
        return F.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, training=True, momentum=0.1, eps=1e-5
        )


class HandBN(TorchBN):
    def forward(self, x):
        dims = (0, 2, 3)
        mean = x.mean(dims)
        var = (x - mean[:, None, None]).square().mean(dims)
        with torch.no_grad():
            self.running_mean += 0.1 * (mean - self.running_mean)
            self.running_var += 0.1 * (var - self.running_var)
        scale = self.weight * torch.rsqrt(var + 1e-5)
        shift = self.bias - mean * scale
        return x * scale[:, None, None] + shift[:, None, None]


torch.manual_seed(70)
left = TorchBN(4)
right = HandBN(4)
right.load_state_dict(left.state_dict())
inputs = (torch.randn(3, 4, 2, 3),)
