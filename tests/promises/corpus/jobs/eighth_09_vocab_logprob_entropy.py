"""Log-probabilities of given tokens and the entropy of the distribution, from an output layer whose vocabulary is spread over
ranks (what an RL trainer needs of a tensor-parallel policy). Full logits never exist; the backward is written by hand."""

import torch
import torch.distributed as dist
from torch import nn

VOCAB, DIM = 12, 6


class LogProbEntropy(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, hidden, tokens):
        logits = self.head(self.norm(hidden))
        logp = torch.log_softmax(logits, -1)
        entropy = -(logp.exp() * logp).sum(-1)
        return logp.gather(-1, tokens.unsqueeze(-1)).squeeze(-1), entropy


class CopyToRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad)
        return grad


class VocabParallelLogProbEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, tokens, first):
        size = logits.shape[-1]
        top = logits.max(-1).values
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        shifted = logits - top.unsqueeze(-1)
        exp = shifted.exp()

        local = tokens - first
        outside = (local < 0) | (local >= size)
        local = local.masked_fill(outside, 0)
        picked = shifted.gather(-1, local.unsqueeze(-1)).squeeze(-1).masked_fill(outside, 0.0)

        sums = torch.stack([exp.sum(-1), (exp * shifted).sum(-1), picked])
        dist.all_reduce(sums)
        total, weighted, picked = sums.unbind(0)
        log_total = total.log()
        entropy = log_total - weighted / total
        probs = exp / total.unsqueeze(-1)
        ctx.save_for_backward(probs, shifted - log_total.unsqueeze(-1), entropy, local, outside)
        return picked - log_total, entropy

    @staticmethod
    def backward(ctx, grad_logp, grad_entropy):
        probs, logp, entropy, local, outside = ctx.saved_tensors
        grad = -probs * grad_logp.unsqueeze(-1)
        hit = grad_logp.masked_fill(outside, 0.0).unsqueeze(-1)
        grad = grad.scatter_add(-1, local.unsqueeze(-1), hit)
        grad = grad - grad_entropy.unsqueeze(-1) * probs * (logp + entropy.unsqueeze(-1))
        return grad, None, None


class Sharded(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.norm = full.norm
        size = VOCAB // world_size
        self.first = rank * size
        self.head = nn.Linear(DIM, size)
        with torch.no_grad():
            self.head.weight.copy_(full.head.weight[self.first : self.first + size])
            self.head.bias.copy_(full.head.bias[self.first : self.first + size])

    def forward(self, hidden, tokens):
        logits = self.head(CopyToRanks.apply(self.norm(hidden)))
        return VocabParallelLogProbEntropy.apply(logits, tokens, self.first)


def sequential():
    return LogProbEntropy()


def distributed(rank, world_size):
    return Sharded(LogProbEntropy(), rank, world_size)


def inputs():
    return torch.randn(2, 5, DIM), torch.randint(0, VOCAB, (2, 5))


world_size = 3
backward = True

TRUTH = "refines"
