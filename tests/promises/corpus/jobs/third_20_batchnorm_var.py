import torch
import torch.distributed as dist
from torch import nn

TRUTH = "does not refine"
WHY = "distributed batch norm whose variance is the average of the ranks' own variances around their own means"
world_size = 2


def batch_norm(x, weight, bias, eps=1e-5):
    mean = x.mean((0, 2, 3), keepdim=True)
    var = x.var((0, 2, 3), unbiased=False, keepdim=True)
    return (x - mean) * (var + eps).rsqrt() * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)


def sequential():
    return batch_norm


def distributed(rank, world_size):
    def sync_batch_norm(x, weight, bias, eps=1e-5):
        var, mean = torch.var_mean(x, (0, 2, 3), correction=0, keepdim=True)
        stats = torch.cat([mean, var])
        dist.all_reduce(stats)
        mean, var = (stats / world_size).chunk(2)
        return (x - mean) * (var + eps).rsqrt() * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    return sync_batch_norm


def inputs():
    torch.manual_seed(6)
    return torch.randn(4, 3, 2, 2), torch.randn(3), torch.randn(3)


relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}
