# EQUAL
import torch

DECAY = 0.99


def left(shadow, weight):
    """shadow <- decay * shadow + (1 - decay) * weight, in place"""
    shadow.mul_(DECAY).add_(weight, alpha=1 - DECAY)
    return (weight - shadow).abs().mean()


def right(shadow, weight):
    shadow.lerp_(weight, 1 - DECAY)
    return torch.mean(torch.abs(shadow - weight))


def inputs():
    gen = torch.Generator().manual_seed(5)
    return torch.randn(4, 6, generator=gen), torch.randn(4, 6, generator=gen)
