# Memory was short: ZeroRedundancyOptimizer shards what SGD with momentum keeps.
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer


class AutoEncoder(nn.Module):
    def __init__(self, dim=6, code=3):
        super().__init__()
        self.encode = nn.Linear(dim, code)
        self.decode = nn.Linear(code, dim)

    def forward(self, x):
        return self.decode(torch.tanh(self.encode(x)))


class Trainer(nn.Module):
    def __init__(self, net, optimizer):
        super().__init__()
        self.net, self.optimizer = net, optimizer

    def report(self, loss):
        return loss.detach()

    def forward(self, x):
        self.optimizer.zero_grad()
        loss = (self.net(x) - x).square().mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return self.report(loss)


class ShardedTrainer(Trainer):
    def report(self, loss):
        loss = loss.detach().clone()
        dist.all_reduce(loss)
        return loss / dist.get_world_size()


def sequential():
    net = AutoEncoder()
    return Trainer(net, torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9))


def distributed(rank, world_size):
    net = AutoEncoder()
    return ShardedTrainer(net, ZeroRedundancyOptimizer(net.parameters(), optimizer_class=torch.optim.SGD, lr=0.2, momentum=0.9))


def inputs():
    return (torch.randn(8, 6),)


world_size = 2
relations = {"x": "shard(0)"}
TRUTH = "differs"
