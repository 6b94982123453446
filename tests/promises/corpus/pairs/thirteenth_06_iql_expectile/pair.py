import torch

TAU = 0.8


def left(q1, q2, value):
    """As in the IQL paper's code."""
    diff = torch.minimum(q1, q2) - value
    weight = torch.where(diff > 0, TAU, 1 - TAU)
    return (weight * diff**2).mean()


def right(q1, q2, value):
    """As in CORL."""
    q = torch.min(torch.stack([q1, q2]), dim=0).values
    u = q - value
    return torch.mean(torch.abs(TAU - (u < 0).to(u.dtype)) * u.pow(2))


inputs = (torch.randn(12), torch.randn(12), torch.randn(12))
