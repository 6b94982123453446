import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "does not refine"
WHY = 'the output is cut along the sequence, and the job does not say so: it is due whole'
world_size = 2


class Block(nn.Module):
    def __init__(self, d=8, h=16):
        super().__init__()
        torch.manual_seed(0)
        self.norm = nn.LayerNorm(d)
        self.norm.weight.data.uniform_(0.5, 1.5)
        self.norm.bias.data.normal_()
        self.up = nn.Linear(d, h, bias=False)
        self.down = nn.Linear(h, d, bias=False)

    def forward(self, x):
        return {"y": x + self.down(F.silu(self.up(self.norm(x))))}


class SequenceParallelBlock(nn.Module):
    """x is this rank's part of the sequence: [S / world_size, B, D]."""

    def __init__(self, rank, world_size):
        super().__init__()
        whole = Block()
        self.world = world_size
        self.norm = whole.norm
        self.up = nn.Parameter(whole.up.weight.detach().chunk(world_size, 0)[rank].clone())
        self.down = nn.Parameter(whole.down.weight.detach().chunk(world_size, 1)[rank].clone())

    def forward(self, x):
        h = self.norm(x)
        pieces = [torch.empty_like(h) for _ in range(self.world)]
        dist.all_gather(pieces, h)
        full = torch.cat(pieces, dim=0)
        y = F.linear(F.silu(F.linear(full, self.up)), self.down)
        out = torch.empty_like(x)
        dist.reduce_scatter_tensor(out, y.contiguous())
        return {"y": x + out}


def sequential():
    return Block()


def distributed(rank, world_size):
    return SequenceParallelBlock(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(6, 2, 8),)


relations = {"x": "shard(0)"}
