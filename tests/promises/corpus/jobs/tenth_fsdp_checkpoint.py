"""FSDP by hand: each layer's weights are gathered in the forward and, under checkpointing, once more in the backward, where gradients are averaged by reduce-scatter."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

DIM, HIDDEN, CLASSES = 6, 10, 4


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(DIM) + 0.5)
        self.gate = nn.Parameter(torch.randn(HIDDEN, DIM) / 2)
        self.up = nn.Parameter(torch.randn(HIDDEN, DIM) / 2)
        self.down = nn.Parameter(torch.randn(DIM, HIDDEN) / 3)


def apply(x, scale, gate, up, down):
    h = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * scale
    return x + F.linear(F.silu(F.linear(h, gate)) * F.linear(h, up), down)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.head = nn.Parameter(torch.randn(CLASSES, DIM) / 2)

    def forward(self, x, labels):
        for layer in self.layers:
            x = apply(x, layer.scale, layer.gate, layer.up, layer.down)
        return F.cross_entropy(F.linear(x, self.head), labels)


class Unshard(torch.autograd.Function):
    @staticmethod
    def forward(ctx, piece):
        n = dist.get_world_size()
        full = piece.new_empty(piece.shape[0] * n, *piece.shape[1:])
        dist.all_gather_into_tensor(full, piece.contiguous())
        return full

    @staticmethod
    def backward(ctx, grad):
        n = dist.get_world_size()
        piece = grad.new_empty(grad.shape[0] // n, *grad.shape[1:])
        dist.reduce_scatter_tensor(piece, grad.contiguous() / n)
        return piece


class Sharded(nn.Module):
    def __init__(self, model, rank, world_size):
        super().__init__()
        self.model = model
        for module in [*model.layers, model]:
            for name, p in list(module.named_parameters(recurse=False)):
                setattr(module, name, nn.Parameter(p.detach().chunk(world_size)[rank].clone()))

    def run(self, x, *pieces):
        return apply(x, *(Unshard.apply(p) for p in pieces))

    def forward(self, x, labels):
        for layer in self.model.layers:
            x = checkpoint(self.run, x, layer.scale, layer.gate, layer.up, layer.down, use_reentrant=False)
        return F.cross_entropy(F.linear(x, Unshard.apply(self.model.head)), labels)


def sequential():
    return Model()


def distributed(rank, world_size):
    return Sharded(Model(), rank, world_size)


def inputs():
    return torch.randn(8, DIM), torch.randint(0, CLASSES, (8,))


world_size = 2
relations = {"x": "shard(0)", "labels": "shard(0)"}
expected = {"0": "partial(avg)"}
backward = True


TRUTH = "refines"
