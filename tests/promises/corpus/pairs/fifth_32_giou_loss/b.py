import torch
from torch.nn.functional import relu


def program(predicted, target):
    eps = 1e-7
    c1, s1 = predicted.split(2, dim=-1)
    c2, s2 = target.split(2, dim=-1)
    upper = torch.minimum(c1 + s1 / 2, c2 + s2 / 2)
    lower = torch.maximum(c1 - s1 / 2, c2 - s2 / 2)
    overlap = relu(upper - lower).prod(dim=-1)
    # min + max of two numbers is their sum, so the hull needs no second minimum and maximum
    hull = (s1 + s2 - (upper - lower)).prod(dim=-1)
    both = s1.prod(-1) + s2.prod(-1) - overlap
    loss = 1 - overlap / (both + eps) + (hull - both) / (hull + eps)
    return loss.sum() / loss.numel()
