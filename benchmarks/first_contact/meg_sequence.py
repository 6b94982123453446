"""The same with sequence parallelism: activations between blocks are cut along the sequence."""
import torch
from torch import nn
from torch.nn.functional import gelu
from megatron.core.tensor_parallel import ColumnParallelLinear, RowParallelLinear
from megatron_setup import config, groups
from meg_mlp import Block

world_size = 2
backward = True
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)", "grad.norm.weight": "partial", "grad.norm.bias": "partial", "grad.down.bias": "partial"}


class Normed(Block):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)

    def forward(self, x):
        return x + self.down(gelu(self.up(self.norm(x))))


class Parallel(nn.Module):
    def __init__(self, block, rank, n):
        super().__init__()
        c = config(tensor_model_parallel_size=n, sequence_parallel=True)
        self.norm = block.norm
        self.up = ColumnParallelLinear(16, 32, config=c, init_method=nn.init.zeros_, gather_output=False, bias=True)
        self.down = RowParallelLinear(32, 16, config=c, init_method=nn.init.zeros_, input_is_parallel=True, bias=True, skip_bias_add=False)
        with torch.no_grad():
            self.up.weight.copy_(block.up.weight.chunk(n, 0)[rank])
            self.up.bias.copy_(block.up.bias.chunk(n, 0)[rank])
            self.down.weight.copy_(block.down.weight.chunk(n, 1)[rank])
            self.down.bias.copy_(block.down.bias)

    def forward(self, x):
        return x + self.down(gelu(self.up(self.norm(x))[0]))[0]


def sequential():
    return Normed()


def distributed(rank, world_size):
    groups(tp=world_size)
    return Parallel(Normed(), rank, world_size)


def inputs():
    return (torch.randn(6, 2, 16),)
