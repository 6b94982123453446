# DIFFERENT
import torch
import torch.nn.functional as F


def left(x, weight, bias):
    k = weight.shape[-1]
    return F.silu(F.conv1d(F.pad(x, (k - 1, 0)), weight, bias, groups=x.shape[1]))


def right(x, weight, bias):
    k = weight.shape[-1]
    y = F.conv1d(x, weight, bias, padding=k - 1, groups=x.shape[1])
    y = y[..., k - 1:]
    return F.silu(y)


def inputs():
    g = torch.Generator().manual_seed(123)
    return (
        torch.randn(2, 6, 9, generator=g),
        torch.randn(6, 1, 4, generator=g),
        torch.randn(6, generator=g),
    )
