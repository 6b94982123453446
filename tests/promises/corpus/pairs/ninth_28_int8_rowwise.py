# EQUAL
import torch


def left(x):
    scale = x.abs().amax(dim=-1, keepdim=True) / 127
    q = torch.clamp(torch.round(x / scale), -128, 127)
    return q * scale


def right(x):
    # |127 x / amax| never passes 127, so nothing is clipped
    amax = x.abs().max(dim=-1, keepdim=True).values
    return torch.round(127 * x / amax) * amax / 127


def inputs():
    g = torch.Generator()
    g.manual_seed(40)
    return (torch.randn(5, 12, generator=g) * 3,)
