"""Top-k sampling from a vocab-parallel head: local top-k, gathered candidates, inverse CDF at a given uniform, and the token's full log-probability."""
import torch
import torch.distributed as dist
from torch import nn

DIM, VOCAB, TOP, TEMPERATURE = 5, 12, 3, 0.8


def draw(values, u):
    cdf = (values / TEMPERATURE).softmax(-1).cumsum(-1)
    return (cdf < u.unsqueeze(-1)).sum(-1, keepdim=True).clamp(max=TOP - 1)


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(DIM, eps=1e-6)
        self.head = nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, hidden, u):
        logits = self.head(self.norm(hidden))
        values, tokens = logits.topk(TOP, dim=-1)
        which = draw(values, u)
        token = tokens.gather(-1, which)
        logprob = logits.log_softmax(-1).gather(-1, token)
        return token.squeeze(-1), logprob.squeeze(-1)


class VocabParallelSampler(nn.Module):
    def __init__(self, sampler, rank, world_size):
        super().__init__()
        self.norm, self.world = sampler.norm, world_size
        per = VOCAB // world_size
        self.start = rank * per
        self.head = nn.Linear(DIM, per, bias=False)
        self.head.weight.data.copy_(sampler.head.weight.data[self.start : self.start + per])

    def gather(self, x):
        pieces = [torch.empty_like(x) for _ in range(self.world)]
        dist.all_gather(pieces, x.contiguous())
        return torch.cat(pieces, dim=-1)

    def forward(self, hidden, u):
        logits = self.head(self.norm(hidden)).detach()
        values, tokens = logits.topk(TOP, dim=-1)
        values, tokens = self.gather(values), self.gather(tokens + self.start)
        values, order = values.topk(TOP, dim=-1)
        tokens = tokens.gather(-1, order)
        which = draw(values, u)
        token, value = tokens.gather(-1, which), values.gather(-1, which)
        top = values[:, :1]                                        # the greatest logit of all ranks
        total = (logits - top).exp().sum(-1, keepdim=True)
        dist.all_reduce(total)
        logprob = value - top - total.log()
        return token.squeeze(-1), logprob.squeeze(-1)


def sequential():
    return Sampler()


def distributed(rank, world_size):
    return VocabParallelSampler(Sampler(), rank, world_size)


def inputs():
    return {"hidden": torch.randn(7, DIM), "u": torch.rand(7)}


world_size = 3
TRUTH = "refines"
