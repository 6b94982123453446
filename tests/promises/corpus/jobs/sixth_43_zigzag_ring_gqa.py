"""Ring attention in zigzag order with grouped queries.

The sequence is cut into 2 N chunks; rank r works on chunks r and 2 N - 1 - r, so that causal work is balanced. Keys and
values travel around the ring (not expanded to query heads), softmax is merged online. The result is gathered at the end.
"""
import torch
import torch.distributed as dist
from torch import nn

world_size = 2
D, HEADS, KV, DH = 8, 4, 2, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.wq = nn.Linear(D, HEADS * DH, bias=False)
        self.wk = nn.Linear(D, KV * DH, bias=False)
        self.wv = nn.Linear(D, KV * DH, bias=False)
        self.wo = nn.Linear(HEADS * DH, D, bias=False)

    def heads(self, t, n):
        return t.unflatten(-1, (n, DH)).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.heads(self.wq(x), HEADS), self.heads(self.wk(x), KV), self.heads(self.wv(x), KV)
        k, v = (t.repeat_interleave(HEADS // KV, 1) for t in (k, v))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).flatten(2))


class Merge:
    """Online softmax for one chunk of queries."""

    def __init__(self, q):
        self.q, self.out, self.lse = q, None, None

    def add(self, k, v, diagonal):
        k, v = (t.repeat_interleave(HEADS // KV, 1) for t in (k, v))
        s = self.q @ k.transpose(-1, -2) / DH ** 0.5
        if diagonal:
            keep = torch.ones(s.shape[-2:], dtype=torch.bool).tril()
            s = s.masked_fill(~keep, float("-inf"))
        lse = torch.logsumexp(s, -1, keepdim=True)
        out = torch.exp(s - lse) @ v
        if self.out is None:
            self.out, self.lse = out, lse
            return
        new = torch.logaddexp(self.lse, lse)
        self.out = self.out * torch.exp(self.lse - new) + out * torch.exp(lse - new)
        self.lse = new


class ZigzagRing(Attention):
    def __init__(self, rank, n):
        super().__init__()
        self.rank, self.n = rank, n

    def pair(self, r):
        return r, 2 * self.n - 1 - r

    @torch.no_grad()
    def forward(self, x):
        n, chunks = self.n, x.chunk(2 * self.n, 1)
        mine = torch.cat([chunks[i] for i in self.pair(self.rank)], 1)
        q = self.heads(self.wq(mine), HEADS).chunk(2, 2)
        kv = torch.stack([self.heads(self.wk(mine), KV), self.heads(self.wv(mine), KV)])
        merges = [Merge(part) for part in q]
        for step in range(n):
            source = (self.rank - step) % n
            if step + 1 < n:
                incoming = torch.empty_like(kv)
                reqs = dist.batch_isend_irecv([
                    dist.P2POp(dist.isend, kv, (self.rank + 1) % n),
                    dist.P2POp(dist.irecv, incoming, (self.rank - 1) % n)])
            for merge, i in zip(merges, self.pair(self.rank)):
                for half, j in enumerate(self.pair(source)):
                    if j <= i:
                        k, v = kv.chunk(2, 3)[half]
                        merge.add(k, v, diagonal=i == j)
            if step + 1 < n:
                for r in reqs:
                    r.wait()
                kv = incoming
        y = torch.cat([m.out for m in merges], 2).transpose(1, 2).flatten(2)
        y = self.wo(y).contiguous()
        gathered = [torch.empty_like(y) for _ in range(n)]
        dist.all_gather(gathered, y)
        back = [None] * (2 * n)
        for r in range(n):
            for i, part in zip(self.pair(r), gathered[r].chunk(2, 1)):
                back[i] = part
        return torch.cat(back, 1)


def sequential():
    return Attention()


def distributed(rank, world_size):
    return ZigzagRing(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(2, 8, D),)


TRUTH = "refines"
