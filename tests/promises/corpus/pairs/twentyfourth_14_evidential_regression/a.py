"""Deep evidential regression (Amini et al.): head, negative log-likelihood and the evidence regulariser."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class DenseNormalGamma(nn.Module):
    def __init__(self, features, units=1):
        super().__init__()
        self.units = units
        self.dense = nn.Linear(features, 4 * units)

    def forward(self, x):
        mu, logv, logalpha, logbeta = self.dense(x).split(self.units, dim=-1)
        return mu, F.softplus(logv), F.softplus(logalpha) + 1, F.softplus(logbeta)


def nig_nll(y, gamma, v, alpha, beta):
    twoBlambda = 2 * beta * (1 + v)
    nll = (
        0.5 * torch.log(math.pi / v)
        - alpha * torch.log(twoBlambda)
        + (alpha + 0.5) * torch.log(v * (y - gamma) ** 2 + twoBlambda)
        + torch.lgamma(alpha)
        - torch.lgamma(alpha + 0.5)
    )
    return nll.mean()


def nig_reg(y, gamma, v, alpha):
    error = torch.abs(y - gamma)
    evi = 2 * v + alpha
    return (error * evi).mean()


class EvidentialLoss(nn.Module):
    def __init__(self, coeff=0.01):
        super().__init__()
        self.head, self.coeff = DenseNormalGamma(6, 2), coeff

    def forward(self, x, y):
        gamma, v, alpha, beta = self.head(x)
        loss = nig_nll(y, gamma, v, alpha, beta) + self.coeff * nig_reg(y, gamma, v, alpha)
        epistemic = beta / (v * (alpha - 1))
        return loss, epistemic


def inputs():
    return torch.randn(5, 6), torch.randn(5, 2)
