import math

import torch
import torch.nn.functional as F


def left(log_rate, counts):
    return F.poisson_nll_loss(log_rate, counts, log_input=True, full=True, reduction="mean")


def right(log_rate, counts):
    loss = torch.exp(log_rate) - counts * log_rate
    safe = counts.clamp(min=1.0)
    stirling = safe * torch.log(safe) - safe + 0.5 * torch.log(2 * math.pi * safe)
    loss = loss + torch.where(counts > 1, stirling, torch.zeros_like(stirling))
    return loss.sum() / loss.numel()


inputs = (torch.randn(5, 6), torch.poisson(torch.full((5, 6), 2.5)))
