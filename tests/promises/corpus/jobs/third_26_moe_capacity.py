import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "does not refine"
WHY = 'mixture of experts where each rank drops tokens by its local order and half the capacity, while the model drops by the global order'
world_size = 2

D, HIDDEN, E, TOKENS = 6, 8, 2, 8
CAPACITY = 2


def route(gates, capacity):
    choice = gates.argmax(-1)
    mask = F.one_hot(choice, E)
    slot = (mask.cumsum(0) - 1).gather(1, choice[:, None]).squeeze(1)
    keep = slot < capacity
    where = F.one_hot(choice * capacity + slot.clamp(max=capacity - 1), E * capacity)
    return (where * keep[:, None]).to(gates.dtype), gates.max(-1).values * keep


class Moe(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.gate = nn.Linear(D, E, bias=False)
        self.w_in = nn.Parameter(torch.randn(E, D, HIDDEN) / 3)
        self.w_out = nn.Parameter(torch.randn(E, HIDDEN, D) / 3)

    def experts(self, h, first, count):
        out = []
        for e in range(count):
            out.append(F.gelu(h[e] @ self.w_in[first + e]) @ self.w_out[first + e])
        return torch.stack(out)

    def forward(self, x):
        where, weight = route(self.gate(x).softmax(-1), CAPACITY)
        h = (where.T @ x).view(E, CAPACITY, D)
        y = self.experts(h, 0, E).view(E * CAPACITY, D)
        return x + weight[:, None] * (where @ y)


class MoeEP(Moe):
    def forward(self, x):
        rank, world = dist.get_rank(), dist.get_world_size()
        capacity = CAPACITY // world
        where, weight = route(self.gate(x).softmax(-1), capacity)
        send = (where.T @ x).contiguous()                     # [E * c, D], one expert on each rank
        recv = torch.empty_like(send)
        dist.all_to_all_single(recv, send)
        done = self.experts(recv[None], rank, 1)[0].contiguous()
        back = torch.empty_like(done)
        dist.all_to_all_single(back, done)
        return x + weight[:, None] * (where @ back)


def sequential():
    return Moe()


def distributed(rank, world_size):
    return MoeEP()


def inputs():
    torch.manual_seed(3)
    return (torch.randn(TOKENS, D),)


relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}
