"""A local linear trend model, filtered: state (level, slope), one measurement per step, some of them missing."""

import torch
from torch import nn


class LocalLinearTrend(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_q = nn.Parameter(0.5 * torch.randn(2))                  # log variances of level and slope
        self.log_r = nn.Parameter(0.5 * torch.randn(()))
        self.mean0 = nn.Parameter(torch.randn(2))
        self.log_p0 = nn.Parameter(0.5 * torch.randn(2))
        self.register_buffer("F", torch.tensor([[1.0, 1.0], [0.0, 1.0]]))
        self.register_buffer("h", torch.tensor([1.0, 0.0]))

    def forward(self, y, seen):
        """y [B, T], seen [B, T] of booleans → filtered means [B, T, 2], their variances, and the log likelihood [B]."""
        B, T = y.shape
        Q, R = torch.diag(self.log_q.exp()), self.log_r.exp()
        eye = torch.eye(2)
        mean = self.mean0.expand(B, 2)
        P = torch.diag(self.log_p0.exp()).expand(B, 2, 2)
        means, variances = [], []
        loglik = y.new_zeros(B)
        for t in range(T):
            if t > 0:
                mean = mean @ self.F.T
                P = self.F @ P @ self.F.T + Q
            innovation = y[:, t] - mean @ self.h
            S = torch.einsum("i,bij,j->b", self.h, P, self.h) + R
            K = (P @ self.h) / S[:, None]                                # [B, 2]
            I_KH = eye - K[:, :, None] * self.h
            # Joseph form: stays symmetric and positive
            joseph = I_KH @ P @ I_KH.transpose(1, 2) + R * K[:, :, None] * K[:, None, :]
            use = seen[:, t]
            mean = torch.where(use[:, None], mean + K * innovation[:, None], mean)
            P = torch.where(use[:, None, None], joseph, P)
            loglik = loglik - torch.where(use, 0.5 * (torch.log(2 * torch.pi * S) + innovation**2 / S), 0.0)
            means.append(mean)
            variances.append(torch.diagonal(P, dim1=1, dim2=2))
        return torch.stack(means, 1), torch.stack(variances, 1), loglik


def inputs():
    return torch.randn(3, 4), torch.rand(3, 4) < 0.75
