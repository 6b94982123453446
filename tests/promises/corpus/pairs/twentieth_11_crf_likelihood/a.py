"""Negative log likelihood of a linear-chain CRF in the way of pytorch-crf (batch first)."""
import torch
from torch import nn

TAGS = 4


class CRF(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = nn.Parameter(torch.randn(TAGS))
        self.end = nn.Parameter(torch.randn(TAGS))
        self.transitions = nn.Parameter(torch.randn(TAGS, TAGS))

    def score(self, emissions, tags, mask):
        batch, length = tags.shape
        rows = torch.arange(batch)
        kept = mask.to(emissions.dtype)
        score = self.start[tags[:, 0]] + emissions[rows, 0, tags[:, 0]]
        for t in range(1, length):
            score = score + self.transitions[tags[:, t - 1], tags[:, t]] * kept[:, t]
            score = score + emissions[rows, t, tags[:, t]] * kept[:, t]
        last = mask.long().sum(1) - 1
        return score + self.end[tags[rows, last]]

    def normaliser(self, emissions, mask):
        score = self.start + emissions[:, 0]
        for t in range(1, emissions.shape[1]):
            step = score.unsqueeze(2) + self.transitions + emissions[:, t].unsqueeze(1)
            following = torch.logsumexp(step, dim=1)
            score = torch.where(mask[:, t].unsqueeze(1), following, score)
        return torch.logsumexp(score + self.end, dim=1)

    def forward(self, emissions, tags, lengths):
        mask = torch.arange(tags.shape[1]) < lengths[:, None]
        return (self.normaliser(emissions, mask) - self.score(emissions, tags, mask)).mean()


def inputs():
    return torch.randn(3, 5, TAGS), torch.randint(0, TAGS, (3, 5)), torch.tensor([5, 3, 4])
