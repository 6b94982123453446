"""Tied vocabulary-parallel embedding and head, with Megatron's vocabulary-parallel cross entropy (ignored labels, label smoothing)."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

VOCAB, DIM, SMOOTHING, IGNORE = 12, 8, 0.1, -100


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.norm = nn.LayerNorm(DIM)
        self.mix = nn.Linear(DIM, DIM)

    def trunk(self, h):
        return h + F.gelu(self.mix(self.norm(h)))

    def forward(self, ids, labels):
        logits = self.trunk(self.embed(ids)) @ self.embed.weight.t()
        return F.cross_entropy(
            logits.view(-1, VOCAB), labels.reshape(-1), ignore_index=IGNORE, label_smoothing=SMOOTHING
        )


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
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
    def forward(ctx, logits, target, start, vocab_size, smoothing):
        n, local = logits.shape
        peak = logits.max(dim=-1).values
        dist.all_reduce(peak, op=dist.ReduceOp.MAX)
        logits = logits - peak.unsqueeze(-1)

        outside = (target < start) | (target >= start + local)
        masked = (target - start).masked_fill(outside, 0)
        rows = torch.arange(n)
        predicted = logits[rows, masked].masked_fill(outside, 0.0)
        dist.all_reduce(predicted)

        exp = logits.exp()
        denominator = exp.sum(dim=-1)
        dist.all_reduce(denominator)
        log_z = denominator.log()
        loss = log_z - predicted

        total = logits.sum(dim=-1)
        dist.all_reduce(total)
        mean_log_prob = total / vocab_size - log_z
        loss = (1.0 - smoothing) * loss - smoothing * mean_log_prob

        ctx.smoothing, ctx.vocab_size = smoothing, vocab_size
        ctx.save_for_backward(exp / denominator.unsqueeze(-1), outside, masked)
        return loss

    @staticmethod
    def backward(ctx, grad_output):
        softmax, outside, masked = ctx.saved_tensors
        grad = softmax.clone()
        rows = torch.arange(grad.shape[0])
        grad[rows, masked] -= (1.0 - ctx.smoothing) * (~outside).to(grad.dtype)
        grad -= ctx.smoothing / ctx.vocab_size
        return grad * grad_output.unsqueeze(-1), None, None, None, None


class VocabParallelEmbedding(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        per_rank = full.num_embeddings // world_size
        self.start, self.end = rank * per_rank, (rank + 1) * per_rank
        self.weight = nn.Parameter(full.weight.detach()[self.start : self.end].clone())

    def forward(self, ids):
        outside = (ids < self.start) | (ids >= self.end)
        local = (ids - self.start).masked_fill(outside, 0)
        out = F.embedding(local, self.weight).masked_fill(outside.unsqueeze(-1), 0.0)
        return Reduce.apply(out)


class ParallelLM(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.embed = VocabParallelEmbedding(full.embed, rank, world_size)
        self.norm, self.mix = full.norm, full.mix

    def forward(self, ids, labels):
        h = self.embed(ids)
        h = Copy.apply(h + F.gelu(self.mix(self.norm(h))))
        logits = F.linear(h, self.embed.weight)
        labels = labels.reshape(-1)
        valid = labels != IGNORE
        losses = VocabParallelCrossEntropy.apply(
            logits.flatten(0, 1), labels, self.embed.start, VOCAB, SMOOTHING
        )
        losses = losses.masked_fill(~valid, 0.0)
        return losses.sum() / valid.sum()


def sequential():
    return TinyLM()


def distributed(rank, world_size):
    return ParallelLM(TinyLM(), rank, world_size)


def inputs():
    ids = torch.randint(0, VOCAB, (2, 7))
    labels = torch.roll(ids, -1, dims=1)
    labels[:, -1] = IGNORE
    labels[0, 1] = IGNORE
    return {"ids": ids, "labels": labels}


world_size = 4
backward = True


TRUTH = "refines"
