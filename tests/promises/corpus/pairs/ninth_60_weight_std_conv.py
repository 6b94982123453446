# DIFFERENT
import torch
from torch import nn
import torch.nn.functional as F


class StdConv2d(nn.Conv2d):
    "BiT / ResNetV2"

    def forward(self, x):
        w = self.weight
        v, m = torch.var_mean(w, dim=[1, 2, 3], keepdim=True, unbiased=False)
        w = (w - m) / torch.sqrt(v + 1e-10)
        return F.conv2d(x, w, self.bias, self.stride, self.padding)


class StdConvPort(nn.Module):
    def __init__(self, conv):
        super().__init__()
        self.kernel = nn.Parameter(conv.weight.detach().clone())
        self.bias = nn.Parameter(conv.bias.detach().clone())

    def forward(self, x):
        flat = self.kernel.flatten(1)
        flat = flat - flat.mean(1, keepdim=True)
        flat = flat * torch.rsqrt(flat.var(1, keepdim=True) + 1e-10)
        return F.conv2d(x, flat.view_as(self.kernel), self.bias, padding=1)


torch.manual_seed(5)
left = StdConv2d(3, 4, 3, padding=1)
right = StdConvPort(left)
inputs = (torch.randn(2, 3, 6, 6),)
