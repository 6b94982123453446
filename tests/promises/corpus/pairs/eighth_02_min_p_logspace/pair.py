import math

import torch

MIN_P, TEMP = 0.15, 0.8


def min_p_filter(logits):
    """As a sampler that works with probabilities does it."""
    logits = logits / TEMP
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    remove = probs < MIN_P * top
    kept = logits.masked_fill(remove, -float("inf"))
    return torch.softmax(kept, dim=-1)


def min_p_from_logits(logits):
    """p < a * p_max  <=>  z < z_max + log a, so no first softmax is needed."""
    z = logits * (1.0 / TEMP)
    z = z - z.amax(-1, keepdim=True)
    e = torch.where(z >= math.log(MIN_P), z.exp(), torch.zeros_like(z))
    return e / e.sum(-1, keepdim=True)


left, right = min_p_filter, min_p_from_logits
inputs = (torch.randn(4, 32) * 2,)
