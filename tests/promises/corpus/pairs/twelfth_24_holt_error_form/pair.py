"""Holt's double exponential smoothing of a batch of series, with learned smoothing factors."""
import torch
from torch import nn

HORIZON = 3


class Holt(nn.Module):
    def __init__(self):
        super().__init__()
        self.alpha_logit = nn.Parameter(torch.tensor(0.3))
        self.beta_logit = nn.Parameter(torch.tensor(-1.1))

    def forward(self, y):
        alpha, beta = torch.sigmoid(self.alpha_logit), torch.sigmoid(self.beta_logit)
        level, trend = y[:, 0], y[:, 1] - y[:, 0]
        fitted = []
        for t in range(1, y.shape[1]):
            fitted.append(level + trend)
            last = level
            level = alpha * y[:, t] + (1 - alpha) * (level + trend)
            trend = beta * (level - last) + (1 - beta) * trend
        forecast = torch.stack([level + h * trend for h in range(1, HORIZON + 1)], dim=1)
        return torch.stack(fitted, dim=1), forecast


class HoltETS(Holt):
    """ETS(A, A, N): both states are corrected by the one-step error."""

    def forward(self, y):
        alpha = self.alpha_logit.sigmoid()
        gain = alpha * self.beta_logit.sigmoid()
        l, b = y[:, 0], y[:, 1] - y[:, 0]
        one_step = []
        for obs in y.unbind(1)[1:]:
            guess = l + b
            error = obs - guess
            l, b = guess + alpha * error, b + gain * error
            one_step.append(guess)
        steps = torch.arange(1, HORIZON + 1, dtype=y.dtype)
        return torch.stack(one_step, 1), l[:, None] + b[:, None] * steps


left = Holt
right = HoltETS
inputs = (torch.randn(3, 7),)
