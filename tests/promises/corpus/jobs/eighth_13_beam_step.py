"""One step of beam search with a vocabulary-parallel output layer and a key/value cache whose heads are spread over ranks. Each
rank proposes its best continuations; all ranks choose among the gathered proposals and reorder their part of the cache."""

import torch
import torch.distributed as dist
from torch import nn

BATCH, BEAMS, VOCAB, DIM = 2, 3, 20, 8
LENGTH_PENALTY = 0.6


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(DIM)
        self.lm_head = nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, hidden, scores, lengths, cache):
        logp = torch.log_softmax(self.lm_head(self.norm(hidden)), -1)
        total = scores.unsqueeze(-1) + logp  # BATCH, BEAMS, VOCAB
        best, flat = total.view(BATCH, -1).topk(BEAMS)
        parents, tokens = flat // VOCAB, flat % VOCAB
        lengths = lengths.gather(1, parents) + 1
        normalised = best / ((5 + lengths.to(best.dtype)) / 6) ** LENGTH_PENALTY
        index = parents[:, :, None, None, None].expand_as(cache)
        return {"tokens": tokens, "parents": parents, "scores": best, "ranking": normalised, "lengths": lengths,
                "cache": cache.gather(1, index)}


class ParallelStep(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        full = Step()
        self.norm = full.norm
        self.world_size = world_size
        self.size = VOCAB // world_size
        self.first = rank * self.size
        self.lm_head = nn.Linear(DIM, self.size, bias=False)
        self.lm_head.weight = nn.Parameter(full.lm_head.weight.detach()[self.first : self.first + self.size].clone())

    def gather(self, t):
        parts = [torch.empty_like(t) for _ in range(self.world_size)]
        dist.all_gather(parts, t.contiguous())
        return torch.cat(parts, -1)

    @torch.no_grad()
    def forward(self, hidden, scores, lengths, cache):
        logits = self.lm_head(self.norm(hidden))
        normaliser = self.gather(torch.logsumexp(logits, -1, keepdim=True)).logsumexp(-1, keepdim=True)
        total = scores.unsqueeze(-1) + logits - normaliser

        best, flat = total.view(BATCH, -1).topk(BEAMS)
        parents, tokens = flat // self.size, flat % self.size + self.first
        best, parents, tokens = self.gather(best), self.gather(parents), self.gather(tokens)
        best, chosen = best.topk(BEAMS)
        parents, tokens = parents.gather(1, chosen), tokens.gather(1, chosen)

        lengths = lengths.gather(1, parents) + 1
        normalised = best / ((5 + lengths.to(best.dtype)) / 6) ** LENGTH_PENALTY
        index = parents[:, :, None, None, None].expand_as(cache)
        return {"tokens": tokens, "parents": parents, "scores": best, "ranking": normalised, "lengths": lengths,
                "cache": cache.gather(1, index)}


def sequential():
    return Step()


def distributed(rank, world_size):
    return ParallelStep(rank, world_size)


def inputs():
    return {
        "hidden": torch.randn(BATCH, BEAMS, DIM),
        "scores": -torch.rand(BATCH, BEAMS) * 3,
        "lengths": torch.randint(3, 7, (BATCH, BEAMS)),
        "cache": torch.randn(BATCH, BEAMS, 4, 5, 2),  # heads, positions, head size
    }


world_size = 2
relations = {"cache": "shard(2)"}
expected = {"cache": "shard(2)"}

TRUTH = "refines"
