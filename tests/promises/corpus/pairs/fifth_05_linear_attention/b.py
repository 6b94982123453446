import torch


def feature_map(x):
    return torch.where(x > 0, x + 1, torch.exp(x))


def program(q, k, v):
    q, k, v = (z.transpose(1, 2) for z in (q, k, v))
    scores = feature_map(q) @ feature_map(k).transpose(-2, -1)
    weights = scores / (scores.sum(dim=-1, keepdim=True) + 1e-6)
    return (weights @ v).transpose(1, 2)
