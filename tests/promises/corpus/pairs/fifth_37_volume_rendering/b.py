import torch


def program(raw_density, colour, depths, far):
    """With optical depths: what is let through is exp of a sum, and all that is stopped telescopes."""
    edges = torch.cat([depths, far[:, None]], dim=-1)
    optical = raw_density.clamp(min=0) * edges.diff(dim=-1)
    total = optical.cumsum(dim=-1)
    weights = torch.exp(optical - total) - torch.exp(-total)
    remaining = torch.exp(-optical.sum(dim=-1))
    rgb = torch.einsum("rs,rsc->rc", weights, colour.sigmoid())
    depth = torch.einsum("rs,rs->r", weights, depths)
    return rgb + remaining[:, None], depth, 1.0 - remaining
