# A ParallelStyle of one's own: the per-channel frequency of a Snake activation (x + sin^2(a x) / a) lies
# with the channels that the column-parallel layer before it makes.
import torch
from torch import nn
from torch.distributed.tensor import DTensor, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, ParallelStyle, RowwiseParallel, parallelize_module


class Snake(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.alpha = nn.Parameter(torch.rand(channels) + 0.5)

    def forward(self, x):
        return x + torch.sin(self.alpha * x).square() / self.alpha


class Vocoder(nn.Module):
    def __init__(self, dim=6, width=12):
        super().__init__()
        self.up, self.act, self.down = nn.Linear(dim, width), Snake(width), nn.Linear(width, dim)

    def forward(self, mel):
        return torch.tanh(self.down(self.act(self.up(mel))))


class ChannelParallel(ParallelStyle):
    """Every parameter cut along its first dimension; activations along their last."""

    @staticmethod
    def _shard(name, module, mesh):
        for key, param in list(module.named_parameters(recurse=False)):
            module.register_parameter(key, nn.Parameter(distribute_tensor(param, mesh, [Shard(0)])))

    @staticmethod
    def _in(module, inputs, mesh):
        x = inputs[0]
        if not isinstance(x, DTensor):
            x = DTensor.from_local(x, mesh, [Shard(-1)], run_check=False)
        return (x,)

    def _apply(self, module, device_mesh):
        return distribute_module(module, device_mesh, self._shard, self._in)


def sequential():
    return Vocoder()


def distributed(rank, world_size, mesh):
    return parallelize_module(Vocoder(), mesh, {
        "up": ColwiseParallel(),
        "act": ChannelParallel(),
        "down": RowwiseParallel(),
    })


def inputs():
    return (torch.randn(2, 5, 6),)


mesh = {"tp": 4}
world_size = 4
backward = True
TRUTH = "refines"
