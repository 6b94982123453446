"""Eta sampling (entropy-dependent truncation of the distribution over tokens)."""
import math

import torch

EPSILON = 0.05


def left(logits):
    """As the warper of transformers does it, with probabilities."""
    probs = logits.softmax(dim=-1)
    entropy = torch.distributions.Categorical(logits=logits, validate_args=False).entropy()
    eta = torch.min(torch.tensor(EPSILON, dtype=logits.dtype), math.sqrt(EPSILON) * torch.exp(-entropy))[..., None]
    return logits.masked_fill(probs < eta, -float("inf"))


def right(logits):
    """In log space, for the fused sampler."""
    logp = torch.log_softmax(logits, dim=-1)
    entropy = -(logp.exp() * logp).sum(-1, keepdim=True)
    log_eta = (0.5 * math.log(EPSILON) - entropy).clamp(max=math.log(EPSILON))
    return torch.where(logp >= log_eta, logits, float("-inf"))


def inputs():
    return (2 * torch.randn(3, 12),)
