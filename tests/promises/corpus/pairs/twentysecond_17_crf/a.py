"""A tagger with a linear-chain CRF, as pytorch-crf computes its negative log likelihood: time first, forward algorithm."""

import torch
from torch import nn


class CRFTagger(nn.Module):
    def __init__(self, features=7, tags=4):
        super().__init__()
        self.emission = nn.Linear(features, tags)
        self.start_transitions = nn.Parameter(torch.randn(tags))
        self.end_transitions = nn.Parameter(torch.randn(tags))
        self.transitions = nn.Parameter(torch.randn(tags, tags))

    def score(self, emissions, tags, mask):
        T, B = tags.shape
        rows = torch.arange(B)
        keep = mask.to(emissions.dtype)
        score = self.start_transitions[tags[0]] + emissions[0, rows, tags[0]]
        for i in range(1, T):
            score = score + self.transitions[tags[i - 1], tags[i]] * keep[i]
            score = score + emissions[i, rows, tags[i]] * keep[i]
        ends = mask.long().sum(0) - 1
        return score + self.end_transitions[tags[ends, rows]]

    def normalizer(self, emissions, mask):
        score = self.start_transitions + emissions[0]
        for i in range(1, emissions.shape[0]):
            step = score.unsqueeze(2) + self.transitions + emissions[i].unsqueeze(1)
            step = torch.logsumexp(step, dim=1)
            score = torch.where(mask[i].unsqueeze(1), step, score)
        return torch.logsumexp(score + self.end_transitions, dim=1)

    def forward(self, x, tags, lengths):
        """x [B, T, features], tags [B, T], lengths [B]; an empty sentence counts as one of one word."""
        lengths = lengths.clamp(min=1)
        mask = (torch.arange(x.shape[1])[None] < lengths[:, None]).t()
        emissions, tags = self.emission(x).transpose(0, 1), tags.t()
        return (self.normalizer(emissions, mask) - self.score(emissions, tags, mask)).mean()


def inputs():
    return torch.randn(3, 5, 7), torch.randint(0, 4, (3, 5)), torch.tensor([5, 2, 4])
