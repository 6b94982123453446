"""Positive and negative parts apart, each by softplus."""
import torch
from torch.nn.functional import softplus


def focal(logits, targets, alpha=0.25):
    positive = alpha * torch.sigmoid(-logits) ** 2 * softplus(-logits)
    negative = (1 - alpha) * torch.sigmoid(logits).square() * softplus(logits)
    return torch.where(targets > 0.5, positive, negative).sum() / logits.shape[0]
