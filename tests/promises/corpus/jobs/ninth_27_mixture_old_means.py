"""A step of expectation maximisation for a mixture of diagonal Gaussians, points cut over ranks, one fused all-reduce."""
import math

import torch
import torch.distributed as dist

FLOOR = 1e-3


def responsibilities(points, mean, variance, weight):
    d = points[:, None, :] - mean[None]
    log_density = -0.5 * (d.square() / variance + torch.log(2 * math.pi * variance)).sum(dim=-1)
    joint = log_density + torch.log(weight)
    evidence = torch.logsumexp(joint, dim=1)
    return torch.exp(joint - evidence[:, None]), evidence


def step(points, mean, variance, logit):
    weight = logit.softmax(dim=0)
    variance = variance.exp()
    r, evidence = responsibilities(points, mean, variance, weight)
    count = r.sum(dim=0)
    new_mean = r.t() @ points / count[:, None]
    d = points[:, None, :] - new_mean[None]
    new_variance = (r[..., None] * d.square()).sum(dim=0) / count[:, None] + FLOOR
    return new_mean, new_variance, count / points.shape[0], evidence.mean()


def sequential():
    return step


def distributed(rank, world_size):
    def step_of_part(points, mean, variance, logit):
        weight = logit.softmax(dim=0)
        variance = variance.exp()
        r, evidence = responsibilities(points, mean, variance, weight)
        d = points[:, None, :] - mean[None]
        count = r.sum(dim=0)
        first = r.t() @ points
        second = (r[..., None] * d.square()).sum(dim=0)
        fused = torch.cat([count, first.flatten(), second.flatten(), evidence.sum()[None]])
        dist.all_reduce(fused)
        k, dim = mean.shape
        count, first, second, evidence = fused.split([k, k * dim, k * dim, 1])
        total = points.shape[0] * world_size
        new_mean = first.view(k, dim) / count[:, None]
        new_variance = second.view(k, dim) / count[:, None] + FLOOR
        return new_mean, new_variance, count / total, evidence.squeeze(0) / total

    return step_of_part


def inputs():
    return torch.randn(12, 2), torch.randn(3, 2), torch.randn(3, 2) / 4, torch.randn(3)


world_size = 4
relations = {"points": "shard(0)"}


TRUTH = "does not refine"
