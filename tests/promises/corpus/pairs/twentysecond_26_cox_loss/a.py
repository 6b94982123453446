"""A survival network with Cox's partial likelihood: the risk set of a patient is all who were followed at least as long."""

import torch
from torch import nn


class DeepSurv(nn.Module):
    def __init__(self, covariates=6, hidden=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(covariates, hidden), nn.SELU(), nn.Linear(hidden, hidden), nn.SELU())
        self.risk = nn.Linear(hidden, 1, bias=False)

    def forward(self, x, months, event):
        """x [N, covariates], months [N] of follow-up in whole months, event [N]: died (or censored)."""
        h = self.risk(self.encoder(x)).squeeze(1)
        at_risk = months[None, :] >= months[:, None]                     # [patient, who is at risk]
        log_sum = torch.where(at_risk, h[None, :], float("-inf")).logsumexp(1)
        partial = (h - log_sum) * event
        return -partial.sum() / event.sum().clamp(min=1)


def inputs():
    return torch.randn(14, 6), torch.randint(1, 37, (14,)), torch.rand(14) < 0.6
