import math

import torch
from torch.nn import functional as F


def sample(mean, log_std, noise):
    log_std = torch.clamp(log_std, min=-5, max=2)
    u = torch.addcmul(mean, log_std.exp(), noise)
    log_prob = (-0.5 * noise.square() - log_std - 0.5 * math.log(2 * math.pi)).sum(-1, keepdim=True)
    log_prob = log_prob - (2 * (math.log(2) - u - F.softplus(-2 * u))).sum(-1, keepdim=True)
    return u.tanh(), log_prob


def inputs():
    return torch.randn(5, 3), 0.3 * torch.randn(5, 3), torch.randn(5, 3)
