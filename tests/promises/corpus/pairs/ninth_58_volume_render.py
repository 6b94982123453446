# EQUAL
import torch


def left(raw, t_vals):
    """raw: rays x samples x (rgb, sigma)"""
    delta = t_vals[:, 1:] - t_vals[:, :-1]
    sigma = torch.relu(raw[:, :-1, 3])
    rgb = torch.sigmoid(raw[:, :-1, :3])
    alpha = 1.0 - torch.exp(-sigma * delta)
    ones = torch.ones_like(alpha[:, :1])
    trans = torch.cumprod(torch.cat([ones, 1.0 - alpha], dim=-1), dim=-1)[:, :-1]
    weights = alpha * trans
    return {
        "rgb": (weights[..., None] * rgb).sum(-2),
        "depth": (weights * t_vals[:, :-1]).sum(-1),
        "acc": weights.sum(-1),
    }


def right(raw, t_vals):
    rgb, sigma = raw[:, :-1].split([3, 1], dim=-1)
    optical = sigma.squeeze(-1).clamp(min=0) * torch.diff(t_vals, dim=1)
    reach = torch.exp(-(torch.cumsum(optical, 1) - optical))
    after = torch.exp(-torch.cumsum(optical, 1))
    weights = reach - after
    return {
        "rgb": torch.einsum("rs,rsc->rc", weights, rgb.sigmoid()),
        "depth": torch.einsum("rs,rs->r", weights, t_vals[:, :-1]),
        "acc": 1 - torch.exp(-optical.sum(1)),
    }


def inputs():
    torch.manual_seed(40)
    return torch.randn(4, 7, 4), torch.cumsum(torch.rand(4, 7) + 0.1, dim=1)
