"""Negative log-likelihood of a linear-chain CRF: alphas from the left, or betas from the right."""
import torch
from torch import nn
from torch.nn import functional as F


class Forward(nn.Module):
    def __init__(self, tags=4):
        super().__init__()
        self.start = nn.Parameter(torch.randn(tags))
        self.end = nn.Parameter(torch.randn(tags))
        self.transitions = nn.Parameter(torch.randn(tags, tags))

    def forward(self, emissions, tags):
        score = self.start[tags[:, 0]] + emissions[:, 0].gather(1, tags[:, :1]).squeeze(1)
        alpha = self.start + emissions[:, 0]
        for t in range(1, emissions.shape[1]):
            score = score + self.transitions[tags[:, t - 1], tags[:, t]]
            score = score + emissions[:, t].gather(1, tags[:, t : t + 1]).squeeze(1)
            alpha = torch.logsumexp(alpha[:, :, None] + self.transitions + emissions[:, t, None], dim=1)
        score = score + self.end[tags[:, -1]]
        return (torch.logsumexp(alpha + self.end, 1) - score).mean()


class Backward(nn.Module):
    def __init__(self, tags=4):
        super().__init__()
        self.start = nn.Parameter(torch.randn(tags))
        self.end = nn.Parameter(torch.randn(tags))
        self.transitions = nn.Parameter(torch.randn(tags, tags))

    def forward(self, emissions, tags):
        one_hot = F.one_hot(tags, self.start.shape[0]).to(emissions.dtype)
        moves = torch.einsum("bti,ij,btj->b", one_hot[:, :-1], self.transitions, one_hot[:, 1:])
        gold = (one_hot * emissions).sum((1, 2)) + one_hot[:, 0] @ self.start + one_hot[:, -1] @ self.end + moves
        beta = self.end.expand(emissions.shape[0], -1)
        for t in reversed(range(1, emissions.shape[1])):
            beta = (self.transitions[None] + (emissions[:, t] + beta)[:, None, :]).logsumexp(-1)
        return ((self.start + emissions[:, 0] + beta).logsumexp(-1) - gold).sum() / emissions.shape[0]


left, right = Forward, Backward


def inputs():
    return torch.randn(3, 4, 4), torch.randint(0, 4, (3, 4))
