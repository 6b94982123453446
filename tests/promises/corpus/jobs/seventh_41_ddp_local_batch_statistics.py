# A projection head with batch norm, trained under DDP; the effective batch is the sum of the ranks' batches.
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Projector(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 8, bias=False)
        self.bn = nn.BatchNorm1d(8, momentum=0.2)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(nn.functional.silu(self.bn(self.fc1(x))))


class LossAndGrad(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, y):
        loss = nn.functional.smooth_l1_loss(self.net(x), y)
        loss.backward()
        return loss.detach()


def sequential():
    return LossAndGrad(Projector())


def distributed(rank, world_size):
    return LossAndGrad(DDP(Projector()))


def inputs():
    return torch.randn(12, 5), torch.randn(12, 3)


world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}
expected = {"0": "partial(avg)"}
TRUTH = "differs"
