"""LoRA on a tensor-parallel feed-forward block: the row-parallel layer adds its low-rank update after the all-reduce, so each rank adds only its own part (hidden while B is zero)."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

WIDTH, INNER, RANK_OF_UPDATE, ALPHA = 8, 16, 2, 4.0
SCALING = ALPHA / RANK_OF_UPDATE
world_size = 2


class LoraLinear(nn.Module):
    def __init__(self, width_in, width_out):
        super().__init__()
        self.base = nn.Linear(width_in, width_out)
        self.lora_a = nn.Parameter(torch.randn(RANK_OF_UPDATE, width_in) / RANK_OF_UPDATE)
        self.lora_b = nn.Parameter(torch.zeros(width_out, RANK_OF_UPDATE))

    def forward(self, x):
        return self.base(x) + SCALING * F.linear(F.linear(x, self.lora_a), self.lora_b)


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up, self.down = LoraLinear(WIDTH, INNER), LoraLinear(INNER, WIDTH)

    def forward(self, x):
        return x + self.down(F.silu(self.up(self.norm(x))))


def piece(parameter, rank, world_size, dim):
    return nn.Parameter(parameter.detach().chunk(world_size, dim)[rank].clone())


class ColumnParallelLora(nn.Module):
    """A is whole on every rank, B is cut as the base weight is."""

    def __init__(self, layer, rank, world_size):
        super().__init__()
        self.weight = piece(layer.base.weight, rank, world_size, 0)
        self.bias = piece(layer.base.bias, rank, world_size, 0)
        self.lora_a = layer.lora_a
        self.lora_b = piece(layer.lora_b, rank, world_size, 0)

    def forward(self, x):
        update = F.linear(F.linear(x, self.lora_a), self.lora_b)
        return F.linear(x, self.weight, self.bias) + SCALING * update


class RowParallelLora(nn.Module):
    """A is cut along its inputs, B is whole on every rank."""

    def __init__(self, layer, rank, world_size):
        super().__init__()
        self.weight = piece(layer.base.weight, rank, world_size, 1)
        self.bias = layer.base.bias
        self.lora_a = piece(layer.lora_a, rank, world_size, 1)
        self.lora_b = layer.lora_b

    def forward(self, x):
        y = F.linear(x, self.weight)
        dist.all_reduce(y)
        update = F.linear(F.linear(x, self.lora_a), self.lora_b)
        return y + self.bias + SCALING * update


class ParallelFeedForward(nn.Module):
    def __init__(self, whole, rank, world_size):
        super().__init__()
        self.norm = whole.norm
        self.up = ColumnParallelLora(whole.up, rank, world_size)
        self.down = RowParallelLora(whole.down, rank, world_size)

    def forward(self, x):
        return x + self.down(F.silu(self.up(self.norm(x))))


def sequential():
    return FeedForward()


def distributed(rank, world_size):
    return ParallelFeedForward(FeedForward(), rank, world_size)


def inputs():
    return (torch.randn(3, 4, WIDTH),)

TRUTH = "broken"
