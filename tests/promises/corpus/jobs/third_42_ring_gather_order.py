import torch
import torch.distributed as dist
from torch import nn

TRUTH = "does not refine"
WHY = 'column-parallel layer whose outputs are put together by a ring all-gather that files each received block under the wrong rank'
world_size = 3

IN, OUT = 6, 9


def sequential():
    torch.manual_seed(0)
    return nn.Linear(IN, OUT)


def ring_all_gather(block, rank, world):
    """n - 1 steps: pass to the right what came from the left"""
    blocks = [None] * world
    blocks[rank] = block
    moving = block
    for step in range(1, world):
        incoming = torch.empty_like(moving)
        send = dist.isend(moving, (rank + 1) % world)
        recv = dist.irecv(incoming, (rank - 1) % world)
        send.wait()
        recv.wait()
        moving = incoming
        blocks[(rank + step) % world] = moving
    return torch.cat(blocks, dim=-1)


class ColumnParallel(nn.Module):
    def __init__(self, linear, rank, world):
        super().__init__()
        self.rank, self.world = rank, world
        self.weight = nn.Parameter(linear.weight.data.chunk(world)[rank].clone(), requires_grad=False)
        self.bias = nn.Parameter(linear.bias.data.chunk(world)[rank].clone(), requires_grad=False)

    def forward(self, input):
        y = nn.functional.linear(input, self.weight, self.bias)
        return ring_all_gather(y, self.rank, self.world)


def distributed(rank, world_size):
    return ColumnParallel(sequential(), rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(4, IN),)
