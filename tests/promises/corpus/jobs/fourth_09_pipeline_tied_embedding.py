"""A pipeline of three stages whose first and last stage hold the same embedding; two micro batches, all forward, all backward."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "Each stage takes its own gradients over both micro batches, and the two copies of the embedding add theirs up."

world_size = 3

VOCAB, D, MICRO = 11, 8, 2


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(D), nn.Linear(D, 2 * D), nn.Linear(2 * D, D)

    def forward(self, x):
        return x + self.down(F.relu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(17)
        self.embed = nn.Parameter(torch.randn(VOCAB, D))
        self.layers = nn.ModuleList(Layer() for _ in range(3))


class Whole(Model):
    def forward(self, tokens, labels):
        x = F.embedding(tokens, self.embed)
        for layer in self.layers:
            x = layer(x)
        loss = F.cross_entropy(F.linear(x, self.embed).flatten(0, 1), labels.flatten())
        names, weights = zip(*self.named_parameters())
        grads = torch.autograd.grad(loss, weights)
        return {"loss": loss.detach(), **{f"d {n}": g for n, g in zip(names, grads)}}


class Stage(nn.Module):
    def __init__(self, full, rank, size):
        super().__init__()
        self.rank, self.first, self.last = rank, rank == 0, rank == size - 1
        self.layer = full.layers[rank]
        self.ends = dist.new_group([0, size - 1])
        if self.first or self.last:
            self.embed = full.embed

    def forward(self, tokens, labels):
        entered, left = [], []
        loss = 0.0
        for ids, aim in zip(tokens.chunk(MICRO), labels.chunk(MICRO)):
            if self.first:
                x = F.embedding(ids, self.embed)
            else:
                x = torch.empty(*ids.shape, D)
                dist.recv(x, src=self.rank - 1)
                x.requires_grad_()
            y = self.layer(x)
            if self.last:
                y = F.cross_entropy(F.linear(y, self.embed).flatten(0, 1), aim.flatten()) / MICRO
                loss = loss + y.detach()
            else:
                dist.send(y.detach(), dst=self.rank + 1)
            entered.append(x)
            left.append(y)

        weights = dict(self.layer.named_parameters())
        held = list(weights.values()) + ([self.embed] if self.first or self.last else [])
        sums = [torch.zeros_like(w) for w in held]
        for x, y in zip(entered, left):
            grad = None
            if not self.last:
                grad = torch.empty_like(y)
                dist.recv(grad, src=self.rank + 1)
            wanted = held if self.first else [*held, x]
            got = torch.autograd.grad(y, wanted, grad)
            if not self.first:
                dist.send(got[-1].contiguous(), dst=self.rank - 1)
            sums = [a + b for a, b in zip(sums, got)]

        out = {f"d layers.{self.rank}.{n}": g for n, g in zip(weights, sums)}
        if self.first or self.last:
            tied = sums[-1]
            dist.all_reduce(tied, group=self.ends)
            out["d embed"] = tied
        if self.last:
            out["loss"] = loss
        return out


def sequential():
    return Whole()


def distributed(rank, world_size):
    return Stage(Whole(), rank, world_size)


def inputs():
    torch.manual_seed(18)
    return torch.randint(0, VOCAB, (4, 3)), torch.randint(0, VOCAB, (4, 3))
