import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
from torch import nn

# Low-rank bottleneck: sequence cut over ranks outside, rank dimension cut inside.
world_size = 4
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}
D, R = 6, 8


class Bottleneck(nn.Module):
    def __init__(self, a, b, bias):
        super().__init__()
        self.a, self.b, self.bias = nn.Parameter(a), nn.Parameter(b), nn.Parameter(bias)

    def forward(self, x):
        return x + torch.sin(x @ self.a) @ self.b + self.bias


class BottleneckSP(Bottleneck):
    @torch.no_grad()
    def forward(self, x):
        world = dist.group.WORLD
        whole = funcol.all_gather_tensor(x, gather_dim=0, group=world)
        part = torch.sin(whole @ self.a) @ self.b
        mine = funcol.reduce_scatter_tensor(part, "sum", scatter_dim=0, group=world)
        return x + mine + self.bias


def tensors():
    torch.manual_seed(21)
    return torch.randn(D, R), torch.randn(R, D), torch.randn(D)


def sequential():
    return Bottleneck(*tensors())


def distributed(rank, world_size):
    a, b, bias = tensors()
    return BottleneckSP(a.chunk(world_size, 1)[rank].clone(), b.chunk(world_size, 0)[rank].clone(), bias)


def inputs():
    torch.manual_seed(22)
    return (torch.randn(8, 3, D),)


TRUTH = "refines"
