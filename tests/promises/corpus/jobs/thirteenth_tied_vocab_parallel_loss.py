"""Vocabulary parallel language model with tied embedding, vocabulary 14 on 4 ranks (4, 4, 4, 2), Megatron style cross entropy and z-loss as an autograd.Function, ignored labels, forward and backward."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

VOCAB, HIDDEN, Z = 14, 8, 1e-2


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, HIDDEN)
        self.mix = nn.Linear(HIDDEN, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN)

    def forward(self, ids, labels):
        h = self.embed(ids)
        h = self.norm(h + torch.tanh(self.mix(h)))
        logits = F.linear(h, self.embed.weight).flatten(0, 1)
        labels = labels.flatten()
        keep = labels != -100
        lse = logits.logsumexp(-1)
        nll = F.cross_entropy(logits, labels, ignore_index=-100, reduction="none")
        return ((nll + Z * lse.square()) * keep).sum() / keep.sum()


class CopyToRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
        dist.all_reduce(grad)
        return grad


class SumOverRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class VocabParallelCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, labels, start):
        top = logits.amax(-1)
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        shifted = logits - top[:, None]
        here = (labels >= start) & (labels < start + logits.shape[1])
        local = torch.where(here, labels - start, 0)
        picked = shifted.gather(1, local[:, None]).squeeze(1).masked_fill(~here, 0.0)
        dist.all_reduce(picked)
        exps = shifted.exp()
        total = exps.sum(-1)
        dist.all_reduce(total)
        ctx.save_for_backward(exps / total[:, None], local, here)
        return total.log() - picked, total.log() + top

    @staticmethod
    def backward(ctx, grad_nll, grad_lse):
        softmax, local, here = ctx.saved_tensors
        grad = softmax * (grad_nll + grad_lse)[:, None]
        grad = grad.scatter_add(1, local[:, None], -(grad_nll * here)[:, None])
        return grad, None, None


class ParallelLM(nn.Module):
    def __init__(self, full, rank, n):
        super().__init__()
        size = -(-VOCAB // n)
        self.start = rank * size
        self.weight = nn.Parameter(full.embed.weight.detach()[self.start : self.start + size].clone())
        self.mix, self.norm = full.mix, full.norm

    def forward(self, ids, labels):
        here = (ids >= self.start) & (ids < self.start + self.weight.shape[0])
        rows = F.embedding(torch.where(here, ids - self.start, 0), self.weight)
        h = SumOverRanks.apply(rows * here[..., None])
        h = self.norm(h + torch.tanh(self.mix(h)))
        logits = F.linear(CopyToRanks.apply(h), self.weight).flatten(0, 1)
        labels = labels.flatten()
        keep = labels != -100
        nll, lse = VocabParallelCrossEntropy.apply(logits, labels, self.start)
        return torch.where(keep, nll + Z * lse.square(), 0.0).sum() / keep.sum()


def sequential():
    return LM()


def distributed(rank, world_size):
    return ParallelLM(LM(), rank, world_size)


def inputs():
    labels = torch.randint(0, VOCAB, (2, 6))
    labels[0, :2] = -100
    labels[1, 5] = -100
    return torch.randint(0, VOCAB, (2, 6)), labels


world_size = 4
backward = True
TRUTH = "refines"
