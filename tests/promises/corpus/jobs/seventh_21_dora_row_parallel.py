# DoRA on a row-parallel projection: W' = m * (W0 + B A) / ||W0 + B A||, the norm over the input
# features of each output feature. W0 and A are cut along the input features.
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


class DoRALinear(nn.Module):
    def __init__(self, n_in=12, n_out=5, rank=2, scaling=1.5):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in) * 0.4, requires_grad=False)
        self.lora_a = nn.Parameter(torch.randn(rank, n_in) * 0.4)
        self.lora_b = nn.Parameter(torch.randn(n_out, rank) * 0.4)
        self.magnitude = nn.Parameter(torch.rand(n_out) + 0.5)
        self.bias = nn.Parameter(torch.randn(n_out))
        self.scaling = scaling

    def forward(self, x):
        w = self.weight + self.scaling * self.lora_b @ self.lora_a
        norm = torch.linalg.vector_norm(w, dim=1)
        return F.linear(x, w) * (self.magnitude / norm) + self.bias


class DoRARowParallel(DoRALinear):
    def __init__(self, tp_rank, tp_size):
        super().__init__()
        cols = self.weight.shape[1] // tp_size
        cut = slice(tp_rank * cols, tp_rank * cols + cols)
        self.weight = nn.Parameter(self.weight.data[:, cut].clone(), requires_grad=False)
        self.lora_a = nn.Parameter(self.lora_a.data[:, cut].clone())

    def forward(self, x):
        w = self.weight + self.scaling * self.lora_b @ self.lora_a
        norm = torch.linalg.vector_norm(w, dim=1)
        y = F.linear(x, w) * (self.magnitude / norm)
        dist.all_reduce(y)
        return y + self.bias


def sequential():
    return DoRALinear()


def distributed(rank, world_size):
    return DoRARowParallel(rank, world_size)


def inputs():
    return (torch.randn(3, 12),)


world_size = 4
relations = {"x": "shard(-1)"}
TRUTH = "differs"
