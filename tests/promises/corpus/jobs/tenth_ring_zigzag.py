"""Causal ring attention in zigzag order: keys and values go round by batched sends, blocks are merged by their log-sum-exp, and global positions decide what is masked."""
import math

import torch
import torch.distributed as dist
from torch import nn

DIM, HEADS = 8, 2


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.out = nn.Linear(DIM, DIM)

    def project(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return [t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in (q, k, v)]

    def forward(self, x):
        q, k, v = self.project(x)
        scores = q @ k.transpose(-1, -2) / math.sqrt(DIM // HEADS)
        t = x.shape[1]
        scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
        y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).flatten(2))


def zigzag(rank, world_size, length):
    """Positions of a rank: a chunk from the front, and its mirror image from the back."""
    c = length // (2 * world_size)
    other = 2 * world_size - 1 - rank
    return [*range(rank * c, (rank + 1) * c), *range(other * c, (other + 1) * c)]


class Ring(nn.Module):
    def __init__(self, model, rank, world_size):
        super().__init__()
        self.model, self.rank, self.world_size = model, rank, world_size

    def shift(self, kv):
        received = torch.empty_like(kv)
        after, before = (self.rank + 1) % self.world_size, (self.rank - 1) % self.world_size
        for work in dist.batch_isend_irecv(
            [dist.P2POp(dist.isend, kv, after), dist.P2POp(dist.irecv, received, before)]
        ):
            work.wait()
        return received

    def forward(self, x):
        length = x.shape[1]
        mine = zigzag(self.rank, self.world_size, length)
        q, k, v = self.model.project(x[:, mine])
        kv = torch.stack([k, v]).contiguous()
        out = lse = None
        for step in range(self.world_size):
            theirs = zigzag((self.rank - step) % self.world_size, self.world_size, length)
            rows = [i for i, p in enumerate(mine) if p >= theirs[0]]  # the others see nothing of this block
            k, v = kv.unbind(0)
            scores = q[:, :, rows] @ k.transpose(-1, -2) / math.sqrt(DIM // HEADS)
            hidden = torch.tensor(theirs) > torch.tensor(mine)[rows, None]
            scores = scores.masked_fill(hidden, float("-inf"))
            block_lse, block_out = scores.logsumexp(-1), scores.softmax(-1) @ v
            if step == 0:
                out, lse = block_out, block_lse
            else:
                merged = torch.logaddexp(lse[:, :, rows], block_lse)
                old = out[:, :, rows] * (lse[:, :, rows] - merged).exp().unsqueeze(-1)
                new = block_out * (block_lse - merged).exp().unsqueeze(-1)
                out = out.index_copy(2, torch.tensor(rows), old + new)
                lse = lse.index_copy(2, torch.tensor(rows), merged)
            if step + 1 < self.world_size:
                kv = self.shift(kv)
        y = self.model.out(out.transpose(1, 2).flatten(2)).contiguous()
        parts = [torch.empty_like(y) for _ in range(self.world_size)]
        dist.all_gather(parts, y)
        order = [p for r in range(self.world_size) for p in zigzag(r, self.world_size, length)]
        return torch.cat(parts, 1)[:, torch.tensor(order).argsort()]


def sequential():
    return Attention()


def distributed(rank, world_size):
    return Ring(Attention(), rank, world_size)


def inputs():
    return (torch.randn(2, 16, DIM),)


world_size = 4


TRUTH = "refines"
