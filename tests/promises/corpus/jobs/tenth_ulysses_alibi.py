"""Ulysses: all-to-all from pieces of the sequence to pieces of the heads and back, ALiBi slopes of the rank's own heads, and gradients of the replicated weights summed over ranks."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HEADS, HD = 12, 4, 3


def slopes(n):
    return torch.tensor([2.0 ** (-8.0 * (i + 1) / n) for i in range(n)])


def bias(slope, length):
    t = torch.arange(length)
    distance = (t[None, :] - t[:, None]).to(torch.get_default_dtype())
    mask = torch.zeros(length, length).masked_fill(distance > 0, float("-inf"))
    return slope.to(distance.dtype)[:, None, None] * distance + mask


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * HEADS * HD, bias=False)
        self.out = nn.Linear(HEADS * HD, DIM)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, HEADS, HD).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias(slopes(HEADS), t))
        return x + self.out(y.transpose(1, 2).reshape(b, t, -1))


class AllToAll(torch.autograd.Function):
    """Cuts `scatter`, puts together `gather`."""

    @staticmethod
    def forward(ctx, x, scatter, gather):
        ctx.dims = scatter, gather
        n = dist.get_world_size()
        sent = torch.stack([p.contiguous() for p in x.chunk(n, scatter)])
        received = torch.empty_like(sent)
        dist.all_to_all_single(received, sent)
        return torch.cat(list(received.unbind(0)), gather)

    @staticmethod
    def backward(ctx, grad):
        scatter, gather = ctx.dims
        return AllToAll.apply(grad, gather, scatter), None, None


class SumGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        return w.view_as(w)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
        dist.all_reduce(grad)
        return grad


class Ulysses(nn.Module):
    def __init__(self, block, rank, world_size):
        super().__init__()
        self.block, self.rank, self.world_size = block, rank, world_size

    def forward(self, x):
        w = {name: SumGradient.apply(p) for name, p in self.block.named_parameters()}
        b, t, _ = x.shape
        h = F.layer_norm(x, (DIM,), w["norm.weight"], w["norm.bias"])
        qkv = F.linear(h, w["qkv.weight"]).view(b, t, 3, HEADS, HD)
        qkv = AllToAll.apply(qkv, 3, 1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        own = slopes(HEADS).chunk(self.world_size)[self.rank]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias(own, t * self.world_size))
        y = AllToAll.apply(y.transpose(1, 2), 1, 2)
        return x + F.linear(y.reshape(b, t, -1), w["out.weight"], w["out.bias"])


def sequential():
    return Block()


def distributed(rank, world_size):
    return Ulysses(Block(), rank, world_size)


def inputs():
    return (torch.randn(2, 6, DIM),)


world_size = 2
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}
backward = True


TRUTH = "refines"
