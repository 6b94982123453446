"""DeepSpeed's linear layers of sequence tiles: TiledMLP in Ulysses' SP."""
import torch
from torch import nn
import torch.distributed as dist

from deepspeed.runtime.sequence_parallel.ulysses_sp import SequenceTiledCompute
import deepspeed
world_size = 2
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
    def forward(self, x):
        return self.down(torch.relu(self.up(x)))
class T(M):
    def forward(self, x):
        def tile(self, x):
            return M.forward(self, x)
        return SequenceTiledCompute.apply(tile, 2, dict(self=self, x=x), ["x"], [self.up.weight, self.down.weight], "mean")
def sequential():
    return M()
def distributed(rank, world_size):
    return T()
def inputs():
    return (torch.randn(2, 8, 8),)
