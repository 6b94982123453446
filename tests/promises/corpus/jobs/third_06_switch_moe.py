"""Switch layer in the GShard manner: tokens come in groups, each group may send CAPACITY tokens to each expert."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = 'switch (top-1) mixture of experts with fixed capacity per group and two all_to_alls'
world_size = 2

D, FF, EXPERTS, GROUPS, PER_GROUP, CAPACITY = 6, 10, 4, 2, 6, 2


def dispatch_masks(gates):
    # gates [n, E] -> dispatch [n, E, C] of zeros and ones, combine [n, E, C]
    expert = gates.argmax(-1)
    onehot = F.one_hot(expert, EXPERTS)
    position = onehot.cumsum(0) * onehot - 1
    slot = position.max(-1).values
    kept = slot < CAPACITY
    dispatch = onehot[:, :, None] * F.one_hot(slot.clamp(max=CAPACITY - 1), CAPACITY)[:, None, :]
    dispatch = (dispatch * kept[:, None, None]).to(gates.dtype)
    return dispatch, dispatch * gates[:, :, None]


class Switch(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(D, EXPERTS, bias=False)
        self.w1 = nn.Parameter(torch.randn(EXPERTS, D, FF) * 0.3)
        self.w2 = nn.Parameter(torch.randn(EXPERTS, FF, D) * 0.3)

    def forward(self, x):  # [groups, n, D]
        outs = []
        for g in x.unbind(0):
            dispatch, combine = dispatch_masks(self.router(g).softmax(-1))
            h = torch.einsum("nec,nd->ecd", dispatch, g)
            h = torch.relu(h @ self.w1) @ self.w2
            outs.append(torch.einsum("nec,ecd->nd", combine, h))
        return torch.stack(outs)


class ExpertParallelSwitch(nn.Module):
    def __init__(self, full, rank, world):
        super().__init__()
        own = EXPERTS // world
        self.world = world
        self.router = full.router
        self.w1 = nn.Parameter(full.w1.data[rank * own:(rank + 1) * own].clone())
        self.w2 = nn.Parameter(full.w2.data[rank * own:(rank + 1) * own].clone())

    def forward(self, x):  # [1, n, D]
        g = x.squeeze(0)
        dispatch, combine = dispatch_masks(self.router(g).softmax(-1))
        send = torch.einsum("nec,nd->ecd", dispatch, g).contiguous()
        recv = torch.empty_like(send)
        dist.all_to_all_single(recv, send)
        h = recv.view(self.world, -1, CAPACITY, D).transpose(0, 1).reshape(-1, self.world * CAPACITY, D)
        h = torch.relu(h @ self.w1) @ self.w2
        back = h.view(-1, self.world, CAPACITY, D).transpose(0, 1).reshape(EXPERTS, CAPACITY, D).contiguous()
        home = torch.empty_like(back)
        dist.all_to_all_single(home, back)
        return torch.einsum("nec,ecd->nd", combine, home).unsqueeze(0)


def sequential():
    torch.manual_seed(0)
    return Switch()


def distributed(rank, world_size):
    return ExpertParallelSwitch(sequential(), rank, world_size)


def inputs():
    torch.manual_seed(4)
    return (torch.randn(GROUPS, PER_GROUP, D),)


relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}
