"""Sinkhorn-Knopp codes of a batch that is spread over ranks, with functional collectives (as in clustering losses)."""
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
from torch import nn

TRUTH = "refines"
WHY = "sums over samples are all-reduced, sums over prototypes are local, and the factors of the batch size are the global ones"

world_size = 4
relations = {"x": "shard(0)"}
expected = {"codes": "shard(0)"}


class Codes(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(18)
        self.prototypes = nn.Linear(6, 5, bias=False)

    def total(self, t):
        return t

    def forward(self, x):
        q = torch.exp(self.prototypes(nn.functional.normalize(x, dim=-1)) / 0.5).t()    # prototypes × samples
        samples = self.samples(q.shape[1])
        q = q / self.total(q.sum())
        for _ in range(2):
            q = q / self.total(q.sum(1, keepdim=True)) / q.shape[0]
            q = q / q.sum(0, keepdim=True) / samples
        return {"codes": (q * samples).t(), "usage": self.total(q.sum(1))}

    def samples(self, n):
        return n


class SpreadCodes(Codes):
    def total(self, t):
        return funcol.wait_tensor(funcol.all_reduce(t, "sum", dist.group.WORLD))

    def samples(self, n):
        return n * dist.get_world_size()


def sequential():
    return Codes()


def distributed(rank, world_size):
    return SpreadCodes()


def inputs():
    torch.manual_seed(19)
    return {"x": torch.randn(8, 6)}
