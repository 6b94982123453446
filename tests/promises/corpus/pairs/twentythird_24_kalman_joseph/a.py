"""Kalman filter of a local linear trend with learnt noise: filtered means and the likelihood of scalar measurements."""
import math

import torch
from torch import nn


class LocalTrend(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_level_noise = nn.Parameter(0.3 * torch.randn(()))
        self.log_slope_noise = nn.Parameter(0.3 * torch.randn(()))
        self.log_noise = nn.Parameter(0.3 * torch.randn(()))
        self.initial = nn.Parameter(torch.randn(2))

    def forward(self, series):
        transition = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
        observe = torch.tensor([1.0, 0.0])
        process = torch.diag(torch.stack([self.log_level_noise, self.log_slope_noise]).exp())
        noise = self.log_noise.exp()
        batch, time = series.shape
        mean = self.initial.expand(batch, 2)
        covariance = torch.eye(2)
        total, means = 0.0, []
        for t in range(time):
            mean = mean @ transition.T
            covariance = transition @ covariance @ transition.T + process
            innovation = series[:, t] - mean @ observe
            variance = observe @ covariance @ observe + noise
            gain = covariance @ observe / variance
            mean = mean + innovation[:, None] * gain
            covariance = covariance - torch.outer(gain, observe @ covariance)
            total = total - 0.5 * (innovation**2 / variance + torch.log(2 * math.pi * variance))
            means.append(mean)
        return torch.stack(means, dim=1), total


def inputs():
    return (torch.randn(3, 4),)
