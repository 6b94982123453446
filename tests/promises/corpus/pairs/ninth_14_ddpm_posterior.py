# EQUAL
import torch


def left(x_t, eps, noise, alpha_logit, bar_logit):
    """through x0: q(x_{t-1} | x_t, x0), Ho et al. (7)"""
    alpha = torch.sigmoid(alpha_logit).view(-1, 1, 1, 1)
    bar_prev = torch.sigmoid(bar_logit).view(-1, 1, 1, 1)
    bar = alpha * bar_prev
    beta = 1 - alpha
    x0 = (x_t - torch.sqrt(1 - bar) * eps) / torch.sqrt(bar)
    mean = (
        beta * torch.sqrt(bar_prev) / (1 - bar) * x0
        + (1 - bar_prev) * torch.sqrt(alpha) / (1 - bar) * x_t
    )
    variance = beta * (1 - bar_prev) / (1 - bar)
    return mean + torch.sqrt(variance) * noise


def right(x_t, eps, noise, alpha_logit, bar_logit):
    """straight from the noise: (11)"""
    alpha = torch.sigmoid(alpha_logit)[:, None, None, None]
    bar_prev = torch.sigmoid(bar_logit)[:, None, None, None]
    one_minus_bar = 1 - alpha * bar_prev
    mean = alpha.rsqrt() * (x_t - (1 - alpha) * one_minus_bar.rsqrt() * eps)
    sigma = (1 - alpha).sqrt() * (1 - bar_prev).sqrt() / one_minus_bar.sqrt()
    return mean + sigma * noise


def inputs():
    g = torch.Generator().manual_seed(2020)
    img = lambda: torch.randn(3, 2, 4, 4, generator=g)
    return img(), img(), img(), torch.randn(3, generator=g), torch.randn(3, generator=g)
