import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = 'Megatron sequence parallelism: norm on sequence shards, all-gather, column and row layers, reduce-scatter; norm gradients partial'
world_size = 2

D, H = 6, 8


class GatherSeq(torch.autograd.Function):
    """all-gather along dim 0 forward, reduce-scatter backward"""

    @staticmethod
    def forward(ctx, x):
        out = torch.empty(x.shape[0] * dist.get_world_size(), *x.shape[1:], dtype=x.dtype)
        dist.all_gather_into_tensor(out, x.contiguous())
        return out

    @staticmethod
    def backward(ctx, g):
        out = torch.empty(g.shape[0] // dist.get_world_size(), *g.shape[1:], dtype=g.dtype)
        dist.reduce_scatter_tensor(out, g.contiguous())
        return out


class ScatterSeq(torch.autograd.Function):
    """reduce-scatter forward, all-gather backward"""

    @staticmethod
    def forward(ctx, x):
        out = torch.empty(x.shape[0] // dist.get_world_size(), *x.shape[1:], dtype=x.dtype)
        dist.reduce_scatter_tensor(out, x.contiguous())
        return out

    @staticmethod
    def backward(ctx, g):
        out = torch.empty(g.shape[0] * dist.get_world_size(), *g.shape[1:], dtype=g.dtype)
        dist.all_gather_into_tensor(out, g.contiguous())
        return out


class Ffn(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(D)
        self.up = nn.Linear(D, H)
        self.down = nn.Linear(H, D, bias=False)

    def forward(self, x):  # [seq, batch, D]
        return x + self.down(F.gelu(self.up(self.norm(x))))


class FfnSP(Ffn):
    def __init__(self, rank, world):
        super().__init__()
        self.load_state_dict(sequential().state_dict())
        with torch.no_grad():
            self.up.weight = nn.Parameter(self.up.weight.chunk(world, 0)[rank].clone())
            self.up.bias = nn.Parameter(self.up.bias.chunk(world, 0)[rank].clone())
            self.down.weight = nn.Parameter(self.down.weight.chunk(world, 1)[rank].clone())

    def forward(self, x):
        h = GatherSeq.apply(self.norm(x))
        return x + ScatterSeq.apply(self.down(F.gelu(self.up(h))))


def sequential():
    torch.manual_seed(0)
    return Ffn()


def distributed(rank, world_size):
    return FfnSP(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(4, 2, D),)


backward = True
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)", "grad.norm.weight": "partial", "grad.norm.bias": "partial"}
