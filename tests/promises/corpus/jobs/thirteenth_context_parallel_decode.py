"""One decoding step: padded KV cache cut along the sequence, partial softmaxes merged by max and sum over ranks, new token on the last rank; vocabulary parallel head with distributed top-k and Gumbel sampling among the top."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

HIDDEN, HEADS, DIM, VOCAB, TOP = 8, 2, 4, 16, 3


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(HIDDEN, HIDDEN, bias=False) for _ in range(4))
        self.head = nn.Linear(HIDDEN, VOCAB, bias=False)

    def project(self, x):
        return (w(x).view(-1, 1, HEADS, DIM) for w in (self.q, self.k, self.v))

    def forward(self, x, cache_k, cache_v, lengths, noise):
        q, k, v = self.project(x)
        k, v = torch.cat([cache_k, k], 1), torch.cat([cache_v, v], 1)
        size = cache_k.shape[1]
        place = torch.arange(size + 1)
        keep = (place < lengths[:, None]) | (place == size)              # b, s + 1
        scores = torch.einsum("bqhd,bshd->bhs", q, k) * DIM**-0.5
        scores = scores.masked_fill(~keep[:, None], float("-inf"))
        a = torch.einsum("bhs,bshd->bhd", scores.softmax(-1), v)
        x = x + self.o(a.flatten(1))
        logp = self.head(x).log_softmax(-1)
        top, ids = logp.topk(TOP, -1)
        pick = (top + noise).argmax(-1, keepdim=True)
        return {"token": ids.gather(1, pick).squeeze(1), "logp": top, "ids": ids}


class ParallelDecoder(nn.Module):
    def __init__(self, full, rank, n):
        super().__init__()
        self.q, self.k, self.v, self.o = full.q, full.k, full.v, full.o
        self.head = nn.Parameter(full.head.weight.detach().chunk(n)[rank].clone())
        self.rank, self.n = rank, n

    def forward(self, x, cache_k, cache_v, lengths, noise):
        q, k, v = (w(x).view(-1, 1, HEADS, DIM) for w in (self.q, self.k, self.v))
        size = cache_k.shape[1]
        keep = torch.arange(size) + self.rank * size < lengths[:, None]
        if self.rank == self.n - 1:
            cache_k, cache_v = torch.cat([cache_k, k], 1), torch.cat([cache_v, v], 1)
            keep = F.pad(keep, (0, 1), value=True)
        scores = torch.einsum("bqhd,bshd->bhs", q, cache_k) * DIM**-0.5
        scores = scores.masked_fill(~keep[:, None], float("-inf"))
        high = scores.amax(-1, keepdim=True)
        dist.all_reduce(high, op=dist.ReduceOp.MAX)
        p = (scores - high).exp()
        parts = torch.cat([torch.einsum("bhs,bshd->bhd", p, cache_v), p.sum(-1, keepdim=True)], -1)
        dist.all_reduce(parts)
        a = parts[..., :-1] / parts[..., -1:]
        x = x + self.o(a.flatten(1))

        logits = F.linear(x, self.head)
        high = logits.amax(-1, keepdim=True)
        dist.all_reduce(high, op=dist.ReduceOp.MAX)
        total = (logits - high).exp().sum(-1, keepdim=True)
        dist.all_reduce(total)
        logp = logits - high - total.log()

        best, where = logp.topk(TOP, -1)
        where = where + self.rank * self.head.shape[0]
        bests, wheres = ([torch.empty_like(t) for _ in range(self.n)] for t in (best, where))
        dist.all_gather(bests, best)
        dist.all_gather(wheres, where)
        top, index = torch.cat(bests, -1).topk(TOP, -1)
        ids = torch.cat(wheres, -1).gather(1, index)
        pick = (top + noise).argmax(-1, keepdim=True)
        return {"token": ids.gather(1, pick).squeeze(1), "logp": top, "ids": ids}


def sequential():
    return Decoder()


def distributed(rank, world_size):
    return ParallelDecoder(Decoder(), rank, world_size)


def inputs():
    return {
        "x": torch.randn(3, HIDDEN),
        "cache_k": torch.randn(3, 8, HEADS, DIM),
        "cache_v": torch.randn(3, 8, HEADS, DIM),
        "lengths": torch.tensor([8, 3, 6]),
        "noise": -torch.rand(3, TOP).clamp(1e-3, 0.999).log().neg().log(),
    }


world_size = 4
relations = {"cache_k": "shard(1)", "cache_v": "shard(1)"}
TRUTH = "refines"
