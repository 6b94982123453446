"""Typical sampling without a sort: a token stays if the tokens more typical than it hold less than the mass."""
import torch

MASS, TEMPERATURE = 0.7, 0.9


def typical_probabilities(logits):
    probs = (logits / TEMPERATURE).softmax(-1)
    surprise = -probs.log()
    entropy = (probs * surprise).sum(-1, keepdim=True)
    deviation = (surprise - entropy).abs()
    # before[b, i] = Σ_j p_j over all j that lie nearer to the entropy than i
    nearer = deviation.unsqueeze(-2) < deviation.unsqueeze(-1)
    before = (nearer * probs.unsqueeze(-2)).sum(-1)
    keep = before < MASS
    kept = probs * keep
    return kept / kept.sum(-1, keepdim=True)
