"""Post-processing for an exported model, vectorised: centres and sizes of anchors are kept apart, boxes come from these."""
import torch
from a import RATIOS, SIZES, STRIDE


def anchor_sizes():
    """Width and height of each anchor, [anchors, 2]: ratios outside, sizes inside."""
    root = torch.tensor(RATIOS).sqrt()[:, None]
    size = torch.tensor(SIZES)[None, :]
    return torch.stack([size / root, size * root], dim=-1).flatten(0, 1)


def centres(height, width):
    y = torch.arange(height)[:, None].expand(height, width)
    x = torch.arange(width)[None, :].expand(height, width)
    return STRIDE * torch.stack([x, y], dim=-1)


def decode(deltas):
    height, width = deltas.shape[-2:]
    deltas = deltas.unflatten(1, (len(SIZES) * len(RATIOS), 2, 2))  # [batch, anchors, (centre, size), (x, y), h, w]
    deltas = deltas.permute(0, 4, 5, 1, 2, 3)
    size = anchor_sizes()
    centre = centres(height, width)[:, :, None] + deltas[..., 0, :] * size
    half = 0.5 * size * torch.exp(deltas[..., 1, :])
    return torch.cat([centre - half, centre + half], dim=-1).flatten(1, 3)
