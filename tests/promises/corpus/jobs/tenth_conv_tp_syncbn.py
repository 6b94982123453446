"""Convolutions cut by output and then by input channels over tp, with a batch norm whose sums, squares and counts are added over dp, running statistics included; gradients of weights summed over dp."""
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as DF
import torch.nn.functional as F
from torch import nn

IN, MID, OUT = 3, 4, 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(IN, MID, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(MID)
        self.second = nn.Conv2d(MID, OUT, 3, stride=2)

    def forward(self, x):
        return self.second(F.relu(self.bn(self.first(x))))


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
        dist.all_reduce(grad, group=ctx.group)
        return grad, None


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        x = x.contiguous().clone()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class BatchNorm(nn.Module):
    def __init__(self, bn, n, r):
        super().__init__()
        self.eps, self.momentum = bn.eps, bn.momentum
        self.weight = nn.Parameter(bn.weight.detach().chunk(n)[r].clone())
        self.bias = nn.Parameter(bn.bias.detach().chunk(n)[r].clone())
        self.register_buffer("running_mean", bn.running_mean.chunk(n)[r].clone())
        self.register_buffer("running_var", bn.running_var.chunk(n)[r].clone())
        self.register_buffer("num_batches_tracked", bn.num_batches_tracked.clone())

    def forward(self, x, dp):
        c = x.shape[1]
        count = torch.full((1,), float(x.numel() // c), dtype=x.dtype)
        sums = torch.cat([x.sum((0, 2, 3)), x.square().sum((0, 2, 3)), count])
        sums = DF.all_reduce(sums, group=dp)
        total = sums[-1].detach()
        mean = sums[:c] / total
        var = sums[c : 2 * c] / total - mean.square()
        with torch.no_grad():
            self.running_mean.mul_(1 - self.momentum).add_(self.momentum * mean)
            self.running_var.mul_(1 - self.momentum).add_(self.momentum * var * total / (total - 1))
            self.num_batches_tracked.add_(1)
        weight, bias = Copy.apply(self.weight, dp), Copy.apply(self.bias, dp)
        scale = weight * torch.rsqrt(var + self.eps)
        return (x - mean[:, None, None]) * scale[:, None, None] + bias[:, None, None]


class Parallel(nn.Module):
    def __init__(self, block, mesh):
        super().__init__()
        self.dp, self.tp = mesh.get_group("dp"), mesh.get_group("tp")
        n, r = mesh.size(1), mesh.get_local_rank("tp")
        self.first = nn.Parameter(block.first.weight.detach().chunk(n)[r].clone())
        self.bn = BatchNorm(block.bn, n, r)
        self.second = nn.Parameter(block.second.weight.detach().chunk(n, 1)[r].clone())
        self.second_bias = nn.Parameter(block.second.bias.detach().clone())

    def forward(self, x):
        x = Copy.apply(x, self.tp)
        x = F.conv2d(x, Copy.apply(self.first, self.dp), padding=1)
        x = F.relu(self.bn(x, self.dp))
        x = Reduce.apply(F.conv2d(x, Copy.apply(self.second, self.dp), stride=2), self.tp)
        return x + Copy.apply(self.second_bias, self.dp)[:, None, None]


def sequential():
    return Block()


def distributed(rank, world_size, mesh):
    return Parallel(Block(), mesh)


def inputs():
    return (torch.randn(4, IN, 5, 5),)


mesh = {"dp": 2, "tp": 2}
world_size = 4
relations = {"x": "shard(0) over dp"}
expected = {"0": "shard(0) over dp"}
backward = True


TRUTH = "refines"
