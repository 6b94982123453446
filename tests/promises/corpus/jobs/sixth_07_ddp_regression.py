"""One SGD step with DistributedDataParallel on halves of a batch; what counts is what it leaves in the weights."""
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}
expected = {"0": "partial(avg)"}


class Trainer(nn.Module):
    def __init__(self, net, wrapped):
        super().__init__()
        self.net = net
        self._call = [wrapped]
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=0.01)

    def forward(self, x, y):
        self.opt.zero_grad()
        loss = nn.functional.huber_loss(self._call[0](x).squeeze(-1), y)
        loss.backward()
        self.opt.step()
        return loss.detach()


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))


def sequential():
    n = net()
    return Trainer(n, n)


def distributed(rank, world_size):
    n = net()
    return Trainer(n, DDP(n))


def inputs():
    torch.manual_seed(1)
    return {"x": torch.randn(8, 4), "y": torch.randn(8)}


TRUTH = "refines"
