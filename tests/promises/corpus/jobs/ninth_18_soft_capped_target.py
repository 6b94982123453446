"""Cross entropy of soft-capped logits (as Gemma 2 has them), the vocabulary cut over ranks."""
import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F

CAP = 3.0


class Head(nn.Module):
    def __init__(self, dim=6, words=10):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.embedding = nn.Parameter(torch.randn(words, dim))

    def forward(self, hidden, labels):
        logits = self.norm(hidden) @ self.embedding.t()
        logits = CAP * torch.tanh(logits / CAP)
        return F.cross_entropy(logits, labels)


class VocabParallelHead(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.norm = full.norm
        self.embedding = nn.Parameter(full.embedding.detach().chunk(world_size)[rank].clone())
        self.first = rank * self.embedding.shape[0]

    def forward(self, hidden, labels):
        logits = self.norm(hidden) @ self.embedding.t()
        local = labels - self.first
        here = (local >= 0) & (local < logits.shape[1])
        target = logits.gather(1, local.clamp(0, logits.shape[1] - 1)[:, None]).squeeze(1)
        target = torch.where(here, target, torch.zeros_like(target))
        capped = CAP * torch.tanh(logits / CAP)
        # capped logits lie in (-CAP, CAP): no maximum needs to be taken off
        total = torch.exp(capped).sum(dim=1)
        both = torch.stack([target, total])
        dist.all_reduce(both)
        return (torch.log(both[1]) - both[0]).mean()


def sequential():
    return Head()


def distributed(rank, world_size):
    return VocabParallelHead(Head(), rank, world_size)


def inputs():
    return torch.randn(7, 6), torch.randint(0, 10, (7,))


world_size = 2


TRUTH = "does not refine"
