"""Sampling from a column-parallel LM head: temperature, local top-k, gathered candidates, top-p cut, inverse-CDF draw, and the token's full log-probability, 4 ranks."""
import torch
import torch.distributed as dist
from torch import nn

WIDTH, VOCAB, K, TOP_P, TEMPERATURE = 8, 32, 5, 0.9, 0.7


def pick(values, u):
    """values: the k best, falling. Returns the place of the drawn one."""
    probs = values.softmax(-1)
    before = probs.cumsum(-1) - probs
    probs = probs.masked_fill(before > TOP_P, 0.0)
    cdf = (probs / probs.sum(-1, keepdim=True)).cumsum(-1)
    return (cdf < u[:, None]).sum(-1, keepdim=True).clamp(max=K - 1)


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, hidden, u):
        logits = self.head(self.norm(hidden)) / TEMPERATURE
        values, ids = logits.topk(K, dim=-1)
        place = pick(values, u)
        token = ids.gather(-1, place)
        logprob = logits.log_softmax(-1).gather(-1, token)
        return token.squeeze(-1), logprob.squeeze(-1)


class ShardedSampler(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.world, self.rows = world_size, VOCAB // world_size
        self.start = rank * self.rows
        self.norm = full.norm
        self.head = nn.Linear(WIDTH, self.rows, bias=False)
        self.head.weight = nn.Parameter(full.head.weight.detach()[self.start:self.start + self.rows].clone())

    def gather(self, x):
        parts = [torch.empty_like(x) for _ in range(self.world)]
        dist.all_gather(parts, x.contiguous())
        return torch.cat(parts, -1)

    def forward(self, hidden, u):
        logits = self.head(self.norm(hidden)) / TEMPERATURE
        values, ids = logits.topk(min(K, self.rows), dim=-1)
        values, ids = self.gather(values), self.gather(ids + self.start)
        values, best = values.topk(K, dim=-1)
        ids = ids.gather(-1, best)
        place = pick(values, u)
        top = values[:, :1]                                # the largest logit of all
        total = (logits - top).exp().sum(-1, keepdim=True)
        dist.all_reduce(total)
        logprob = values.gather(-1, place) - top - total.log()
        return ids.gather(-1, place).squeeze(-1), logprob.squeeze(-1)


def sequential():
    return Sampler()


def distributed(rank, world_size):
    return ShardedSampler(Sampler(), rank, world_size)


def inputs():
    return torch.randn(3, WIDTH), torch.rand(3)


world_size = 4

TRUTH = "refines"
