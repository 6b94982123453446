import torch


def program(raw_density, colour, depths, far):
    """Radiance along rays, composited over white; alpha and the product of what is let through."""
    deltas = torch.cat([depths[:, 1:], far[:, None]], dim=-1) - depths
    alpha = 1.0 - torch.exp(-torch.relu(raw_density) * deltas)
    through = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1.0 - alpha], dim=-1), dim=-1)[:, :-1]
    weights = alpha * through
    rgb = (weights[..., None] * torch.sigmoid(colour)).sum(dim=-2)
    opacity = weights.sum(dim=-1)
    depth = (weights * depths).sum(dim=-1)
    return rgb + (1.0 - opacity[..., None]), depth, opacity
