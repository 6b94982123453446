"""Embedding tied to the head, both cut over an uneven vocabulary; Megatron's cross entropy with label smoothing and ignored labels, with the right offsets, sums and maximum over ranks."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

VOCAB, DIM, SMOOTH, IGNORE = 14, 6, 0.1, -100


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.mix = nn.Linear(DIM, DIM)

    def forward(self, ids, labels):
        x = self.embed(ids)
        x = x + torch.tanh(self.mix(x))
        logits = F.linear(x, self.embed.weight)
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE, label_smoothing=SMOOTH)


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


class Reduce(torch.autograd.Function):
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
    def forward(ctx, logits, target, start):
        n = logits.shape[-1]
        top = logits.max(-1).values
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        logits = logits - top[:, None]
        outside = (target < start) | (target >= start + n)
        local = (target - start).masked_fill(outside, 0)
        picked = logits.gather(-1, local[:, None]).squeeze(-1).masked_fill(outside, 0.0)
        total = logits.exp().sum(-1)
        everything = logits.sum(-1)
        packed = torch.stack([picked, total, everything])
        dist.all_reduce(packed)
        picked, total, everything = packed
        lse = total.log()
        loss = (1 - SMOOTH) * (lse - picked) + SMOOTH * (lse - everything / VOCAB)
        ctx.save_for_backward(logits.exp() / total[:, None], outside, local)
        return loss

    @staticmethod
    def backward(ctx, grad):
        soft, outside, local = ctx.saved_tensors
        d = soft - SMOOTH / VOCAB
        hit = torch.where(outside, 0.0, 1 - SMOOTH).to(d.dtype)
        d = d.scatter_add(-1, local[:, None], -hit[:, None])
        return d * grad[:, None], None, None


class Parallel(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        per = -(-VOCAB // world_size)
        self.start = min(rank * per, VOCAB)
        stop = min(self.start + per, VOCAB)
        self.embed = nn.Parameter(full.embed.weight.detach()[self.start : stop].clone())
        self.mix = full.mix

    def forward(self, ids, labels):
        n = self.embed.shape[0]
        outside = (ids < self.start) | (ids >= self.start + n)
        x = F.embedding((ids - self.start).masked_fill(outside, 0), self.embed)
        x = Reduce.apply(x.masked_fill(outside[..., None], 0.0))
        x = x + torch.tanh(self.mix(x))
        logits = F.linear(Copy.apply(x), self.embed).flatten(0, 1)
        labels = labels.flatten()
        keep = labels != IGNORE
        loss = VocabParallelCrossEntropy.apply(logits, labels, self.start)
        return torch.where(keep, loss, 0.0).sum() / keep.sum()


def sequential():
    return Model()


def distributed(rank, world_size):
    return Parallel(Model(), rank, world_size)


def inputs():
    ids = torch.randint(0, VOCAB, (2, 7))
    labels = torch.randint(0, VOCAB, (2, 7))
    labels[0, 5:] = IGNORE
    return ids, labels


world_size = 4
backward = True


TRUTH = "refines"
