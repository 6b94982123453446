"""A reverse diffusion step; the schedule comes from logits, so that every beta lies between 0 and 1."""
import torch


def left(x, eps, t, beta_logits):
    betas = torch.sigmoid(beta_logits)
    alphas = 1.0 - betas
    bar = torch.cumprod(alphas, dim=0)
    bar_prev = torch.cat([torch.ones_like(bar[:1]), bar[:-1]])

    def at(table):
        return table[t].view(-1, 1, 1, 1)

    x0 = (x - at((1 - bar).sqrt()) * eps) / at(bar.sqrt())
    c0 = bar_prev.sqrt() * betas / (1 - bar)
    ct = alphas.sqrt() * (1 - bar_prev) / (1 - bar)
    return at(c0) * x0 + at(ct) * x


def right(x, eps, t, beta_logits):
    alpha = torch.sigmoid(-beta_logits)
    bar = alpha.cumprod(0)
    a, abar = alpha.index_select(0, t), bar.index_select(0, t)
    weight = (1 - a) * torch.rsqrt(1 - abar)
    return (x - weight[:, None, None, None] * eps) * a.rsqrt()[:, None, None, None]


inputs = (torch.randn(3, 2, 4, 5), torch.randn(3, 2, 4, 5), torch.randint(0, 8, (3,)), torch.randn(8) - 2)
