"""2-D mesh: tensor parallel plan over tp, fully_shard over dp, one step of SGD with DTensor weights, 4 ranks."""
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


class SwiGLU(nn.Module):
    def __init__(self, width=8, inner=16):
        super().__init__()
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return x + self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(SwiGLU() for _ in range(2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Step(nn.Module):
    def __init__(self, net, group=None):
        super().__init__()
        self.net, self.group = net, group
        self.opt = torch.optim.SGD(net.parameters(), lr=0.05)

    def forward(self, x, y):
        loss = (self.net(x) - y).square().mean()
        loss.backward()
        self.opt.step()
        self.opt.zero_grad()
        shown = loss.detach().clone()
        if self.group is not None:
            dist.all_reduce(shown, group=self.group)
            shown /= dist.get_world_size(self.group)
        return shown


def sequential():
    return Step(Net())


def distributed(rank, world_size, mesh):
    net = Net()
    for block in net.blocks:
        parallelize_module(block, mesh["tp"], {
            "gate": ColwiseParallel(), "up": ColwiseParallel(), "down": RowwiseParallel(),
        })
        fully_shard(block, mesh=mesh["dp"])
    fully_shard(net, mesh=mesh["dp"])
    return Step(net, mesh["dp"].get_group())


def inputs():
    return torch.randn(4, 3, 8), torch.randn(4, 3, 8)


world_size = 4
mesh = {"dp": 2, "tp": 2}
relations = {"x": "shard(0) over dp", "y": "shard(0) over dp"}

TRUTH = "refines"
