"""The same in the form that keeps covariances positive: Joseph's update, (I - KH) P (I - KH)ᵀ + K R Kᵀ, and level and slope apart."""
import math

import torch
from a import LocalTrend
from torch import nn


class JosephTrend(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = LocalTrend()
        self.log_level_noise, self.log_slope_noise = theirs.log_level_noise, theirs.log_slope_noise
        self.log_noise = theirs.log_noise
        self.initial = theirs.initial

    def predicted(self, level, slope, covariance):
        (a, b), (c, d) = covariance
        first = torch.stack([a + b + c + d + self.log_level_noise.exp(), b + d])
        second = torch.stack([c + d, d + self.log_slope_noise.exp()])
        return level + slope, slope, torch.stack([first, second])

    def joseph(self, covariance, gain):
        observe = torch.tensor([[1.0, 0.0]])
        keep = torch.eye(2) - gain[:, None] @ observe
        return keep @ covariance @ keep.T + self.log_noise.exp() * gain[:, None] @ gain[None, :]

    def forward(self, series):
        level, slope = self.initial[0].expand(len(series)), self.initial[1].expand(len(series))
        covariance = torch.eye(2)
        likelihood = torch.zeros(len(series))
        levels, slopes = [], []
        for measured in series.unbind(1):
            level, slope, covariance = self.predicted(level, slope, covariance)
            variance = covariance[0, 0] + self.log_noise.exp()
            gain = covariance[:, 0] / variance
            error = measured - level
            level, slope = level + gain[0] * error, slope + gain[1] * error
            covariance = self.joseph(covariance, gain)
            likelihood = likelihood - 0.5 * error * error / variance
            likelihood = likelihood - 0.5 * torch.log(2 * math.pi * variance)
            levels.append(level)
            slopes.append(slope)
        return torch.stack([torch.stack(levels, 1), torch.stack(slopes, 1)], dim=2), likelihood
