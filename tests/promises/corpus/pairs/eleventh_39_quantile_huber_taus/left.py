import torch


def quantile_huber_loss(quantiles, targets, kappa=1.0):
    """quantiles [B, N] predicted, targets [B, N]."""
    n = quantiles.shape[1]
    taus = (torch.arange(n, dtype=quantiles.dtype) + 0.5) / n
    td = targets.detach().unsqueeze(1) - quantiles.unsqueeze(2)
    huber = torch.where(td.abs() <= kappa, 0.5 * td.pow(2), kappa * (td.abs() - 0.5 * kappa))
    loss = (taus.view(1, -1, 1) - (td < 0).to(td.dtype)).abs() * huber / kappa
    return loss.mean(2).sum(1).mean()


def inputs():
    return torch.randn(3, 5), 1.5 * torch.randn(3, 5)
