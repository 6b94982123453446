# A Hyena operator with tokens over ranks. The long convolution needs the whole sequence, but is separate for each
# channel: an all-to-all changes tokens for channels and back. Forward and backward by functional collectives.
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch.nn.functional as F
from torch import nn

DIM, LENGTH = 6, 8


class Hyena(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_proj = nn.Linear(DIM, 3 * DIM)
        self.filter = nn.Parameter(torch.randn(DIM, LENGTH) * 0.3)
        self.skip = nn.Parameter(torch.randn(DIM))
        self.out_proj = nn.Linear(DIM, DIM)

    def long_conv(self, u):
        """u: batch x time x channels; causal, the filter is as long as the sequence"""
        u = u.transpose(1, 2)
        w = self.filter.flip(-1).unsqueeze(1)
        y = F.conv1d(F.pad(u, (LENGTH - 1, 0)), w, groups=u.shape[1])
        return (y + u * self.skip[:, None]).transpose(1, 2)

    def forward(self, x):
        gate, mid, value = self.in_proj(x).chunk(3, dim=-1)
        return self.out_proj(gate * self.long_conv(mid * value))


class HyenaSequenceParallel(Hyena):
    def __init__(self, rank, world_size):
        super().__init__()
        self.n = world_size
        self.filter = nn.Parameter(self.filter.data.chunk(world_size)[rank].clone())
        self.skip = nn.Parameter(self.skip.data.chunk(world_size)[rank].clone())

    def exchange(self, blocks):
        """blocks: ranks x ...; block i goes to rank i"""
        flat = blocks.contiguous().flatten(0, 1)
        size = [blocks.shape[1]] * self.n
        out = funcol.all_to_all_single_autograd(flat, size, size, dist.group.WORLD)
        return out.unflatten(0, (self.n, -1))

    def long_conv(self, u):
        b, t, c = u.shape
        to_channels = u.unflatten(2, (self.n, -1)).permute(2, 0, 1, 3)         # ranks, b, t, c / n
        mine = self.exchange(to_channels).permute(1, 0, 2, 3).flatten(1, 2)     # b, n t, c / n
        y = super().long_conv(mine)
        to_tokens = y.unflatten(1, (self.n, -1)).transpose(0, 1)               # ranks, b, t, c / n
        return self.exchange(to_tokens).permute(1, 2, 0, 3).flatten(2)


def sequential():
    return Hyena()


def distributed(rank, world_size):
    return HyenaSequenceParallel(rank, world_size)


def inputs():
    return (torch.randn(2, LENGTH, DIM),)


world_size = 2
backward = True
relations = {"x": "shard(1)"}
expected = {
    "0": "shard(1)",
    "grad.in_proj.weight": "partial",
    "grad.in_proj.bias": "partial",
    "grad.out_proj.weight": "partial",
    "grad.out_proj.bias": "partial",
}
TRUTH = "refines"
