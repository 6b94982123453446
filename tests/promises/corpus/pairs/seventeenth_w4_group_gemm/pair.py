"""A 4-bit linear with groups: dequantise, then multiply; and the order in which the GEMM kernel does it."""
import torch
from torch import nn

IN, OUT, GROUP = 16, 6, 4
B, T = 2, 5


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        g = torch.Generator().manual_seed(7)
        self.register_buffer("qweight", torch.randint(0, 256, (OUT, IN // 2), generator=g, dtype=torch.uint8))
        self.register_buffer("zeros", torch.randint(0, 16, (OUT, IN // GROUP), generator=g, dtype=torch.uint8))
        self.scales = nn.Parameter(torch.rand(OUT, IN // GROUP, generator=g) * 0.1 + 0.02, requires_grad=False)
        self.bias = nn.Parameter(torch.randn(OUT, generator=g), requires_grad=False)


class Dequantised(Packed):
    def forward(self, x):
        low, high = self.qweight & 0x0F, self.qweight >> 4
        q = torch.stack([low, high], dim=-1).reshape(OUT, IN // GROUP, GROUP)
        w = (q.to(x.dtype) - self.zeros.to(x.dtype)[:, :, None]) * self.scales[:, :, None]
        return nn.functional.linear(x, w.reshape(OUT, IN), self.bias)


class GroupGemm(Packed):
    def forward(self, x):
        q = torch.empty(OUT, IN, dtype=torch.uint8)
        q[:, 0::2] = self.qweight % 16
        q[:, 1::2] = self.qweight // 16
        acc = self.bias.expand(*x.shape[:-1], OUT)
        for g in range(IN // GROUP):
            part = x[..., g * GROUP : (g + 1) * GROUP]
            dot = part @ q[:, g * GROUP : (g + 1) * GROUP].to(x.dtype).t()
            dot = dot - part.sum(-1, keepdim=True) * self.zeros[:, g].to(x.dtype)
            acc = acc + dot * self.scales[:, g]
        return acc


left = Dequantised
right = GroupGemm


def inputs():
    return (torch.randn(B, T, IN),)
