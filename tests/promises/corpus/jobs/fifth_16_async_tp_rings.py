"""Sequence parallelism whose collectives are rings: rows go round while they are multiplied, partial sums go round while they grow."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "the first ring is an all-gather cut into products, the second a reduce-scatter cut into products"

world_size = 3
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}

D, HID = 4, 6


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(21)
        self.norm = nn.RMSNorm(D)
        self.gate = nn.Linear(D, HID, bias=False)
        self.up = nn.Linear(D, HID, bias=False)
        self.down = nn.Linear(HID, D, bias=False)

    def forward(self, x):
        h = self.norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class RingMlp(nn.Module):
    def __init__(self, rank, size):
        super().__init__()
        full = sequential()
        self.norm = full.norm
        self.gate_up = nn.Parameter(torch.cat([full.gate.weight.chunk(size)[rank], full.up.weight.chunk(size)[rank]]).detach())
        self.down = nn.Parameter(full.down.weight.chunk(size, 1)[rank].detach().clone())

    def turn(self, t):
        rank, size = dist.get_rank(), dist.get_world_size()
        got = torch.empty_like(t)
        ops = [dist.P2POp(dist.isend, t, (rank + 1) % size), dist.P2POp(dist.irecv, got, (rank - 1) % size)]
        for req in dist.batch_isend_irecv(ops):
            req.wait()
        return got

    def gather_matmul(self, rows):
        rank, size = dist.get_rank(), dist.get_world_size()
        out = [None] * size
        for step in range(size):
            out[(rank - step) % size] = rows @ self.gate_up.t()
            if step + 1 < size:
                rows = self.turn(rows)
        return torch.cat(out)

    def matmul_scatter(self, h):
        rank, size = dist.get_rank(), dist.get_world_size()
        pieces = h.chunk(size)
        total = pieces[(rank - 1) % size] @ self.down.t()
        for step in range(1, size):
            total = self.turn(total) + pieces[(rank - 1 - step) % size] @ self.down.t()
        return total

    def forward(self, x):
        gate, up = self.gather_matmul(self.norm(x)).chunk(2, -1)
        return x + self.matmul_scatter(F.silu(gate) * up)


def sequential():
    return Mlp()


def distributed(rank, world_size):
    return RingMlp(rank, world_size)


def inputs():
    torch.manual_seed(22)
    return (torch.randn(6, D),)
