# DIFFERENT
# BitLinear of BitNet b1.58: ternary weights by the mean absolute value, 8-bit activations by the maximum of a token
import torch
from torch import nn
import torch.nn.functional as F


def activation_quant(x):
    scale = 127.0 / x.abs().max(dim=-1, keepdim=True).values.clamp_(min=1e-5)
    return (x * scale).round().clamp_(-128, 127) / scale


class BitLinear(nn.Linear):
    def forward(self, x):
        scale = 1.0 / self.weight.abs().mean().clamp_(min=1e-5)
        w = (self.weight * scale).round().clamp_(-1, 1) / scale
        return F.linear(activation_quant(x), w, self.bias)


class TernaryLinear(nn.Module):
    def __init__(self):
        super().__init__()
        layer = BitLinear(12, 6)
        self.weight, self.bias = layer.weight, layer.bias

    def forward(self, x):
        absmax = torch.clamp_min(x.abs().amax(-1, keepdim=True), 1e-5)
        xq = torch.clamp(torch.round(x * (127.0 / absmax)), -128, 127)
        beta = self.weight.abs().mean(dim=1).clamp_min(1e-5)          # one scale per output row
        wq = torch.clamp(torch.round(self.weight / beta[:, None]), -1, 1)
        return (xq @ wq.t()) * (absmax / 127.0) * beta + self.bias


def left():
    return BitLinear(12, 6)


right = TernaryLinear


def inputs():
    return (torch.randn(4, 12),)
