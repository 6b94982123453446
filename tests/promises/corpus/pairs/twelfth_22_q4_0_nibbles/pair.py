"""A linear layer on 4-bit weights in blocks, one scale a block, two values a byte."""
import torch
from torch import nn

QK = 8


class Q4Linear(nn.Module):
    def __init__(self, in_features=16, out_features=6):
        super().__init__()
        blocks = in_features // QK
        self.register_buffer("qs", torch.randint(0, 256, (out_features, blocks, QK // 2), dtype=torch.uint8))
        self.d = nn.Parameter(torch.rand(out_features, blocks) * 0.1 + 0.01)

    def dequantize(self):
        low = (self.qs & 0x0F).to(torch.int32) - 8
        high = (self.qs >> 4).to(torch.int32) - 8
        q = torch.cat([low, high], dim=-1)
        return (q.to(self.d.dtype) * self.d[..., None]).flatten(1)

    def forward(self, x):
        return x @ self.dequantize().T


class Port(Q4Linear):
    def dequantize(self):
        q = torch.stack([self.qs % 16, self.qs // 16], dim=-1).flatten(-2)
        w = (q.to(self.d.dtype) - 8.0) * self.d.unsqueeze(-1)
        return w.reshape(w.shape[0], -1)

    def forward(self, x):
        return torch.einsum("bi,oi->bo", x, self.dequantize())


left = Q4Linear
right = Port
inputs = (torch.randn(3, 16),)
