"""Unified sequence parallelism: Ulysses inside a row of the mesh, a causal ring of keys and values across rows."""
import math

import torch
import torch.distributed as dist
from torch import nn

HEADS, SIZE = 4, 3


class Attention(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * HEADS * SIZE)
        self.out = nn.Linear(HEADS * SIZE, dim)

    def project(self, x):
        return self.qkv(x).unflatten(-1, (3, HEADS, SIZE)).unbind(-3)      # each [batch, time, heads, size]

    def attend(self, q, k, v):
        scores = torch.einsum("bthd,bshd->bhts", q, k) / math.sqrt(SIZE)
        t = q.shape[1]
        scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
        return torch.einsum("bhts,bshd->bthd", scores.softmax(dim=-1), v)

    def forward(self, x):
        return self.out(self.attend(*self.project(x)).flatten(-2))


class UnifiedAttention(Attention):
    def __init__(self, mesh):
        super().__init__()
        self.ring, self.ulysses = mesh.get_group("ring"), mesh.get_group("ulysses")
        self.row, self.rows = mesh.get_local_rank("ring"), mesh.size(0)
        self.columns = mesh.size(1)

    def to_heads(self, x):                       # [batch, part of time, heads, size] to [batch, time, part of heads, size]
        pieces = [p.contiguous() for p in x.chunk(self.columns, dim=2)]
        got = [torch.empty_like(p) for p in pieces]
        self.exchange(got, pieces)
        return torch.cat(got, dim=1)

    def to_time(self, x):
        pieces = [p.contiguous() for p in x.chunk(self.columns, dim=1)]
        got = [torch.empty_like(p) for p in pieces]
        self.exchange(got, pieces)
        return torch.cat(got, dim=2)

    def exchange(self, got, pieces):
        sent = torch.stack(pieces)
        received = torch.empty_like(sent)
        dist.all_to_all_single(received, sent, group=self.ulysses)
        for i, g in enumerate(got):
            g.copy_(received[i])

    def pass_on(self, kv):
        arriving = torch.empty_like(kv)
        after = dist.get_global_rank(self.ring, (self.row + 1) % self.rows)
        before = dist.get_global_rank(self.ring, (self.row - 1) % self.rows)
        ops = [
            dist.P2POp(dist.isend, kv, after, group=self.ring),
            dist.P2POp(dist.irecv, arriving, before, group=self.ring),
        ]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        return arriving

    def attend(self, q, k, v):
        q, k, v = self.to_heads(q), self.to_heads(k), self.to_heads(v)
        t = q.shape[1]
        kv = torch.stack([k, v])
        out, lse = None, None
        for step in range(self.rows):
            owner = (self.row - step) % self.rows
            if owner <= self.row:                # later blocks are all masked
                scores = torch.einsum("bthd,bshd->bhts", q, kv[0]) / math.sqrt(SIZE)
                if owner == self.row:
                    scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
                block_lse = torch.logsumexp(scores, dim=-1)
                block = torch.einsum("bhts,bshd->bhtd", torch.exp(scores - block_lse[..., None]), kv[1])
                if out is None:
                    out, lse = block, block_lse
                else:
                    both = torch.logaddexp(lse, block_lse)
                    out = out * torch.exp(lse - both)[..., None] + block * torch.exp(block_lse - both)[..., None]
                    lse = both
            if step + 1 < self.rows:
                kv = self.pass_on(kv)
        return self.to_time(out.transpose(1, 2).contiguous())


def sequential():
    return Attention()


def distributed(rank, world_size, mesh):
    return UnifiedAttention(mesh)


def inputs():
    return torch.randn(2, 8, 6)


mesh = {"ring": 2, "ulysses": 2}
world_size = 4
relations = {"x": "shard(1) over ring, shard(1) over ulysses"}
expected = {"0": "shard(1) over ring, shard(1) over ulysses"}


TRUTH = "refines"
