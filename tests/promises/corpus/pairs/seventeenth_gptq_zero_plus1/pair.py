"""A linear from a GPTQ checkpoint (old format): AutoGPTQ's way to unpack it, and a port."""
import torch
from torch import nn

BITS, IN, OUT, GROUP = 4, 16, 8, 8
PACK = 32 // BITS
B = 3


class Checkpoint(nn.Module):
    def __init__(self):
        super().__init__()
        g = torch.Generator().manual_seed(11)
        low, high = -(2**31), 2**31
        self.register_buffer("qweight", torch.randint(low, high, (IN // PACK, OUT), generator=g).to(torch.int32))
        self.register_buffer("qzeros", torch.randint(low, high, (IN // GROUP, OUT // PACK), generator=g).to(torch.int32))
        self.scales = nn.Parameter(torch.rand(IN // GROUP, OUT, generator=g) * 0.05 + 0.01, requires_grad=False)
        self.bias = nn.Parameter(torch.randn(OUT, generator=g), requires_grad=False)
        self.register_buffer("g_idx", torch.arange(IN) // GROUP)


class AutoGPTQ(Checkpoint):
    def forward(self, x):
        wf = torch.arange(0, 32, BITS, dtype=torch.int32).unsqueeze(0)
        zeros = torch.bitwise_right_shift(self.qzeros.unsqueeze(2).expand(-1, -1, PACK), wf.unsqueeze(0))
        zeros = torch.bitwise_and(zeros, 2**BITS - 1) + 1
        zeros = zeros.reshape(self.scales.shape)
        weight = torch.bitwise_right_shift(self.qweight.unsqueeze(1).expand(-1, PACK, -1), wf.unsqueeze(-1))
        weight = torch.bitwise_and(weight, 2**BITS - 1).reshape(IN, OUT)
        weights = self.scales[self.g_idx] * (weight - zeros[self.g_idx]).to(x.dtype)
        return torch.matmul(x, weights) + self.bias


class Port(Checkpoint):
    def unpack(self, packed, dim):
        shifts = range(0, 32, BITS)
        return torch.stack([(packed >> s) & 15 for s in shifts], dim=dim)

    def forward(self, x):
        q = self.unpack(self.qweight, 1).flatten(0, 1).unflatten(0, (-1, GROUP))        # [G, GROUP, OUT]
        z = self.unpack(self.qzeros, 2).flatten(1)                                       # [G, OUT]
        w = (q - z[:, None]).to(x.dtype) * self.scales[:, None]
        return torch.addmm(self.bias, x, w.flatten(0, 1))


left = AutoGPTQ
right = Port


def inputs():
    return (torch.randn(B, IN),)
