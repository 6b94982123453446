import torch
import torch.distributed as dist
from torch import nn

TRUTH = "refines"
WHY = "multi-query attention: query heads over four ranks, the one key-value head on all; Megatron's f and g so that every gradient is whole"
world_size = 4
backward = True

D, H, HD = 8, 4, 4


class F_(torch.autograd.Function):
    """identity forward, all-reduce backward"""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        g = g.contiguous().clone()
        dist.all_reduce(g)
        return g


class G_(torch.autograd.Function):
    """all-reduce forward, identity backward"""

    @staticmethod
    def forward(ctx, x):
        x = x.contiguous().clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class MQA(nn.Module):
    f = g = staticmethod(lambda t: t)

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(D, H * HD)
        self.kv = nn.Linear(D, 2 * HD)
        self.o = nn.Linear(H * HD, D, bias=False)
        self.ob = nn.Parameter(torch.randn(D))

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q(self.f(x)).view(B, T, -1, HD).transpose(1, 2)
        k, v = self.f(self.kv(x)).chunk(2, -1)
        s = q @ k[:, None].transpose(-1, -2) / 2.0
        s = s + torch.full((T, T), float("-inf"), dtype=x.dtype).triu(1)
        y = (s.softmax(-1) @ v[:, None]).transpose(1, 2).reshape(B, T, -1)
        return self.g(self.o(y)) + self.ob


class ShardedMQA(MQA):
    f, g = staticmethod(F_.apply), staticmethod(G_.apply)

    def __init__(self, rank, world):
        super().__init__()
        self.load_state_dict(sequential().state_dict())
        for lin, dim in ((self.q, 0), (self.o, 1)):
            lin.weight = nn.Parameter(lin.weight.data.chunk(world, dim)[rank].clone())
        self.q.bias = nn.Parameter(self.q.bias.data.chunk(world)[rank].clone())


def sequential():
    torch.manual_seed(0)
    return MQA()


def distributed(rank, world_size):
    return ShardedMQA(rank, world_size)


def inputs():
    torch.manual_seed(6)
    return (torch.randn(2, 3, D),)
