"""Expert parallelism as in GShard: top-2 routing, one-hot dispatch with a capacity that drops nothing, all-to-all there and back, and the balancing loss over all tokens."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, FFN, EXPERTS, TOP_K = 6, 10, 4, 2


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(DIM, FFN), nn.Linear(FFN, DIM)

    def forward(self, x):
        return self.down(F.relu(self.up(x)))


def route(gate, x):
    probs = F.softmax(gate(x), dim=-1)
    weight, index = probs.topk(TOP_K, dim=-1)
    weight = weight / weight.sum(dim=-1, keepdim=True)
    return probs, weight, index


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(DIM, EXPERTS, bias=False)
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))

    def forward(self, x):
        probs, weight, index = route(self.gate, x)
        combine = torch.zeros_like(probs).scatter(1, index, weight)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            out = out + combine[:, e : e + 1] * expert(x)
        chosen = F.one_hot(index, EXPERTS).sum(dim=1).to(x.dtype)
        balance = EXPERTS * (chosen.mean(dim=0) * probs.mean(dim=0)).sum()
        return out, balance


class ExpertParallelMoE(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.world_size, self.local = world_size, EXPERTS // world_size
        self.gate = full.gate
        mine = range(rank * self.local, (rank + 1) * self.local)
        self.experts = nn.ModuleDict({str(e): full.experts[e] for e in mine})

    def exchange(self, x):
        out = torch.empty_like(x)
        dist.all_to_all_single(out, x.contiguous())
        return out

    def forward(self, x):
        tokens, capacity = x.shape[0], x.shape[0]  # an expert gets each token at most once
        probs, weight, index = route(self.gate, x)
        mask = F.one_hot(index, EXPERTS).sum(dim=1)
        gates = torch.zeros_like(probs).scatter(1, index, weight)
        slot = (mask.cumsum(dim=0) - 1).clamp(min=0)
        dispatch = F.one_hot(slot, capacity).to(x.dtype) * mask.unsqueeze(-1).to(x.dtype)

        sent = torch.einsum("nec,nd->ecd", dispatch, x)
        got = self.exchange(sent).view(self.world_size, self.local, capacity, DIM)
        done = torch.stack(
            [expert(got[:, i].reshape(-1, DIM)) for i, expert in enumerate(self.experts.values())]
        )
        done = done.view(self.local, self.world_size, capacity, DIM).transpose(0, 1)
        back = self.exchange(done.reshape(EXPERTS, capacity, DIM))
        out = torch.einsum("nec,ecd->nd", dispatch * gates.unsqueeze(-1), back)

        stats = torch.stack([mask.to(x.dtype).sum(dim=0), probs.sum(dim=0)])
        dist.all_reduce(stats)
        chosen, mean_probs = stats / (tokens * self.world_size)
        return out, EXPERTS * (chosen * mean_probs).sum()


def sequential():
    return MoE()


def distributed(rank, world_size):
    return ExpertParallelMoE(MoE(), rank, world_size)


def inputs():
    return (torch.randn(8, DIM),)


world_size = 2
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}


TRUTH = "refines"
