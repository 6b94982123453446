"""Megatron-core: a column-parallel layer that gathers its output."""
import torch
from torch import nn
import torch.distributed as dist

from megatron.core.tensor_parallel import ColumnParallelLinear
from megatron_setup import config, groups
world_size = 2
backward = True
def sequential():
    return nn.Linear(16, 8)
class P(nn.Module):
    def __init__(self, w, r, n):
        super().__init__()
        self.l = ColumnParallelLinear(16, 8, config=config(tensor_model_parallel_size=n), init_method=nn.init.zeros_, gather_output=True, bias=True)
        with torch.no_grad():
            self.l.weight.copy_(w.weight.chunk(n)[r]); self.l.bias.copy_(w.bias.chunk(n)[r])
    def forward(self, x):
        return self.l(x)[0]
def distributed(rank, world_size):
    groups(tp=world_size)
    return P(nn.Linear(16, 8), rank, world_size)
def inputs():
    return (torch.randn(3, 2, 16),)
