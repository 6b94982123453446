"""The filter by hand for a time-series service: the three numbers of a symmetric covariance, no matrices."""

import math

import torch
from torch import nn


class TrendByHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_q = nn.Parameter(0.5 * torch.randn(2))
        self.log_r = nn.Parameter(0.5 * torch.randn(()))
        self.mean0 = nn.Parameter(torch.randn(2))
        self.log_p0 = nn.Parameter(0.5 * torch.randn(2))

    def forward(self, y, seen):
        q_level, q_slope = self.log_q.exp().unbind()
        r = self.log_r.exp()
        w = seen.to(y.dtype)
        level = self.mean0[0] + torch.zeros_like(y[:, 0])
        slope = self.mean0[1] + torch.zeros_like(y[:, 0])
        p00 = self.log_p0[0].exp() + torch.zeros_like(y[:, 0])
        p11 = self.log_p0[1].exp() + torch.zeros_like(y[:, 0])
        p01 = torch.zeros_like(y[:, 0])
        levels, slopes, var0, var1, fits = [], [], [], [], []
        for t in range(y.shape[1]):
            if t > 0:
                level = level + slope
                p00, p01, p11 = p00 + 2 * p01 + p11 + q_level, p01 + p11, p11 + q_slope
            s = p00 + r
            k0, k1 = w[:, t] * p00 / s, w[:, t] * p01 / s                # no gain where nothing was measured
            error = y[:, t] - level
            fits.append(w[:, t] * (math.log(2 * math.pi) + s.log() + error * error / s))
            level, slope = level + k0 * error, slope + k1 * error
            p00, p01, p11 = (1 - k0) * p00, (1 - k0) * p01, p11 - k1 * p01
            levels.append(level)
            slopes.append(slope)
            var0.append(p00)
            var1.append(p11)
        means = torch.stack([torch.stack(levels, 1), torch.stack(slopes, 1)], -1)
        variances = torch.stack([torch.stack(var0, 1), torch.stack(var1, 1)], -1)
        return means, variances, -0.5 * torch.stack(fits).sum(0)
