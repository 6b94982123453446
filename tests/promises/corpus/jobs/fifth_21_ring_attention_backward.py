"""Ring attention with its own backward: keys and values go round once forward, once backward with their gradients."""

import torch
import torch.distributed as dist
from torch import nn

TRUTH = "refines"
WHY = "the backward recomputes each block's probabilities from the log-sum-exp, and gradients of keys and values come home after a full turn"

world_size = 2
relations = {"q": "shard(1)", "k": "shard(1)", "v": "shard(1)"}
expected = {"0": "shard(1)", "1": "shard(1)", "2": "shard(1)", "3": "shard(1)"}

D = 3


def turn(*tensors):
    rank, size = dist.get_rank(), dist.get_world_size()
    got = [torch.empty_like(t) for t in tensors]
    ops = []
    for t, g in zip(tensors, got):
        ops += [dist.P2POp(dist.isend, t.contiguous(), (rank + 1) % size), dist.P2POp(dist.irecv, g, (rank - 1) % size)]
    for req in dist.batch_isend_irecv(ops):
        req.wait()
    return got


class Ring(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        size, scale = dist.get_world_size(), D**-0.5
        top = torch.full(q.shape[:-1], float("-inf"))
        total, out = torch.zeros(q.shape[:-1]), torch.zeros_like(q)
        kk, vv = k, v
        for step in range(size):
            s = q @ kk.transpose(-1, -2) * scale
            new = torch.maximum(top, s.amax(-1))
            p = torch.exp(s - new[..., None])
            old = torch.exp(top - new)
            total = total * old + p.sum(-1)
            out = out * old[..., None] + p @ vv
            top = new
            if step + 1 < size:
                kk, vv = turn(kk, vv)
        out = out / total[..., None]
        ctx.save_for_backward(q, k, v, out, top + total.log())
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out, lse = ctx.saved_tensors
        size, scale = dist.get_world_size(), D**-0.5
        delta = (grad * out).sum(-1, keepdim=True)
        dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        for _ in range(size):
            p = torch.exp(q @ k.transpose(-1, -2) * scale - lse[..., None])
            dv = dv + p.transpose(-1, -2) @ grad
            ds = p * (grad @ v.transpose(-1, -2) - delta) * scale
            dq = dq + ds @ k
            dk = dk + ds.transpose(-1, -2) @ q
            k, v, dk, dv = turn(k, v, dk, dv)
        return dq, dk, dv


class Attention(nn.Module):
    def attend(self, q, k, v):
        return (q @ k.transpose(-1, -2) * D**-0.5).softmax(-1) @ v

    def forward(self, q, k, v):
        q, k, v = (t.detach().clone().requires_grad_() for t in (q, k, v))
        out = self.attend(q, k, v)
        grads = torch.autograd.grad(out.pow(3).sum(), (q, k, v))
        return (out.detach(), *grads)


class RingAttention(Attention):
    def attend(self, q, k, v):
        return Ring.apply(q, k, v)


def sequential():
    return Attention()


def distributed(rank, world_size):
    return RingAttention()


def inputs():
    torch.manual_seed(31)
    return {n: torch.randn(2, 4, D) for n in "qkv"}
