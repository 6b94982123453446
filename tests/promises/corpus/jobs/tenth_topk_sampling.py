"""Top-k and top-p sampling from a head cut over the vocabulary: each rank's own top k, with global ids, are gathered, and the top k of these are those of the whole."""
import torch
import torch.distributed as dist
from torch import nn

VOCAB, DIM, K, P, TEMPERATURE = 32, 6, 5, 0.9, 0.7


def pick(values, ids, u):
    """Draws from the sorted candidates with the given uniform numbers."""
    probs = (values / TEMPERATURE).softmax(-1)
    before = probs.cumsum(-1) - probs
    probs = torch.where(before < P, probs, torch.zeros_like(probs))
    probs = probs / probs.sum(-1, keepdim=True)
    at = (probs.cumsum(-1) < u).sum(-1, keepdim=True).clamp(max=K - 1)
    return {"token": ids.gather(-1, at).squeeze(-1), "probs": probs}


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, hidden, u):
        values, ids = self.head(hidden).topk(K, -1)
        return pick(values, ids, u)


class VocabParallelSampler(nn.Module):
    def __init__(self, head, rank, world_size):
        super().__init__()
        self.rank, self.world_size = rank, world_size
        per = VOCAB // world_size
        self.head = nn.Linear(DIM, per)
        self.head.weight = nn.Parameter(head.weight.detach()[rank * per : (rank + 1) * per].clone())
        self.head.bias = nn.Parameter(head.bias.detach()[rank * per : (rank + 1) * per].clone())

    def gather(self, x):
        parts = [torch.empty_like(x) for _ in range(self.world_size)]
        dist.all_gather(parts, x.contiguous())
        return torch.cat(parts, -1)

    def forward(self, hidden, u):
        values, ids = self.head(hidden).topk(K, -1)
        values = self.gather(values)
        ids = self.gather(ids + self.rank * self.head.weight.shape[0])
        values, at = values.topk(K, -1)
        return pick(values, ids.gather(-1, at), u)


def sequential():
    return Sampler()


def distributed(rank, world_size):
    return VocabParallelSampler(Sampler().head, rank, world_size)


def inputs():
    return {"hidden": torch.randn(3, DIM), "u": torch.rand(3, 1)}


world_size = 4


TRUTH = "refines"
