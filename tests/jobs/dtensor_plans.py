"""DTensor's own plans: sequence-parallel norms, column- and row-parallel layers, a loss over a cut vocabulary."""

import torch
from megatron_parts import generic
from torch import nn
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn.functional import cross_entropy, layer_norm

world_size = 2
mesh = {"tp": 2}
WORDS, WIDTH, INNER = 12, 8, 16


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x):
        return x + self.down(self.up(self.norm(x)).relu())


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.layer = nn.Embedding(WORDS, WIDTH), Layer()
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        return self.head(self.norm(self.layer(self.table(words))))


class LocalNorm(nn.LayerNorm):
    """A norm on local tensors: each rank sees its own tokens, so the gradients of the weights are parts of a sum."""

    gradients: tuple = ()

    def forward(self, x):
        weight, bias = (w.to_local(grad_placements=self.gradients) for w in (self.weight, self.bias))
        local = layer_norm(x.to_local(), self.normalized_shape, weight, bias, self.eps)
        return DTensor.from_local(local, x.device_mesh, x.placements)


PLAN = {
    "table": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1), use_local_output=False),
    "layer.norm": SequenceParallel(),
    "layer.up": ColwiseParallel(input_layouts=Shard(1)),
    "layer.down": RowwiseParallel(output_layouts=Shard(1), use_local_output=False),
    "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False),
}


def step(model, context):
    """The loss and the gradients of all weights, as a function of words and targets."""

    def run(words, targets):
        with context():
            loss = cross_entropy(model(words).flatten(0, 1), targets.flatten())
            grads = torch.autograd.grad(loss, list(model.parameters()))
        names = [f"grad.{name}" for name, _ in model.named_parameters()]
        return {"loss": loss} | dict(zip(names, grads, strict=True))

    return run


def nothing():
    return torch.enable_grad()


def sequential():
    return step(generic(Model()), nothing)


def distributed(rank, world_size, mesh, fault=None):
    model = generic(Model())
    norm, model.norm = model.norm, LocalNorm(WIDTH)
    model.norm.gradients = [Replicate() if fault == "partial_gradient_marked_replicated" else Partial()]
    for name in ("weight", "bias"):
        setattr(model.norm, name, nn.Parameter(distribute_tensor(getattr(norm, name).detach(), mesh, [Replicate()])))
    return step(parallelize_module(model, mesh, PLAN), loss_parallel)


def inputs():
    return torch.randint(0, WORDS, (2, 4)), torch.randint(0, WORDS, (2, 4))


faults = ("partial_gradient_marked_replicated",)
