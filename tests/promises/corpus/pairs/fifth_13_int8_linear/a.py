import torch
from torch import nn
from torch.nn import functional as F


class DequantLinear(nn.Module):
    """Asymmetric 8-bit weights, one scale and zero point for each output channel."""

    def __init__(self, inside=24, outside=10):
        super().__init__()
        g = torch.Generator().manual_seed(3)
        self.register_buffer("weight_q", torch.randint(-128, 128, (outside, inside), generator=g).to(torch.int8))
        self.register_buffer("scale", torch.rand(outside, 1, generator=g) * 0.01 + 0.001)
        self.register_buffer("zero_point", torch.randint(-20, 20, (outside, 1), generator=g).to(torch.int32))
        self.bias = nn.Parameter(torch.randn(outside, generator=g))

    def forward(self, x):
        weight = (self.weight_q.to(x.dtype) - self.zero_point.to(x.dtype)) * self.scale
        return F.linear(x, weight, self.bias)


program = DequantLinear().eval()
