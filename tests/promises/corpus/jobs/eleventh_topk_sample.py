"""One sampling step over a vocabulary-sharded head: local top-k, gather, global top-k, Gumbel noise, log-probability under the whole vocabulary."""
import torch
import torch.distributed as dist
from torch import nn

DIM, VOCAB, K, TEMPERATURE = 8, 32, 4, 0.7


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = RMSNorm(DIM)
        self.lm_head = nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, hidden, gumbel):
        logits = self.lm_head(self.norm(hidden[:, -1])) / TEMPERATURE
        values, ids = logits.topk(K, dim=-1)
        probs = values.softmax(dim=-1)
        choice = (values + gumbel).argmax(dim=-1, keepdim=True)
        token = ids.gather(1, choice).squeeze(1)
        logprob = logits.log_softmax(dim=-1).gather(1, token.unsqueeze(1)).squeeze(1)
        return {"token": token, "logprob": logprob, "probs": probs}


class ShardedSampler(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.world_size = world_size
        self.per_rank = VOCAB // world_size
        self.start = rank * self.per_rank
        self.norm = full.norm
        self.lm_head = nn.Linear(DIM, self.per_rank, bias=False)
        self.lm_head.weight = nn.Parameter(full.lm_head.weight[self.start : self.start + self.per_rank].detach().clone())

    def gather(self, x):
        pieces = [torch.empty_like(x) for _ in range(self.world_size)]
        dist.all_gather(pieces, x.contiguous())
        return torch.cat(pieces, dim=-1)

    def log_normalizer(self, logits):
        peak = logits.amax(dim=-1)
        dist.all_reduce(peak, op=dist.ReduceOp.MAX)
        total = (logits - peak.unsqueeze(-1)).exp().sum(dim=-1)
        dist.all_reduce(total)
        return peak + total.log()

    def forward(self, hidden, gumbel):
        logits = self.lm_head(self.norm(hidden[:, -1])) / TEMPERATURE
        local_values, local_ids = logits.topk(K, dim=-1)
        values, ids = self.gather(local_values), self.gather(local_ids + self.start)
        values, where = values.topk(K, dim=-1)
        ids = ids.gather(1, where)
        choice = (values + gumbel).argmax(dim=-1, keepdim=True)
        token = ids.gather(1, choice).squeeze(1)
        logprob = values.gather(1, choice).squeeze(1) - self.log_normalizer(logits)
        return {"token": token, "logprob": logprob, "probs": values.softmax(dim=-1)}


def sequential():
    return Sampler()


def distributed(rank, world_size):
    return ShardedSampler(Sampler(), rank, world_size)


def inputs():
    gumbel = -torch.log(-torch.log(torch.rand(3, K).clamp(1e-3, 1 - 1e-3)))
    return {"hidden": torch.randn(3, 2, DIM), "gumbel": gumbel}


world_size = 4


TRUTH = "refines"
