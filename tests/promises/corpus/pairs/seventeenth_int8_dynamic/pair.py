"""A W8A8 linear with dynamic scales per token: integer arithmetic, and its simulation in float."""
import torch
from torch import nn

IN, OUT = 12, 5
B, T = 2, 4


class Int8Linear(nn.Module):
    def __init__(self):
        super().__init__()
        g = torch.Generator().manual_seed(3)
        self.register_buffer("weight", torch.randint(-127, 128, (OUT, IN), generator=g, dtype=torch.int8))
        self.weight_scale = nn.Parameter(torch.rand(OUT, generator=g) * 0.01 + 0.001, requires_grad=False)
        self.bias = nn.Parameter(torch.randn(OUT, generator=g), requires_grad=False)

    def forward(self, x):
        shape = x.shape[:-1]
        x = x.reshape(-1, IN)
        scale = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-5) / 127.0
        xq = torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8)
        acc = torch.matmul(xq.to(torch.int32), self.weight.t().to(torch.int32))
        out = acc.to(x.dtype) * scale * self.weight_scale + self.bias
        return out.view(*shape, OUT)


class Simulated(Int8Linear):
    def forward(self, x):
        absmax = x.abs().max(dim=-1, keepdim=True).values.clamp(min=1e-5)
        xq = (x * (127.0 / absmax)).round().clamp(-128, 127)
        w = self.weight.to(x.dtype) * self.weight_scale[:, None]
        return nn.functional.linear(xq * (absmax / 127.0), w, self.bias)


left = Int8Linear
right = Simulated


def inputs():
    return (torch.randn(B, T, IN),)
