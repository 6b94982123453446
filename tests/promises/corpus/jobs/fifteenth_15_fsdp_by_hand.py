"""Fully sharded data parallelism by hand: every weight is cut along its first dimension, gathered when a layer runs, and its gradient averaged by a reduce-scatter."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

world_size = 4
backward = True
relations = {"x": "shard(0)", "y": "shard(0)"}
expected = {"0": "partial(avg)"}                        # every rank has the loss of its own rows


class Layer(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(8, 12), Layer(8, 16)])
        self.head = nn.Linear(8, 4)

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x)
        return F.mse_loss(self.head(x), y)


class Gather(torch.autograd.Function):
    """A weight from its pieces; backward, this rank's piece of the mean gradient."""

    @staticmethod
    def forward(ctx, piece):
        whole = piece.new_empty(piece.shape[0] * dist.get_world_size(), *piece.shape[1:])
        dist.all_gather_into_tensor(whole, piece.contiguous())
        return whole

    @staticmethod
    def backward(ctx, grad):
        n = dist.get_world_size()
        piece = grad.new_empty(grad.shape[0] // n, *grad.shape[1:])
        dist.reduce_scatter_tensor(piece, grad.contiguous())
        return piece / n


class Sharded(nn.Module):
    """Holds the pieces of a module's weights, and runs the module with them gathered."""

    def __init__(self, module, rank, world_size):
        super().__init__()
        self.names = [name for name, _ in module.named_parameters()]
        self.pieces = nn.ParameterList(
            nn.Parameter(p.detach().chunk(world_size, 0)[rank].clone()) for p in module.parameters()
        )
        self.module = [module.to("meta")]               # in a list, so that it is no submodule; its weights are never read

    def forward(self, *args):
        weights = {name: Gather.apply(piece) for name, piece in zip(self.names, self.pieces, strict=True)}
        return torch.func.functional_call(self.module[0], weights, args)


class ShardedModel(nn.Module):
    def __init__(self, model, rank, world_size):
        super().__init__()
        self.layers = nn.ModuleList(Sharded(layer, rank, world_size) for layer in model.layers)
        self.head = Sharded(model.head, rank, world_size)

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x)
        return F.mse_loss(self.head(x), y)


def sequential():
    return Model()


def distributed(rank, world_size):
    return ShardedModel(Model(), rank, world_size)


def inputs():
    return torch.randn(8, 8), torch.randn(8, 4)

TRUTH = "refines"
