"""Contrastive decoding: scores of expert and amateur with the plausibility constraint, with logits and with probabilities."""
import math

import torch
from torch import nn

ALPHA, BETA = 0.1, 0.5


class left(nn.Module):
    def __init__(self, dim=6, vocab=9):
        super().__init__()
        self.expert, self.amateur = nn.Linear(dim, vocab), nn.Linear(dim, vocab)

    def forward(self, h_expert, h_amateur):
        e, a = self.expert(h_expert), self.amateur(h_amateur)
        cutoff = math.log(ALPHA) + e.max(dim=-1, keepdim=True).values
        diffs = (1 + BETA) * e - BETA * a
        return diffs.masked_fill(e < cutoff, -float("inf")).softmax(-1)


class right(nn.Module):
    def __init__(self, dim=6, vocab=9):
        super().__init__()
        ref = left(dim, vocab)
        self.expert, self.amateur = ref.expert, ref.amateur

    def forward(self, h_expert, h_amateur):
        p, q = self.expert(h_expert).softmax(-1), self.amateur(h_amateur).softmax(-1)
        keep = p >= ALPHA * p.amax(-1, keepdim=True)
        score = torch.where(keep, p * (p / q).pow(BETA), 0)
        return score / score.sum(-1, keepdim=True)


def inputs():
    return torch.randn(4, 6) * 2, torch.randn(4, 6) * 2
