import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

TRUTH = "refines"
WHY = 'image rows over four ranks; halo rows exchanged with isend/irecv before each of two 3×3 convolutions'
world_size = 4


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(2, 4, 3, padding=1)
        self.c2 = nn.Conv2d(4, 3, 3, padding=1)

    def forward(self, img):
        return self.c2(F.relu(self.c1(img)))


def exchange_halo(x, rank, world):
    """[N, C, h, W] -> [N, C, h + 2, W]; zeros beyond the image"""
    top = torch.zeros_like(x[:, :, :1])
    bottom = torch.zeros_like(x[:, :, :1])
    reqs = []
    if rank > 0:
        reqs.append(dist.isend(x[:, :, :1].contiguous(), rank - 1, tag=1))
        reqs.append(dist.irecv(top, rank - 1, tag=2))
    if rank < world - 1:
        reqs.append(dist.isend(x[:, :, -1:].contiguous(), rank + 1, tag=2))
        reqs.append(dist.irecv(bottom, rank + 1, tag=1))
    for r in reqs:
        r.wait()
    return torch.cat([top, x, bottom], dim=2)


class SlabNet(nn.Module):
    def __init__(self, net, rank, world):
        super().__init__()
        self.c1, self.c2 = net.c1, net.c2
        self.rank, self.world = rank, world

    def conv(self, layer, x):
        x = exchange_halo(x, self.rank, self.world)
        return F.conv2d(x, layer.weight, layer.bias, padding=(0, 1))

    def forward(self, img):
        return self.conv(self.c2, F.relu(self.conv(self.c1, img)))


def sequential():
    torch.manual_seed(0)
    return Net()


def distributed(rank, world_size):
    return SlabNet(sequential(), rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(1, 2, 8, 5),)


relations = {"img": "shard(2)"}
expected = {"0": "shard(2)"}
