"""Volume rendering of NeRF from raw network outputs: colour, depth, opacity and weights per ray."""
import torch


def by_cumprod(raw, near_logit, gaps, direction, background):
    """raw [R, S, 4] (colour logits, density), gaps [R, S] logits of steps, direction [R, 3], background [3]."""
    steps = torch.nn.functional.softplus(gaps)
    depths = torch.exp(near_logit)[:, None] + torch.cumsum(steps, dim=-1)
    distance = torch.cat((depths[:, 1:] - depths[:, :-1], torch.full_like(depths[:, :1], 2.0)), dim=-1)
    distance = distance * torch.norm(direction[:, None], dim=-1)
    colour = torch.sigmoid(raw[..., :3])
    density = torch.relu(raw[..., 3])
    alpha = 1.0 - torch.exp(-density * distance)
    ones = torch.ones_like(alpha[:, :1])
    transmitted = torch.cumprod(torch.cat((ones, 1.0 - alpha), dim=-1), dim=-1)[:, :-1]
    weights = alpha * transmitted
    rgb = (weights[..., None] * colour).sum(-2)
    depth = (weights * depths).sum(-1)
    opacity = weights.sum(-1)
    rgb = rgb + (1.0 - opacity[:, None]) * background
    return {"rgb": rgb, "depth": depth, "opacity": opacity, "weights": weights}


def inputs():
    return torch.randn(3, 6, 4), torch.randn(3), torch.randn(3, 6), torch.randn(3, 3), torch.rand(3)
