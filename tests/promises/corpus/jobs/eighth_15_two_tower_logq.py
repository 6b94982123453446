"""Two-tower retrieval with in-batch negatives of all ranks: sampled softmax with logQ correction, accidental hits masked. Items are
gathered with gradient; gradients of the towers are averaged after backward."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

USERS, ITEMS, DIM = 15, 10, 6


class GatherRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.rows = x.shape[0]
        out = x.new_empty(x.shape[0] * dist.get_world_size(), *x.shape[1:])
        dist.all_gather_into_tensor(out, x.contiguous())
        return out

    @staticmethod
    def backward(ctx, grad):
        own = grad.new_empty(ctx.rows, *grad.shape[1:])
        dist.reduce_scatter_tensor(own, grad.contiguous())
        return own


def gather_rows(x):
    out = x.new_empty(x.shape[0] * dist.get_world_size(), *x.shape[1:])
    dist.all_gather_into_tensor(out, x)
    return out


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.user_table = nn.Embedding(USERS, DIM)
        self.item_table = nn.Embedding(ITEMS, DIM)
        self.user_mlp = nn.Sequential(nn.Linear(DIM + 3, 8), nn.ReLU(), nn.Linear(8, DIM))
        self.item_mlp = nn.Linear(DIM, DIM)
        self.log_temperature = nn.Parameter(torch.tensor(-1.0))

    def embed(self, users, context, items):
        u = self.user_mlp(torch.cat([self.user_table(users), context], -1))
        return F.normalize(u, dim=-1), F.normalize(self.item_mlp(self.item_table(items)), dim=-1)

    def loss(self, u, items, candidates, candidate_ids, log_q, first):
        rows = u.shape[0]
        target = torch.arange(first, first + rows)
        scores = u @ candidates.t() * torch.exp(-self.log_temperature) - log_q
        same_item = items.unsqueeze(1) == candidate_ids
        itself = target.unsqueeze(1) == torch.arange(candidates.shape[0])
        scores = scores.masked_fill(same_item & ~itself, -1e4)
        return F.cross_entropy(scores, target)

    def forward(self, users, context, items, log_q):
        u, v = self.embed(users, context, items)
        return self.loss(u, items, v, items, log_q.detach(), 0)


class DataParallelTowers(Towers):
    def __init__(self, rank, world_size):
        super().__init__()
        self.rank = rank
        for p in self.parameters():
            p.register_post_accumulate_grad_hook(self.average)

    @staticmethod
    def average(p):
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()

    def forward(self, users, context, items, log_q):
        u, v = self.embed(users, context, items)
        first = self.rank * users.shape[0]
        return self.loss(u, items, GatherRows.apply(v), gather_rows(items), gather_rows(log_q.detach()), first)


def sequential():
    return Towers()


def distributed(rank, world_size):
    return DataParallelTowers(rank, world_size)


def inputs():
    n = 8
    return {
        "users": torch.randint(0, USERS, (n,)),
        "context": torch.randn(n, 3),
        "items": torch.randint(0, ITEMS, (n,)),
        "log_q": torch.log(torch.rand(n) * 0.2 + 0.01),
    }


world_size = 2
relations = {name: "shard(0)" for name in ("users", "context", "items", "log_q")}
expected = {"0": "partial(avg)"}
backward = True

TRUTH = "refines"
