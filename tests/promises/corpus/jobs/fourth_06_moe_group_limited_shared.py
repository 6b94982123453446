"""A mixture of experts as in DeepSeek-V3: sigmoid gates, a bias for the choice, groups; routed experts by rank, shared expert cut."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "Every rank routes all tokens alike, adds its own experts and its slice of the shared expert, and one all-reduce sums both."

world_size = 4

D, HIDDEN, EXPERTS, GROUPS, KEEP, TOPK, FACTOR = 12, 8, 8, 4, 2, 3, 2.5


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(EXPERTS, D))
        self.bias = nn.Parameter(0.1 * torch.randn(EXPERTS))

    def forward(self, x):
        scores = F.linear(x, self.weight).sigmoid()
        choice = scores + self.bias
        groups = choice.view(-1, GROUPS, EXPERTS // GROUPS)
        best = groups.topk(2, dim=-1).values.sum(-1).topk(KEEP, dim=-1).indices
        kept = torch.zeros(x.shape[0], GROUPS).scatter(1, best, 1.0).bool()
        choice = groups.masked_fill(~kept[..., None], float("-inf")).flatten(1)
        index = choice.topk(TOPK, dim=-1).indices
        weight = scores.gather(1, index)
        weight = FACTOR * weight / weight.sum(-1, keepdim=True)
        return torch.zeros_like(scores).scatter(1, index, weight)


def ffn(x, gate, up, down):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = Gate()
        self.w1 = nn.Parameter(0.3 * torch.randn(EXPERTS, HIDDEN, D))
        self.w3 = nn.Parameter(0.3 * torch.randn(EXPERTS, HIDDEN, D))
        self.w2 = nn.Parameter(0.3 * torch.randn(EXPERTS, D, HIDDEN))
        self.s1, self.s3 = nn.Linear(D, 2 * HIDDEN, bias=False), nn.Linear(D, 2 * HIDDEN, bias=False)
        self.s2 = nn.Linear(2 * HIDDEN, D, bias=False)

    def forward(self, x):
        flat = x.flatten(0, 1)
        weights = self.router(flat)
        y = torch.zeros_like(flat)
        for e in range(EXPERTS):
            y = y + weights[:, e, None] * ffn(flat, self.w1[e], self.w3[e], self.w2[e])
        y = y + ffn(flat, self.s1.weight, self.s3.weight, self.s2.weight)
        return y.view_as(x)


class ExpertParallel(nn.Module):
    def __init__(self, full, rank, size):
        super().__init__()
        self.own = EXPERTS // size
        self.start = rank * self.own
        self.router = full.router

        def cut(t, dim=0):
            return nn.Parameter(t.detach().chunk(size, dim)[rank].clone())

        self.w1, self.w2, self.w3 = cut(full.w1), cut(full.w2), cut(full.w3)
        self.s1, self.s3, self.s2 = cut(full.s1.weight), cut(full.s3.weight), cut(full.s2.weight, 1)

    def forward(self, x):
        flat = x.view(-1, x.shape[-1])
        weights = self.router(flat)[:, self.start : self.start + self.own]
        hidden = F.silu(torch.einsum("nd,ehd->neh", flat, self.w1)) * torch.einsum("nd,ehd->neh", flat, self.w3)
        y = torch.einsum("neh,edh,ne->nd", hidden, self.w2, weights)
        y = y + ffn(flat, self.s1, self.s3, self.s2)
        dist.all_reduce(y)
        return y.view_as(x)


def sequential():
    torch.manual_seed(11)
    return MoE()


def distributed(rank, world_size):
    return ExpertParallel(sequential(), rank, world_size)


def inputs():
    torch.manual_seed(12)
    return (torch.randn(2, 4, D),)
