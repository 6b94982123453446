import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

TRUTH = "refines"
WHY = 'DistributedDataParallel around a small residual net, batch over two ranks, gradients as outputs'
world_size = 2
backward = True


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(6, 8)
        self.res = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
        self.head = nn.Linear(8, 1)

    def forward(self, x, y):
        h = self.stem(x)
        h = h + self.res(h)
        return {"loss": nn.functional.smooth_l1_loss(self.head(h).squeeze(-1), y)}


def sequential():
    torch.manual_seed(1234)
    return Net()


def distributed(rank, world_size):
    return DDP(sequential())


def inputs():
    torch.manual_seed(4)
    return {"x": torch.randn(6, 6), "y": torch.randn(6)}


relations = {"x": "shard(0)", "y": "shard(0)"}
expected = {"loss": "partial(avg)"}
