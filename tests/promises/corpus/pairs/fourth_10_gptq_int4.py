# EQUAL
"""4-bit linear: GPTQ's packed int32 words, and our layout (int8 codes, the scale applied to partial sums of groups)."""
import torch
from torch import nn

GROUP = 16


class PackedLinear(nn.Module):
    def __init__(self, codes, zeros, scales, bias):
        super().__init__()
        # codes: in x out, 0..15; zeros, scales: groups x out
        words = torch.zeros(codes.shape[0] // 8, codes.shape[1], dtype=torch.int64)
        for j in range(8):
            words |= codes[j::8].long() << (4 * j)
        words = torch.where(words >= 2 ** 31, words - 2 ** 32, words)
        self.register_buffer("qweight", words.to(torch.int32))
        zwords = torch.zeros(zeros.shape[0], zeros.shape[1] // 8, dtype=torch.int64)
        for j in range(8):
            zwords |= (zeros[:, j::8].long() - 1) << (4 * j)           # GPTQ keeps zero - 1
        zwords = torch.where(zwords >= 2 ** 31, zwords - 2 ** 32, zwords)
        self.register_buffer("qzeros", zwords.to(torch.int32))
        self.scales = nn.Parameter(scales, requires_grad=False)
        self.bias = nn.Parameter(bias, requires_grad=False)
        self.register_buffer("g_idx", torch.arange(codes.shape[0]) // GROUP)
        self.register_buffer("wf", torch.arange(0, 32, 4, dtype=torch.int32))

    def forward(self, x):
        zeros = torch.bitwise_right_shift(self.qzeros[:, :, None], self.wf[None, None, :]) & 0xF
        zeros = (zeros + 1).reshape(self.scales.shape)
        weight = torch.bitwise_right_shift(self.qweight[:, None, :], self.wf[None, :, None]) & 0xF
        weight = weight.reshape(-1, weight.shape[-1])
        weights = self.scales[self.g_idx] * (weight - zeros[self.g_idx])
        return x @ weights.to(x.dtype) + self.bias


class GroupedLinear(nn.Module):
    def __init__(self, codes, zeros, scales, bias):
        super().__init__()
        self.register_buffer("codes", codes.to(torch.int8))
        self.register_buffer("zeros", zeros.to(torch.int8))
        self.scales = nn.Parameter(scales.clone(), requires_grad=False)
        self.bias = nn.Parameter(bias.clone(), requires_grad=False)

    def forward(self, x):
        y = self.bias
        for g, (c, z, s) in enumerate(zip(self.codes.split(GROUP), self.zeros, self.scales)):
            xg = x[..., g * GROUP:(g + 1) * GROUP]
            y = y + s * (xg @ c.to(x.dtype) - xg.sum(-1, keepdim=True) * z)
        return y


torch.manual_seed(10)
codes = torch.randint(0, 16, (48, 24))
zeros = torch.randint(1, 16, (3, 24))
scales = torch.rand(3, 24) * 0.1 + 0.01
bias = torch.randn(24)
left = PackedLinear(codes, zeros, scales, bias)
right = GroupedLinear(codes, zeros, scales, bias)
inputs = (torch.randn(4, 48),)
