"""torch: fully_shard over a plan of tensor parallelism, on a mesh of 2 by 2."""
import torch
from torch import nn
import torch.distributed as dist

from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
world_size = 4
mesh = {"dp": 2, "tp": 2}
backward = True
relations = {"x": "shard(0) over dp"}
expected = {"0": "partial(avg) over dp"}
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
    def forward(self, x):
        return self.down(torch.relu(self.up(x))).square().mean()
def sequential():
    return M()
def distributed(rank, world_size, mesh):
    m = parallelize_module(M(), mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return fully_shard(m, mesh=mesh["dp"])
def inputs():
    return (torch.randn(4, 8),)
