"""DeepSeek-V3's router and experts: sigmoid affinities, a selection bias that is nudged against the load instead of an auxiliary
loss, top-2 weights normalised and scaled. Tokens are data-parallel; experts are spread over the same ranks, which gather the
tokens, run the experts they own and reduce-scatter the weighted results."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HIDDEN, EXPERTS, TOP, SCALE, SPEED = 6, 5, 4, 2, 2.5, 1e-3


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(DIM, HIDDEN, bias=False)
        self.up = nn.Linear(DIM, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, DIM, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(EXPERTS, DIM) * 0.5)
        self.register_buffer("bias", torch.randn(EXPERTS) * 0.05)

    def forward(self, x):
        affinity = torch.sigmoid(F.linear(x, self.weight))
        chosen = torch.topk(affinity + self.bias, TOP, dim=-1).indices
        weights = affinity.gather(-1, chosen)
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-20) * SCALE
        dense = torch.zeros_like(affinity).scatter(-1, chosen, weights)
        load = F.one_hot(chosen, EXPERTS).sum((0, 1)).to(x.dtype)
        return dense, load

    def rebalance(self, load):
        self.bias += SPEED * torch.sign(load.mean() - load)


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = Router()
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))

    @torch.no_grad()
    def forward(self, x):
        dense, load = self.router(x)
        out = x.clone()
        for e, expert in enumerate(self.experts):
            out += dense[:, e : e + 1] * expert(x)
        self.router.rebalance(load)
        return out


class ExpertParallelMoE(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        full = MoE()
        self.world_size, self.count = world_size, EXPERTS // world_size
        self.first = rank * self.count
        self.router = full.router
        self.experts = nn.ModuleDict({str(e): full.experts[e] for e in range(self.first, self.first + self.count)})

    def gather(self, t):
        out = t.new_empty(t.shape[0] * self.world_size, *t.shape[1:])
        dist.all_gather_into_tensor(out, t.contiguous())
        return out

    @torch.no_grad()
    def forward(self, x):
        dense, load = self.router(x)
        work = dist.all_reduce(load, async_op=True)
        tokens, weights = self.gather(x), self.gather(dense)
        partial = torch.zeros_like(tokens)
        for name, expert in self.experts.items():
            e = int(name)
            partial += weights[:, e : e + 1] * expert(tokens)
        routed = torch.empty_like(x)
        dist.reduce_scatter_tensor(routed, partial)
        work.wait()
        self.router.rebalance(load)
        return x + routed


def sequential():
    return MoE()


def distributed(rank, world_size):
    return ExpertParallelMoE(rank, world_size)


def inputs():
    return torch.randn(10, DIM)


world_size = 2
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}

TRUTH = "refines"
