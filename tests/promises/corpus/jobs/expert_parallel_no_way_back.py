import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "does not refine"
WHY = 'the second all-to-all is forgotten: rank r returns all tokens of expert r'
world_size = 2


class Experts(nn.Module):
    def __init__(self, experts=2, d=6, h=10):
        super().__init__()
        torch.manual_seed(0)
        self.up = nn.Parameter(torch.randn(experts, d, h))
        self.down = nn.Parameter(torch.randn(experts, h, d))

    def forward(self, x):
        # x: [experts, tokens, d], the tokens as the router has sorted them
        return {"y": torch.bmm(F.relu(torch.bmm(x, self.up)), self.down)}


class ParallelExperts(nn.Module):
    """Each rank holds one expert and half of the tokens of each."""

    def __init__(self, rank, world_size):
        super().__init__()
        whole = Experts()
        self.up = nn.Parameter(whole.up.detach()[rank].clone())
        self.down = nn.Parameter(whole.down.detach()[rank].clone())

    def forward(self, x):
        got = torch.empty_like(x)
        dist.all_to_all_single(got, x.contiguous())
        out = F.relu(got @ self.up) @ self.down
        back = out
        return {"y": back}


def sequential():
    return Experts()


def distributed(rank, world_size):
    return ParallelExperts(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(2, 8, 6),)


relations = {"x": "shard(1)"}
expected = {"y": "shard(1)"}
