"""SigLIP's pairwise sigmoid loss: text features go around a ring of ranks, every rank holds them against its own images."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "Each rank sees all texts once, only its own with positive pairs, and gradients travel the ring backwards before they are averaged."

world_size = 4
relations = {"image": "shard(0)", "text": "shard(0)"}


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(25)
        self.image = nn.Linear(7, 6, bias=False)
        self.text = nn.Linear(5, 6, bias=False)
        self.scale = nn.Parameter(torch.tensor(1.2))
        self.bias = nn.Parameter(torch.tensor(-2.0))

    def features(self, image, text):
        return F.normalize(self.image(image), dim=-1), F.normalize(self.text(text), dim=-1)

    def loss(self, image, text, own):
        logits = self.scale.exp() * image @ text.T + self.bias
        sign = 2 * torch.eye(len(image)) - 1 if own else -torch.ones(len(image), len(text))
        return -F.logsigmoid(sign * logits).sum() / len(image)


class Whole(Towers):
    def forward(self, image, text):
        loss = self.loss(*self.features(image, text), own=True)
        grads = torch.autograd.grad(loss, list(self.parameters()))
        return loss.detach(), *grads


def exchange(tensor, to, source):
    got = torch.empty_like(tensor)
    ops = [dist.P2POp(dist.isend, tensor.contiguous(), to), dist.P2POp(dist.irecv, got, source)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    return got


class NeighbourExchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, to, source):
        ctx.to, ctx.source = to, source
        return exchange(tensor, to, source)

    @staticmethod
    def backward(ctx, grad):
        return exchange(grad, ctx.source, ctx.to), None, None


class Ring(Towers):
    def forward(self, image, text):
        rank, size = dist.get_rank(), dist.get_world_size()
        right, left = (rank + 1) % size, (rank - 1) % size
        image, text = self.features(image, text)
        loss = self.loss(image, text, own=True)
        for _ in range(size - 1):
            text = NeighbourExchange.apply(text, right, left)
            loss = loss + self.loss(image, text, own=False)
        results = [loss.detach(), *torch.autograd.grad(loss, list(self.parameters()))]
        for tensor in results:
            dist.all_reduce(tensor)
            tensor.div_(size)
        return tuple(results)


def sequential():
    return Whole()


def distributed(rank, world_size):
    return Ring()


def inputs():
    torch.manual_seed(26)
    return torch.randn(8, 7), torch.randn(8, 5)
