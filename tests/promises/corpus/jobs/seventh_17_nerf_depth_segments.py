# Volume rendering with the samples of each ray cut along depth: a rank composites its segment, and
# segments are put together front to back with the transmittance of those in front.
import torch
import torch.distributed as dist
from torch import nn


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(3, 16)
        self.density = nn.Linear(16, 1)
        self.colour = nn.Linear(16, 3)

    def forward(self, points):
        h = torch.sin(self.trunk(points))
        return nn.functional.softplus(self.density(h)).squeeze(-1), torch.sigmoid(self.colour(h))


def composite(sigma, rgb, delta):
    """colour and depth-weight sums of a stretch of samples, and what it lets through"""
    optical = sigma * delta
    alpha = 1 - torch.exp(-optical)
    passed = torch.exp(-(torch.cumsum(optical, -1) - optical))       # exclusive
    weight = alpha * passed
    return (weight.unsqueeze(-1) * rgb).sum(-2), weight.sum(-1), torch.exp(-optical.sum(-1))


class Renderer(nn.Module):
    def __init__(self):
        super().__init__()
        self.field = Field()

    def forward(self, points, delta):
        sigma, rgb = self.field(points)
        colour, opacity, _ = composite(sigma, rgb, delta)
        return colour + (1 - opacity).unsqueeze(-1), opacity          # white background


class DepthParallelRenderer(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        self.field = Field()
        self.rank, self.world_size = rank, world_size

    def forward(self, points, delta):
        sigma, rgb = self.field(points)
        colour, opacity, through = composite(sigma, rgb, delta)
        mine = torch.cat([colour, opacity.unsqueeze(-1), through.unsqueeze(-1)], -1)
        segments = [torch.empty_like(mine) for _ in range(self.world_size)]
        dist.all_gather(segments, mine)
        total_colour, total_opacity, ahead = 0.0, 0.0, 1.0
        for seg in segments:
            total_colour = total_colour + ahead * seg[..., :3]
            total_opacity = total_opacity + ahead * seg[..., 3:4]
            ahead = ahead * seg[..., 4:]
        return total_colour + (1 - total_opacity), total_opacity.squeeze(-1)


def sequential():
    return Renderer()


def distributed(rank, world_size):
    return DepthParallelRenderer(rank, world_size)


def inputs():
    return torch.randn(4, 9, 3), torch.rand(4, 9) * 0.4 + 0.05


world_size = 3
relations = {"points": "shard(1)", "delta": "shard(1)"}
TRUTH = "refines"
