"""LoRA on a tensor-parallel MLP: the replicated lora_A of the column-parallel layer feeds a sharded lora_B, and its gradient is never summed over the ranks."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HIDDEN, RANK, ALPHA = 6, 8, 3, 4


class CopyToTP(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


class ReduceFromTP(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class LoRALinear(nn.Module):
    def __init__(self, fan_in, fan_out):
        super().__init__()
        self.base = nn.Linear(fan_in, fan_out, bias=False).requires_grad_(False)
        self.lora_a = nn.Parameter(torch.randn(RANK, fan_in) * fan_in**-0.5)
        self.lora_b = nn.Parameter(torch.randn(fan_out, RANK) * 0.1)

    def forward(self, x):
        return self.base(x) + ALPHA / RANK * (x @ self.lora_a.t() @ self.lora_b.t())


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = LoRALinear(DIM, HIDDEN), LoRALinear(HIDDEN, DIM)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class ColumnParallelLoRA(LoRALinear):
    def shard(self, rank, world_size):
        self.base.weight.data = self.base.weight.data.chunk(world_size, 0)[rank].clone()
        self.lora_b.data = self.lora_b.data.chunk(world_size, 0)[rank].clone()
        return self

    def forward(self, x):
        x = CopyToTP.apply(x)
        return self.base(x) + ALPHA / RANK * (x @ self.lora_a.t() @ self.lora_b.t())


class RowParallelLoRA(LoRALinear):
    def shard(self, rank, world_size):
        self.base.weight.data = self.base.weight.data.chunk(world_size, 1)[rank].clone()
        self.lora_a.data = self.lora_a.data.chunk(world_size, 1)[rank].clone()
        return self

    def forward(self, x):
        low = ReduceFromTP.apply(x @ self.lora_a.t())
        return ReduceFromTP.apply(self.base(x)) + ALPHA / RANK * (low @ self.lora_b.t())


def sequential():
    return MLP()


def distributed(rank, world_size):
    mlp = MLP()
    mlp.up.__class__, mlp.down.__class__ = ColumnParallelLoRA, RowParallelLoRA
    mlp.up.shard(rank, world_size)
    mlp.down.shard(rank, world_size)
    return mlp


def inputs():
    return (torch.randn(5, DIM),)


world_size = 2
backward = True
TRUTH = "broken"
