"""Two kinds of parallelism on a mesh of two dimensions: the batch cut along one, the weights along the other."""

import torch
from megatron_mlp import Block
from megatron_parts import generic
from torch.distributed.tensor import DTensor, Partial, Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

world_size = 4
mesh = {"dp": 2, "tp": 2}
relations = {"x": "sharded(0) over dp", "y": "sharded(0) over dp"}


def step(block, reduce):
    def run(x, y):
        loss = ((block(x) - y) ** 2).mean()
        weights = dict(block.named_parameters())
        grads = torch.autograd.grad(loss, list(weights.values()))
        return {f"grad.{name}": reduce(grad) for name, grad in zip(weights, grads, strict=True)}

    return run


def sequential():
    return step(generic(Block()), lambda grad: grad)


def distributed(rank, world_size, mesh, fault=None):
    block = parallelize_module(generic(Block()), mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
    across = mesh["tp" if fault == "reduced_over_the_wrong_dimension" else "dp"]

    def mean(grad):
        local = grad.to_local() if isinstance(grad, DTensor) else grad
        return DTensor.from_local(local, across, [Partial("avg")]).redistribute(placements=[Replicate()]).to_local()

    return step(block, mean)


def inputs():
    return torch.randn(4, 3, 8), torch.randn(4, 3, 8)


def local_inputs(rank, world_size):
    """The inputs of one rank: its part of the batch along the first dimension of the mesh."""
    return tuple(x.chunk(2)[rank // 2] for x in inputs())


faults = ("reduced_over_the_wrong_dimension",)
