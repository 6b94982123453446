# A fused MoE layer with tensor parallelism inside the experts, as serving engines have it: w13 holds gate and up one after
# the other, w2 the way back. Every rank runs all experts on its part of the intermediate size.
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

E, D, I, TOPK = 4, 6, 8, 2


class FusedMoE(nn.Module):
    def __init__(self, tp_size=1):
        super().__init__()
        self.tp_size = tp_size
        self.router = nn.Linear(D, E, bias=False)
        self.w13 = nn.Parameter(torch.randn(E, 2 * I, D) * 0.4)
        self.w2 = nn.Parameter(torch.randn(E, D, I) * 0.4)

    def forward(self, x):
        probs = F.softmax(self.router(x), dim=-1)
        top, ids = torch.topk(probs, TOPK, dim=-1)
        top = top / top.sum(-1, keepdim=True)
        dense = torch.zeros_like(probs).scatter(1, ids, top)          # tokens x experts
        gate, up = torch.einsum("td,ehd->teh", x, self.w13).chunk(2, dim=-1)
        y = torch.einsum("teh,edh->ted", F.silu(gate) * up, self.w2)
        y = (y * dense.unsqueeze(-1)).sum(1)
        if self.tp_size > 1:
            dist.all_reduce(y)
        return y


def load(layer, w13, w2, rank, world_size):
    shard = w13.shape[1] // world_size
    layer.w13 = nn.Parameter(w13[:, rank * shard:(rank + 1) * shard].clone())
    shard = w2.shape[2] // world_size
    layer.w2 = nn.Parameter(w2[:, :, rank * shard:(rank + 1) * shard].clone())


def sequential():
    return FusedMoE()


def distributed(rank, world_size):
    layer = FusedMoE(tp_size=world_size)
    load(layer, layer.w13.data, layer.w2.data, rank, world_size)
    return layer


def inputs():
    return (torch.randn(5, D),)


world_size = 2
TRUTH = "differs"
