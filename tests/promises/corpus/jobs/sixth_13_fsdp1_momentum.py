# FullyShardedDataParallel (the first one), a policy that wraps each block, SGD with momentum, two steps.
import functools

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)
        self.gain = nn.Parameter(torch.rand(d) + 0.5)

    def forward(self, x):
        return x + self.gain * torch.tanh(self.lin(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inp = nn.Linear(3, 4)
        self.blocks = nn.Sequential(Block(4), Block(4))
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(self.blocks(self.inp(x)))


class TwoSteps(nn.Module):
    def __init__(self, wrap=lambda m: m):
        super().__init__()
        self.net = wrap(Net())
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.8)

    def forward(self, x, y):
        for _ in range(2):
            loss = ((self.net(x) - y) ** 2).mean()
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        loss = loss.detach()
        dist.all_reduce(loss, op=dist.ReduceOp.SUM)
        return loss / dist.get_world_size()


def sequential():
    return TwoSteps()


def distributed(rank, world_size):
    wrap = functools.partial(FSDP, auto_wrap_policy=ModuleWrapPolicy({Block}), use_orig_params=True, device_id=torch.device("cpu"))
    return TwoSteps(wrap)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(4, 3), torch.randn(4, 2))


TRUTH = "refines"
