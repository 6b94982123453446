"""A tiny language model with tied vocab-parallel embedding and vocab-parallel cross entropy (ignored labels), forward and backward."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

VOCAB, DIM, HIDDEN = 12, 6, 10


def all_reduced(x):
    x = x.contiguous().clone()
    dist.all_reduce(x)
    return x


class CopyToTP(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x.view_as(x))
    backward = staticmethod(lambda ctx, grad: all_reduced(grad))


class ReduceFromTP(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: all_reduced(x))
    backward = staticmethod(lambda ctx, grad: grad)


class VocabParallelCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, start):
        size = logits.shape[-1]
        top = logits.max(-1).values
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        logits = logits - top.unsqueeze(-1)
        outside = (target < start) | (target >= start + size)
        local = (target - start).masked_fill(outside, 0)
        picked = logits.gather(-1, local.unsqueeze(-1)).squeeze(-1).masked_fill(outside, 0.0)
        dist.all_reduce(picked)
        exp = logits.exp()
        total = exp.sum(-1)
        dist.all_reduce(total)
        ctx.save_for_backward(exp / total.unsqueeze(-1), local, outside)
        return total.log() - picked

    @staticmethod
    def backward(ctx, grad):
        probs, local, outside = ctx.saved_tensors
        hit = F.one_hot(local, probs.shape[-1]) * (~outside).unsqueeze(-1)
        return (probs - hit) * grad.unsqueeze(-1), None, None


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.up, self.down = nn.Linear(DIM, HIDDEN), nn.Linear(HIDDEN, DIM)

    def body(self, h):
        return h + self.down(torch.tanh(self.up(h)))

    def forward(self, ids, labels):
        logits = self.body(self.embed(ids)) @ self.embed.weight.t()
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)


class VocabParallelLM(nn.Module):
    def __init__(self, lm, rank, world_size):
        super().__init__()
        self.up, self.down = lm.up, lm.down
        self.per = VOCAB // world_size
        self.start = rank * self.per
        self.weight = nn.Parameter(lm.embed.weight.data[self.start : self.start + self.per].clone())

    def embed(self, ids):
        outside = (ids < self.start) | (ids >= self.start + self.per)
        rows = F.embedding((ids - self.start).masked_fill(outside, 0), self.weight)
        return ReduceFromTP.apply(rows.masked_fill(outside.unsqueeze(-1), 0.0))

    def forward(self, ids, labels):
        h = LM.body(self, self.embed(ids))
        logits = CopyToTP.apply(h) @ self.weight.t()
        keep = labels != -100
        losses = VocabParallelCrossEntropy.apply(logits, labels.masked_fill(~keep, 0), self.start)
        return (losses * keep).sum() / keep.sum()


def sequential():
    return LM()


def distributed(rank, world_size):
    return VocabParallelLM(LM(), rank, world_size)


def inputs():
    labels = torch.randint(0, VOCAB, (2, 5))
    labels[0, :2] = -100
    labels[1, 4] = -100
    return {"ids": torch.randint(0, VOCAB, (2, 5)), "labels": labels}


world_size = 4
backward = True
TRUTH = "refines"
