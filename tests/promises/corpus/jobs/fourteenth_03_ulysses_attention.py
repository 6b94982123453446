"""DeepSpeed-Ulysses: sequence cut, all-to-all to cut heads around attention, forward and backward; weight gradients left as partial sums, 2 ranks."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS = 12, 4


def all_to_all(x, scatter, gather):
    world = dist.get_world_size()
    send = [t.contiguous() for t in x.chunk(world, scatter)]
    received = [torch.empty_like(t) for t in send]
    dist.all_to_all(received, send)
    return torch.cat(received, gather)


class SeqAllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scatter, gather):
        ctx.dims = scatter, gather
        return all_to_all(x, scatter, gather)

    @staticmethod
    def backward(ctx, grad):
        scatter, gather = ctx.dims
        return all_to_all(grad, gather, scatter), None, None


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.norm = nn.LayerNorm(WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def attend(self, q, k, v):                             # b s h d
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)

    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, s, 3, HEADS, -1).unbind(2)
        return x + self.out(self.attend(q, k, v).reshape(b, s, WIDTH))


class UlyssesAttention(Attention):
    def attend(self, q, k, v):
        q, k, v = (SeqAllToAll.apply(t, 2, 1) for t in (q, k, v))      # all of the sequence, some heads
        return SeqAllToAll.apply(super().attend(q, k, v), 1, 2)


def sequential():
    return Attention()


def distributed(rank, world_size):
    return UlyssesAttention()


def inputs():
    return (torch.randn(2, 6, WIDTH),)


world_size = 2
backward = True
relations = {"x": "shard(1)"}
expected = {
    "0": "shard(1)",
    "grad.qkv.weight": "partial",          # the data-parallel reducer sums these over the sequence group
    "grad.norm.weight": "partial",
    "grad.norm.bias": "partial",
    "grad.out.weight": "partial",
    "grad.out.bias": "partial",
}

TRUTH = "refines"
