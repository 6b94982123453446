"""Sampling probabilities with temperature; logits cut along the vocabulary. Stable: the max is global too."""
import torch
import torch.distributed as dist

world_size = 3
relations = {"logits": "shard(1)"}
expected = {"probs": "shard(1)"}
TEMPERATURE = 0.7


def sequential():
    def f(logits):
        p = torch.softmax(logits / TEMPERATURE, dim=1)
        entropy = -(p * p.log()).sum(1)
        return {"probs": p, "entropy": entropy}
    return f


def distributed(rank, world_size):
    def f(logits):
        z = logits / TEMPERATURE
        top = z.max(1, keepdim=True).values
        dist.all_reduce(top, dist.ReduceOp.MAX)
        e = (z - top).exp()
        denom = e.sum(1, keepdim=True)
        dist.all_reduce(denom)
        p = e / denom
        # entropy = log Z - E[z - top]
        mean_z = (p * (z - top)).sum(1)
        dist.all_reduce(mean_z)
        return {"probs": p, "entropy": denom.log().squeeze(1) - mean_z}
    return f


def inputs():
    torch.manual_seed(4)
    return (2 * torch.randn(5, 12),)


TRUTH = "refines"
