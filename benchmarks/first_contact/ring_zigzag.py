"""torch.distributed.tensor: a sequence-parallel norm and a loss over a sharded vocabulary."""
import torch
from torch import nn
import torch.distributed as dist

from torch.distributed.tensor import Shard, Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, SequenceParallel, parallelize_module, loss_parallel, PrepareModuleInput
world_size = 2
mesh = {"tp": 2}
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, 12, bias=False)
    def forward(self, x):
        return self.head(self.norm(x))
def sequential():
    return M()
def distributed(rank, world_size, mesh):
    return parallelize_module(M(), mesh, {"norm": SequenceParallel(), "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate())})
def inputs():
    return (torch.randn(2, 6, 8),)
