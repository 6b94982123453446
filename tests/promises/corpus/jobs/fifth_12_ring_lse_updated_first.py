"""Ring attention merged by sigmoid, where the logarithm of the sum is updated before the output that it weighs."""

import math

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "does not refine"
WHY = "the sigmoid takes the merged log-sum-exp, so that the newest block weighs too little"

world_size = 3
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}

H, D = 2, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.qkv = nn.Linear(H * D, 3 * H * D)
        self.proj = nn.Linear(H * D, H * D)

    def attend(self, q, k, v):
        T = q.shape[-2]
        mask = torch.ones(T, T, dtype=torch.bool).triu(1)
        scores = (q @ k.transpose(-1, -2)) / math.sqrt(D)
        return scores.masked_fill(mask, float("-inf")).softmax(-1) @ v

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, H, D).permute(2, 0, 3, 1, 4)
        out = self.attend(q, k, v)
        return self.proj(out.transpose(1, 2).reshape(B, T, H * D))


class RingComm:
    def __init__(self):
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.ops = []

    def send_recv(self, t):
        got = torch.empty_like(t)
        self.ops.append(dist.P2POp(dist.isend, t, (self.rank + 1) % self.size))
        self.ops.append(dist.P2POp(dist.irecv, got, (self.rank - 1) % self.size))
        return got

    def commit(self):
        self.reqs = dist.batch_isend_irecv(self.ops)

    def wait(self):
        for r in self.reqs:
            r.wait()
        self.ops = []


def block(q, k, v, causal):
    scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
    if causal:
        T = q.shape[-2]
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), float("-inf"))
    lse = torch.logsumexp(scores, dim=-1, keepdim=True)
    return torch.exp(scores - lse) @ v, lse


class RingAttention(Attention):
    def attend(self, q, k, v):
        comm = RingComm()
        k, v = k.contiguous(), v.contiguous()
        out = lse = None
        for step in range(comm.size):
            if step + 1 != comm.size:
                next_k, next_v = comm.send_recv(k), comm.send_recv(v)
                comm.commit()
            if step <= comm.rank:
                block_out, block_lse = block(q, k, v, causal=step == 0)
                if out is None:
                    out, lse = block_out, block_lse
                else:
                    lse = lse - F.logsigmoid(lse - block_lse)
                    out = out - torch.sigmoid(block_lse - lse) * (out - block_out)
            if step + 1 != comm.size:
                comm.wait()
                k, v = next_k, next_v
        return out


def sequential():
    return Attention()


def distributed(rank, world_size):
    return RingAttention()


def inputs():
    torch.manual_seed(3)
    return (torch.randn(2, 6, H * D),)
