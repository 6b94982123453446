"""GShard's all-to-all experts: the capacity of an expert is worked out with the rank's number of experts instead of all of them, so the ranks keep tokens that the reference drops."""
import math

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HIDDEN, EXPERTS, GROUPS, FACTOR = 6, 8, 8, 4, 1.25


def capacity(tokens, experts):
    return math.ceil(FACTOR * tokens / experts)


def route(logits, slots):
    """One expert for each token, in order of arrival; those beyond an expert's slots are dropped."""
    gates = logits.softmax(-1)
    weight, chosen = gates.max(-1)
    hot = F.one_hot(chosen, EXPERTS)
    place = (hot.cumsum(-2) * hot).sum(-1) - 1
    kept = place < slots
    where = F.one_hot(place.clamp(max=slots - 1), slots) * kept[..., None]
    dispatch = hot[..., :, None] * where[..., None, :]
    return dispatch.to(logits.dtype), dispatch * weight[..., None, None]


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(DIM, EXPERTS, bias=False)
        self.up = nn.Parameter(torch.randn(EXPERTS, DIM, HIDDEN) / 3)
        self.down = nn.Parameter(torch.randn(EXPERTS, HIDDEN, DIM) / 3)

    def forward(self, x):
        groups = x.view(GROUPS, -1, DIM)  # each group of tokens has its own slots
        slots = capacity(groups.shape[1], EXPERTS)
        dispatch, combine = route(self.router(groups), slots)
        sent = torch.einsum("gsec,gsd->egcd", dispatch, groups).flatten(1, 2)
        done = F.silu(sent @ self.up) @ self.down
        done = done.view(EXPERTS, GROUPS, slots, DIM)
        return x + torch.einsum("gsec,egcd->gsd", combine, done).reshape(x.shape)


class ExpertParallel(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.world_size, self.local = world_size, EXPERTS // world_size
        self.router = full.router
        mine = slice(rank * self.local, (rank + 1) * self.local)
        self.up = nn.Parameter(full.up.detach()[mine].clone())
        self.down = nn.Parameter(full.down.detach()[mine].clone())

    def exchange(self, x):
        x = x.contiguous()
        received = torch.empty_like(x)
        dist.all_to_all_single(received, x)
        return received

    def forward(self, x):
        slots = capacity(x.shape[0], self.up.shape[0])
        dispatch, combine = route(self.router(x), slots)
        sent = torch.einsum("sec,sd->ecd", dispatch, x)
        got = self.exchange(sent.view(self.world_size, self.local, slots, DIM))
        got = got.transpose(0, 1).flatten(1, 2)
        done = F.silu(got @ self.up) @ self.down
        done = done.view(self.local, self.world_size, slots, DIM).transpose(0, 1)
        back = self.exchange(done).flatten(0, 1)
        return x + torch.einsum("sec,ecd->sd", combine, back)


def sequential():
    return MoE()


def distributed(rank, world_size):
    return ExpertParallel(MoE(), rank, world_size)


def inputs():
    return (torch.randn(48, DIM),)


world_size = 4
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}


TRUTH = "broken"
