# LayerNorm + attention-free token mixer with the stock styles: SequenceParallel norms, colwise/rowwise linears
import torch
from torch import nn
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, parallelize_module)
from torch.distributed.device_mesh import init_device_mesh

world_size = 2


class FFN(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w2 = nn.Linear(6, 8), nn.Linear(8, 6)

    def forward(self, x):
        return self.w2(torch.relu(self.w1(x)))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.ffn = FFN()
        self.norm2 = nn.LayerNorm(6)

    def forward(self, x):
        return self.norm2(self.ffn(self.norm(x)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(10, 6)
        self.layer = Layer()
        self.head = nn.Linear(6, 10)

    def forward(self, ids):
        return self.head(self.layer(self.tok(ids)))


def sequential():
    torch.manual_seed(3)
    m = Model()
    for n in (m.layer.norm, m.layer.norm2):
        nn.init.normal_(n.weight, 1, 0.2)
        nn.init.normal_(n.bias, 0, 0.2)
    return m


def distributed(rank, world_size):
    mesh = init_device_mesh("cpu", (world_size,))
    return parallelize_module(sequential(), mesh, {
        "tok": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "layer.norm": SequenceParallel(),
        "layer.ffn": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
        "layer.ffn.w1": ColwiseParallel(),
        "layer.ffn.w2": RowwiseParallel(output_layouts=Shard(1)),
        "layer.norm2": SequenceParallel(),
        "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
    })


def inputs():
    return (torch.tensor([[1, 9, 3, 4], [0, 2, 7, 7]]),)


TRUTH = "refines"
