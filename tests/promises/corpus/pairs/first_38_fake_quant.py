# EQUAL. symmetric int8 fake quantisation of weight and activation: torch's op vs round/clamp, in a linear
import torch
from torch import nn
import torch.nn.functional as F

S_X, S_W = 0.03125, 0.0078125      # powers of two: x / s and x * (1/s) agree exactly


class QLinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5, 8) * 0.4)
        self.bias = nn.Parameter(torch.randn(5))

    def forward(self, x):
        xq = torch.fake_quantize_per_tensor_affine(x, S_X, 0, -128, 127)
        wq = torch.fake_quantize_per_tensor_affine(self.weight, S_W, 0, -127, 127)
        return F.linear(xq, wq, self.bias)


class Hand(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.w = nn.Parameter(ref.weight.detach().clone())
        self.b = nn.Parameter(ref.bias.detach().clone())

    def forward(self, x):
        qx = torch.clamp(torch.round(x / S_X), -128, 127)
        qw = torch.round(self.w / S_W).clamp_(-127, 127)
        return (qx @ qw.t()) * (S_X * S_W) + self.b


torch.manual_seed(0)
left = QLinear()
right = Hand(left)
inputs = (torch.randn(4, 8),)
