"""Linear with 4-bit weights, two in a byte, scales and zero points by group: unpack, dequantise, matmul."""
import torch

GROUP = 4


def unpack(q):
    low = q & 0x0F
    high = q >> 4
    return torch.stack([low, high], dim=-1).flatten(-2)


def dequantise(qweight, scales, zeros):
    w = unpack(qweight).to(scales.dtype)
    n, k = w.shape
    w = w.view(n, k // GROUP, GROUP)
    w = (w - zeros.unsqueeze(-1)) * scales.unsqueeze(-1)
    return w.view(n, k)


def linear(x, qweight, scales, zeros, bias):
    w = dequantise(qweight, scales, zeros)
    return torch.nn.functional.linear(x, w, bias)


def inputs():
    n, k = 6, 16
    return (torch.randn(2, 3, k), torch.randint(0, 256, (n, k // 2), dtype=torch.uint8),
            torch.rand(n, k // GROUP) + 0.1, torch.randint(0, 16, (n, k // GROUP)).to(torch.get_default_dtype()), torch.randn(n))
