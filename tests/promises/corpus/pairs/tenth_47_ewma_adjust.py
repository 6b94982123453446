# DIFFERENT
import torch


def left(x, logit_alpha):
    """pandas' Series.ewm(alpha, adjust=True).mean() along the last axis."""
    alpha = torch.sigmoid(logit_alpha)
    T = x.shape[-1]
    num = den = 0
    out = []
    for t in range(T):
        num = num * (1 - alpha) + x[..., t]
        den = den * (1 - alpha) + 1
        out.append(num / den)
    return torch.stack(out, -1)


def right(x, logit_alpha):
    """Recursive exponential smoothing, started at the first value."""
    alpha = torch.sigmoid(logit_alpha)
    level = x[..., 0]
    levels = [level]
    for value in x[..., 1:].unbind(-1):
        level = torch.lerp(level, value, alpha)
        levels.append(level)
    return torch.stack(levels, -1)


def inputs():
    return torch.randn(3, 6), torch.tensor(-0.4)
