import torch
from torch import nn

from a import DequantLinear


class ScaledLinear(nn.Module):
    """Multiply by the codes; zero point and scale come after the product."""

    def __init__(self, other):
        super().__init__()
        self.register_buffer("codes", other.weight_q.t().contiguous())
        self.register_buffer("scale", other.scale[:, 0].clone())
        self.register_buffer("zero_point", other.zero_point[:, 0].clone())
        self.bias = nn.Parameter(other.bias.detach().clone())

    def forward(self, x):
        acc = x @ self.codes.to(x.dtype)
        correction = x.sum(dim=-1, keepdim=True) * self.zero_point.to(x.dtype)
        return (acc - correction) * self.scale + self.bias


program = ScaledLinear(DequantLinear()).eval()
