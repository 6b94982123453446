"""Tied vocab-parallel embedding and LM head with Megatron's vocab-parallel cross entropy and a loss mask, forward and backward, 4 ranks."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

VOCAB, WIDTH = 24, 8


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)

    def forward(self, tokens, labels, loss_mask):
        h = torch.tanh(self.mix(self.embed(tokens)))
        logits = h @ self.embed.weight.t()
        losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
        mask = loss_mask.flatten()
        return (losses * mask).sum() / mask.sum()


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


class VocabParallelCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, start):
        top = logits.max(dim=-1)[0]
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        logits = logits - top.unsqueeze(-1)
        outside = (target < start) | (target >= start + logits.size(-1))
        local = (target - start).masked_fill(outside, 0)
        predicted = logits.gather(-1, local.unsqueeze(-1)).squeeze(-1).masked_fill(outside, 0.0)
        dist.all_reduce(predicted)
        exp = logits.exp()
        total = exp.sum(-1)
        dist.all_reduce(total)
        ctx.save_for_backward(exp / total.unsqueeze(-1), outside, local)
        return total.log() - predicted

    @staticmethod
    def backward(ctx, grad):
        softmax, outside, local = ctx.saved_tensors
        hit = (~outside).to(softmax.dtype).unsqueeze(-1)
        grad_logits = softmax.scatter_add(-1, local.unsqueeze(-1), -hit)
        return grad_logits * grad.unsqueeze(-1), None, None


class ParallelLM(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.rows = VOCAB // world_size
        self.start = rank * self.rows
        self.embed_weight = nn.Parameter(full.embed.weight.detach()[self.start:self.start + self.rows].clone())
        self.mix = full.mix

    def forward(self, tokens, labels, loss_mask):
        outside = (tokens < self.start) | (tokens >= self.start + self.rows)
        e = F.embedding((tokens - self.start).masked_fill(outside, 0), self.embed_weight)
        e = Reduce.apply(e.masked_fill(outside.unsqueeze(-1), 0.0))
        h = torch.tanh(self.mix(e))
        logits = Copy.apply(h) @ self.embed_weight.t()
        losses = VocabParallelCrossEntropy.apply(logits, labels, self.start)
        return (losses * loss_mask).sum() / loss_mask.sum()


def sequential():
    return LM()


def distributed(rank, world_size):
    return ParallelLM(LM(), rank, world_size)


def inputs():
    return {
        "tokens": torch.randint(0, VOCAB, (2, 6)),
        "labels": torch.randint(0, VOCAB, (2, 6)),
        "loss_mask": torch.tensor([[0.0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 0]]),
    }


world_size = 4
backward = True

TRUTH = "refines"
