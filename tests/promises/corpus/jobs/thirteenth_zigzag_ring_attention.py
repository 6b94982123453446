"""Causal ring attention with zigzag chunks (batch_isend_irecv in an autograd.Function, online softmax), output gathered into sequence order; weight and input gradients are declared partial."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

HIDDEN, HEADS = 8, 2


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN, bias=False)
        self.out = nn.Linear(HIDDEN, HIDDEN)

    def heads(self, x):
        b, s, _ = x.shape
        return self.qkv(x).view(b, s, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)

    def forward(self, x):
        q, k, v = self.heads(x)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(a.transpose(1, 2).flatten(2))


def shift(x, by):
    rank, n = dist.get_rank(), dist.get_world_size()
    x, got = x.contiguous(), torch.empty_like(x, memory_format=torch.contiguous_format)
    ops = [
        dist.P2POp(dist.isend, x, (rank + by) % n),
        dist.P2POp(dist.irecv, got, (rank - by) % n),
    ]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    return got


class Rotate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return shift(x, 1)

    @staticmethod
    def backward(ctx, grad):
        return shift(grad, -1)


class GatherZigzag(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        n = dist.get_world_size()
        parts = [torch.empty_like(x) for _ in range(n)]
        dist.all_gather(parts, x.contiguous())
        halves = [p.chunk(2, 1) for p in parts]
        return torch.cat([h[0] for h in halves] + [h[1] for h in reversed(halves)], 1)

    @staticmethod
    def backward(ctx, grad):
        rank, n = dist.get_rank(), dist.get_world_size()
        chunks = grad.chunk(2 * n, 1)
        return torch.cat([chunks[rank], chunks[2 * n - 1 - rank]], 1)


def positions(rank, n, size):
    first, second = rank, 2 * n - 1 - rank
    return torch.cat([torch.arange(size) + first * size, torch.arange(size) + second * size])


class RingAttention(Attention):
    def __init__(self, rank, n):
        super().__init__()
        self.rank, self.n = rank, n

    def forward(self, x):
        rank, n = self.rank, self.n
        size = x.shape[1] // (2 * n)
        mine = positions(rank, n, size)
        q, k, v = self.heads(x[:, mine])
        q = q * q.shape[-1] ** -0.5
        kv = torch.stack([k, v])
        top = total = acc = None
        for step in range(n):
            theirs = positions((rank - step) % n, n, size)
            scores = q @ kv[0].transpose(-1, -2)
            scores = scores.masked_fill(theirs[None, :] > mine[:, None], float("-inf"))
            high = scores.detach().amax(-1, keepdim=True)
            if step == 0:
                top = high
                p = (scores - top).exp()
                total, acc = p.sum(-1, keepdim=True), p @ kv[1]
            else:
                new = torch.maximum(top, high)
                p, old = (scores - new).exp(), (top - new).exp()
                total, acc, top = total * old + p.sum(-1, keepdim=True), acc * old + p @ kv[1], new
            if step + 1 < n:
                kv = Rotate.apply(kv)
        return GatherZigzag.apply(self.out((acc / total).transpose(1, 2).flatten(2)))


def sequential():
    return Attention()


def distributed(rank, world_size):
    return RingAttention(rank, world_size)


def inputs():
    return torch.randn(2, 16, HIDDEN)


world_size = 4
backward = True
expected = {
    "grad.qkv.weight": "partial",
    "grad.out.weight": "partial",
    "grad.out.bias": "partial",
    "grad.x": "partial",
}
TRUTH = "refines"
