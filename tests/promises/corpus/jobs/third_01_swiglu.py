import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

TRUTH = "refines"
WHY = 'SwiGLU MLP with gate and up split by columns and down by rows, one all-reduce'
world_size = 2

HIDDEN, INNER = 16, 24


class SwiGLU(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(HIDDEN, INNER, bias=False)
        self.up = nn.Linear(HIDDEN, INNER, bias=False)
        self.down = nn.Linear(INNER, HIDDEN, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class ShardedSwiGLU(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        def rows(w):
            return nn.Parameter(w.detach().chunk(world_size, dim=0)[rank].clone())

        self.gate_up = nn.Parameter(torch.cat([rows(full.gate.weight), rows(full.up.weight)]).detach())
        self.down = nn.Parameter(full.down.weight.detach().chunk(world_size, dim=1)[rank].clone())

    def forward(self, x):
        gate, up = F.linear(x, self.gate_up).chunk(2, dim=-1)
        y = F.linear(F.silu(gate) * up, self.down)
        dist.all_reduce(y)
        return y


def sequential():
    torch.manual_seed(0)
    return SwiGLU()


def distributed(rank, world_size):
    return ShardedSwiGLU(sequential(), rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(2, 5, HIDDEN),)
