"""A mixture of experts with top-2 routing, two experts on each rank: tokens go to their experts and back by all-to-all, and the balancing loss takes means over all tokens."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

WIDTH, INNER, EXPERTS, TOP, TOKENS = 6, 8, 4, 2, 8
world_size = 2
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


def route(router, x):
    probabilities = router(x).softmax(-1)
    top, chosen = probabilities.topk(TOP, dim=-1)
    return probabilities, top / top.sum(-1, keepdim=True), chosen


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))

    def forward(self, x):
        probabilities, weights, chosen = route(self.router, x)
        gates = torch.zeros_like(probabilities).scatter(-1, chosen, weights)
        y = sum(gates[:, i : i + 1] * expert(x) for i, expert in enumerate(self.experts))
        used = F.one_hot(chosen, EXPERTS).sum(1).float().mean(0)
        return y, EXPERTS * (used * probabilities.mean(0)).sum()


class ParallelMoE(nn.Module):
    def __init__(self, whole, rank, world_size):
        super().__init__()
        self.world_size, self.local = world_size, EXPERTS // world_size
        self.router = whole.router
        mine = range(rank * self.local, (rank + 1) * self.local)
        self.experts = nn.ModuleDict({str(i): whole.experts[i] for i in mine})

    def mean(self, x):
        x = x / self.world_size
        dist.all_reduce(x)
        return x

    def dispatch(self, chosen, weights, capacity):
        """Which slot of which expert a token goes to, and with which weight it comes back: token, expert, slot."""
        hits = F.one_hot(chosen, EXPERTS)                               # token, choice, expert
        ordered = hits.transpose(0, 1).reshape(-1, EXPERTS)             # first choices come first
        slots = (ordered.cumsum(0) - ordered).view(TOP, -1, EXPERTS).transpose(0, 1)
        places = F.one_hot((slots * hits).sum(-1), capacity).float()    # token, choice, slot
        hits = hits.float()
        send = torch.einsum("tke,tks->tes", hits, places)
        back = torch.einsum("tk,tke,tks->tes", weights, hits, places)
        return send, back

    def exchange(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        dist.all_to_all_single(out, x)
        return out

    def forward(self, x):
        capacity = x.shape[0]                                           # nothing is ever dropped
        probabilities, weights, chosen = route(self.router, x)
        send, back = self.dispatch(chosen, weights, capacity)

        packed = torch.einsum("tes,td->esd", send, x)                   # expert, slot, width
        packed = self.exchange(packed.view(self.world_size, self.local, capacity, WIDTH))
        done = torch.stack([expert(packed[:, i]) for i, expert in enumerate(self.experts.values())], dim=1)
        done = self.exchange(done).view(EXPERTS, capacity, WIDTH)
        y = torch.einsum("tes,esd->td", back, done)

        used = self.mean(F.one_hot(chosen, EXPERTS).sum(1).float().mean(0))
        return y, EXPERTS * (used * self.mean(probabilities.mean(0))).sum()


def sequential():
    return MoE()


def distributed(rank, world_size):
    return ParallelMoE(MoE(), rank, world_size)


def inputs():
    return (torch.randn(TOKENS, WIDTH),)

TRUTH = "refines"
