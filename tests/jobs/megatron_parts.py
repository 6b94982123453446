"""The four functions that hand-written tensor parallelism is made of, by plain torch.distributed."""

import torch
import torch.distributed as dist


class Copy(torch.autograd.Function):
    """Into the parallel region: the same on every rank; gradients are added up."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


class Reduce(torch.autograd.Function):
    """Out of it: partial results are added up; the gradient is the same on every rank."""

    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class Gather(torch.autograd.Function):
    """From shards along dimension `dim` to the whole; gradients are added up and cut again."""

    @staticmethod
    def forward(ctx, x, dim):
        ctx.dim = dim
        parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, x.contiguous())
        return torch.cat(parts, dim)

    @staticmethod
    def backward(ctx, grad):
        return scattered(grad, ctx.dim), None


class Scatter(torch.autograd.Function):
    """From partial results to shards of their sum along dimension `dim`; gradients are gathered."""

    @staticmethod
    def forward(ctx, x, dim):
        ctx.dim = dim
        return scattered(x, dim)

    @staticmethod
    def backward(ctx, grad):
        parts = [torch.empty_like(grad) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, grad.contiguous())
        return torch.cat(parts, ctx.dim), None


def scattered(x, dim):
    """This rank's shard of the sum over ranks."""
    parts = [part.contiguous() for part in x.chunk(dist.get_world_size(), dim)]
    out = torch.empty_like(parts[dist.get_rank()])
    dist.reduce_scatter(out, parts)
    return out


def shard(tensor, dim, rank, world_size):
    """A parameter that is one rank's part of a tensor, cut evenly along `dim`."""
    return torch.nn.Parameter(tensor.detach().chunk(world_size, dim)[rank].clone())


def generic(module):
    """The module with random weights throughout: norms of one and biases of zero would hide mistakes."""
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(torch.randn(weight.shape) * 0.3 + (1.0 if weight.dim() == 1 else 0.0))
    return module
