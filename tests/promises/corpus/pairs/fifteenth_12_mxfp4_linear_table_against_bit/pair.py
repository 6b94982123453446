"""A linear over MXFP4 blocks: values from a table, and from the bits."""
import torch

FP4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)
BLOCK = 8


def by_table(x, packed, exponents):
    table = torch.tensor(FP4, dtype=x.dtype)
    low, high = packed & 15, (packed >> 4) & 15
    values = torch.stack([table[low], table[high]], dim=-1).flatten(1)
    scale = torch.exp2((exponents - 127).to(x.dtype))
    weight = values.view(values.shape[0], -1, BLOCK) * scale.unsqueeze(-1)
    return x @ weight.flatten(1).T


def by_bits(x, packed, exponents):
    shifts = torch.tensor([0, 4])
    codes = (packed.unsqueeze(-1) >> shifts).flatten(1)
    sign = 1 - 2 * ((codes >> 3) & 1)
    exponent = (codes >> 1) & 3
    mantissa = (codes & 1).to(x.dtype) / 2
    normal = (1 + mantissa) * torch.exp2((exponent - 1).to(x.dtype))
    values = sign * torch.where(exponent == 0, mantissa, normal)
    blocks = x.unflatten(-1, (-1, BLOCK))
    partial = torch.einsum("bgk,ogk->bog", blocks, values.unflatten(-1, (-1, BLOCK)))
    return (partial * 2.0 ** (exponents - 127).to(x.dtype)).sum(-1)


def left():
    return by_table


def right():
    return by_bits


def inputs():
    return torch.randn(3, 16), torch.randint(0, 256, (5, 8)), torch.randint(124, 130, (5, 2))
