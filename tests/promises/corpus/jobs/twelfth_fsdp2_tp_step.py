"""FSDP2 (fully_shard) over dp and a DTensor tensor-parallel plan over tp on one mesh: a training step with clipped gradients and SGD."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

DIM, HIDDEN, CLASSES = 6, 8, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(DIM, HIDDEN), nn.Linear(HIDDEN, DIM)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.head = nn.Linear(DIM, CLASSES)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Step(nn.Module):
    def __init__(self, net, group=None, ranks=1):
        super().__init__()
        self.net, self.group, self.ranks = net, group, ranks
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def forward(self, x, y):
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), 0.2)
        self.optimizer.step()
        self.optimizer.zero_grad()
        loss = loss.detach()
        if self.group is not None:
            dist.all_reduce(loss, group=self.group)
        return loss / self.ranks, norm.full_tensor() if isinstance(norm, DTensor) else norm


def sequential():
    return Step(Net())


def distributed(rank, world_size, mesh):
    net = Net()
    tp, dp = mesh["tp"], mesh["dp"]
    for block in net.blocks:
        parallelize_module(block, tp, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    parallelize_module(net, tp, {"head": ColwiseParallel(output_layouts=Replicate())})
    for block in net.blocks:
        fully_shard(block, mesh=dp)
    fully_shard(net, mesh=dp)
    return Step(net, dp.get_group(), dp.size())


def inputs():
    return torch.randn(10, DIM), torch.randint(0, CLASSES, (10,))


world_size = 4
mesh = {"dp": 2, "tp": 2}
relations = {"x": "shard(0) over dp", "y": "shard(0) over dp"}
TRUTH = "refines"
