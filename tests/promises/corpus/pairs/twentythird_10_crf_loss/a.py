"""Negative log likelihood of a linear-chain CRF over an emission layer, in log space (as pytorch-crf does it)."""
import torch
from torch import nn

FEATURES, TAGS = 6, 4


class CRFLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.emission = nn.Linear(FEATURES, TAGS)
        self.start_transitions = nn.Parameter(torch.randn(TAGS))
        self.end_transitions = nn.Parameter(torch.randn(TAGS))
        self.transitions = nn.Parameter(torch.randn(TAGS, TAGS))

    def score(self, emissions, tags):
        time, batch = tags.shape
        rows = torch.arange(batch)
        score = self.start_transitions[tags[0]] + emissions[0, rows, tags[0]]
        for t in range(1, time):
            score = score + self.transitions[tags[t - 1], tags[t]] + emissions[t, rows, tags[t]]
        return score + self.end_transitions[tags[-1]]

    def normalizer(self, emissions):
        score = self.start_transitions + emissions[0]
        for t in range(1, emissions.shape[0]):
            step = score.unsqueeze(2) + self.transitions + emissions[t].unsqueeze(1)
            score = torch.logsumexp(step, dim=1)
        return torch.logsumexp(score + self.end_transitions, dim=1)

    def forward(self, features, tags):
        emissions = self.emission(features)
        return (self.normalizer(emissions) - self.score(emissions, tags)).mean()


def inputs():
    return torch.randn(5, 3, FEATURES), torch.randint(0, TAGS, (5, 3))
