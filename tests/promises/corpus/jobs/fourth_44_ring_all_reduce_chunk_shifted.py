"""An all-reduce written as a ring of batch_isend_irecv: reduce-scatter in three steps, all-gather in three."""
import torch
import torch.distributed as dist
from torch import nn

TRUTH = "differs"
WHY = "after the reduce-scatter rank r holds chunk r + 1, but the all-gather sends and stores chunks as if it held chunk r"

world_size = 4


class Project(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(44)
        self.weight = nn.Parameter(torch.randn(8, 5) / 2)

    def forward(self, x):
        return torch.relu(x @ self.weight)


class ProjectInRing(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        self.rank, self.size = rank, world_size
        self.weight = nn.Parameter(Project().weight.data.chunk(world_size, 0)[rank].clone())

    def shift(self, out):
        into = torch.empty_like(out)
        work = dist.batch_isend_irecv([
            dist.P2POp(dist.isend, out, (self.rank + 1) % self.size),
            dist.P2POp(dist.irecv, into, (self.rank - 1) % self.size),
        ])
        for w in work:
            w.wait()
        return into

    def all_reduce(self, t):
        chunks = [c.clone() for c in t.chunk(self.size, 0)]
        for step in range(self.size - 1):
            got = self.shift(chunks[(self.rank - step) % self.size])
            at = (self.rank - step - 1) % self.size
            chunks[at] = chunks[at] + got
        for step in range(self.size - 1):
            got = self.shift(chunks[(self.rank - step) % self.size])
            chunks[(self.rank - step - 1) % self.size] = got
        return torch.cat(chunks, 0)

    def forward(self, x):
        mine = x.chunk(self.size, 1)[self.rank]
        with torch.no_grad():
            return torch.relu(self.all_reduce(mine @ self.weight))


def sequential():
    return Project()


def distributed(rank, world_size):
    return ProjectInRing(rank, world_size)


def inputs():
    torch.manual_seed(45)
    return (torch.randn(8, 8),)
