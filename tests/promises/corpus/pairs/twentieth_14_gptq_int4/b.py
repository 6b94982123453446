"""The same group by group on integer codes, zero points taken off by sums of the activations, as kernels do."""
import torch

BITS, GROUP, IN, OUT = 4, 8, 16, 16


def nibbles(packed, dim):
    parts = [(packed >> (BITS * i)) & 0xF for i in range(32 // BITS)]
    return torch.stack(parts, dim=dim + 1).flatten(dim, dim + 1)


def by_groups(x, qweight, qzeros, scales, bias):
    codes = nibbles(qweight, 0).to(x.dtype)
    zeros = (nibbles(qzeros, 1) + 1).to(x.dtype)
    out = bias.expand(x.shape[0], -1)
    for g in range(IN // GROUP):
        rows = slice(g * GROUP, (g + 1) * GROUP)
        part = x[:, rows]
        raw = part @ codes[rows]
        correction = part.sum(1, keepdim=True) * zeros[g]
        out = out + (raw - correction) * scales[g]
    return out
