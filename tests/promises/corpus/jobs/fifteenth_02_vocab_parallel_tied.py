"""A small language model whose tied embedding, output layer and masked cross entropy are cut over the vocabulary, as in Megatron, forward and backward."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH = 20, 8
world_size = 4
backward = True


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.mix, self.final = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, h):
        return self.final(h + torch.tanh(self.mix(self.norm(h))))


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.body = Body()

    def forward(self, tokens, labels, loss_mask):
        logits = self.body(self.embed(tokens)) @ self.embed.weight.t()
        losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
        return (losses * loss_mask.flatten()).sum() / loss_mask.sum()


class CopyToRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
        dist.all_reduce(grad)
        return grad


class ReduceFromRegion(torch.autograd.Function):
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
    def forward(ctx, logits, target, first):
        top = logits.max(dim=-1).values
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        logits = logits - top.unsqueeze(-1)

        outside = (target < first) | (target >= first + logits.shape[-1])
        local_target = (target - first).masked_fill(outside, 0)
        predicted = logits.gather(-1, local_target.unsqueeze(-1)).squeeze(-1).masked_fill(outside, 0.0)
        dist.all_reduce(predicted)

        exponentials = logits.exp()
        total = exponentials.sum(dim=-1)
        dist.all_reduce(total)
        ctx.save_for_backward(exponentials / total.unsqueeze(-1), outside, local_target)
        return total.log() - predicted

    @staticmethod
    def backward(ctx, grad):
        softmax, outside, local_target = ctx.saved_tensors
        hit = torch.zeros_like(softmax).scatter_(-1, local_target.unsqueeze(-1), (~outside).to(softmax.dtype).unsqueeze(-1))
        return (softmax - hit) * grad.unsqueeze(-1), None, None


class ParallelLanguageModel(nn.Module):
    def __init__(self, whole, rank, world_size):
        super().__init__()
        rows = VOCABULARY // world_size
        self.first = rank * rows
        self.embed_weight = nn.Parameter(whole.embed.weight.detach()[self.first : self.first + rows].clone())
        self.body = whole.body

    def embed(self, tokens):
        outside = (tokens < self.first) | (tokens >= self.first + self.embed_weight.shape[0])
        h = F.embedding((tokens - self.first).masked_fill(outside, 0), self.embed_weight)
        return ReduceFromRegion.apply(h.masked_fill(outside.unsqueeze(-1), 0.0))

    def forward(self, tokens, labels, loss_mask):
        h = CopyToRegion.apply(self.body(self.embed(tokens)))
        losses = VocabParallelCrossEntropy.apply(h @ self.embed_weight.t(), labels, self.first)
        return (losses * loss_mask).sum() / loss_mask.sum()


def sequential():
    return LanguageModel()


def distributed(rank, world_size):
    return ParallelLanguageModel(LanguageModel(), rank, world_size)


def inputs():
    return {
        "tokens": torch.randint(0, VOCABULARY, (2, 6)),
        "labels": torch.randint(0, VOCABULARY, (2, 6)),
        "loss_mask": torch.tensor([[0, 0, 1, 1, 1, 1], [0, 1, 1, 1, 1, 0]]).float(),
    }

TRUTH = "refines"
