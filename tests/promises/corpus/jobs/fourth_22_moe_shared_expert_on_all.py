"""A Qwen-like mixture of experts (top two of four, and a gated shared expert), experts over ranks."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "differs"
WHY = "Every rank adds the whole shared expert before the all-reduce, which then counts it once for each rank."

world_size = 2

D, H, EXPERTS = 8, 6, 4


class Expert(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.gate, self.up = nn.Linear(D, hidden, bias=False), nn.Linear(D, hidden, bias=False)
        self.down = nn.Linear(hidden, D, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(42)
        self.router = nn.Linear(D, EXPERTS, bias=False)
        self.experts = nn.ModuleList(Expert(H) for _ in range(EXPERTS))
        self.shared = Expert(2 * H)
        self.shared_gate = nn.Linear(D, 1, bias=False)
        self.first = 0

    def routed(self, x):
        top, index = self.router(x).softmax(-1).topk(2, dim=-1)
        top = top / top.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts, self.first):
            share = (top * (index == e)).sum(-1, keepdim=True)
            out = out + share * expert(x)
        return out

    def forward(self, x):
        return self.routed(x) + torch.sigmoid(self.shared_gate(x)) * self.shared(x)


class ExpertParallel(MoE):
    def __init__(self, rank, size):
        super().__init__()
        own = EXPERTS // size
        self.first = rank * own
        self.experts = self.experts[self.first : self.first + own]

    def forward(self, x):
        out = super().forward(x)
        dist.all_reduce(out)
        return out


def sequential():
    return MoE()


def distributed(rank, world_size):
    return ExpertParallel(rank, world_size)


def inputs():
    torch.manual_seed(43)
    return (torch.randn(5, D),)
