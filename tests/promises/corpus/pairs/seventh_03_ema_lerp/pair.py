import torch

torch.manual_seed(103)
DECAY = 0.99


def left(shadow, params):
    """Moves the averaged weights, and says how far they lag behind."""
    for s, p in zip(shadow, params):
        s.mul_(DECAY).add_(p, alpha=1 - DECAY)
    return sum(((s - p) ** 2).sum() for s, p in zip(shadow, params))


def right(shadow, params):
    torch._foreach_lerp_(shadow, params, 1 - DECAY)
    lag = torch._foreach_sub(params, shadow)
    return torch.stack([d.square().sum() for d in lag]).sum()


def inputs():
    g = torch.Generator().manual_seed(3)
    shapes = [(4, 3), (4,), (2, 4)]
    shadow = [torch.randn(s, generator=g) for s in shapes]
    params = [torch.randn(s, generator=g) for s in shapes]
    return shadow, params
