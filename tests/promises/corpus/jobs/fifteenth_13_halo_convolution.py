"""Spatially parallel convolutions: each rank has a band of rows of the image, fetches the halo of its neighbours before every convolution, and pools over all ranks."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

CHANNELS, CLASSES, HEIGHT, WIDTH = 3, 4, 16, 5
world_size = 4
relations = {"image": "shard(2)"}
expected = {"features": "shard(2)"}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(CHANNELS, 4, 3, padding=1)
        self.second = nn.Conv2d(4, 4, 5, padding=2)
        self.dilated = nn.Conv2d(4, 6, 3, padding=2, dilation=2)
        self.head = nn.Linear(6, CLASSES)

    def forward(self, image):
        h = F.relu(self.first(image))
        h = h + F.relu(self.second(h))
        features = self.dilated(h)
        return {"features": features, "logits": self.head(features.mean((2, 3)))}


def with_halo(x, rows, rank, world_size):
    """x with `rows` rows of the rank above and below, zeros beyond the image."""
    above = x.new_zeros(x.shape[0], x.shape[1], rows, x.shape[3])
    below = torch.zeros_like(above)
    requests = []
    top, bottom = x[:, :, :rows].contiguous(), x[:, :, -rows:].contiguous()
    if rank > 0:
        requests += [dist.isend(top, rank - 1), dist.irecv(above, rank - 1)]
    if rank < world_size - 1:
        requests += [dist.isend(bottom, rank + 1), dist.irecv(below, rank + 1)]
    for request in requests:
        request.wait()
    return torch.cat([above, x, below], dim=2)


class HaloConv(nn.Module):
    def __init__(self, conv, rank, world_size):
        super().__init__()
        self.conv, self.rank, self.world_size = conv, rank, world_size

    def forward(self, x):
        (rows, columns), conv = self.conv.padding, self.conv
        x = with_halo(x, rows, self.rank, self.world_size)
        return F.conv2d(x, conv.weight, conv.bias, padding=(0, columns), dilation=conv.dilation)


class SpatialNet(nn.Module):
    def __init__(self, net, rank, world_size):
        super().__init__()
        self.first = HaloConv(net.first, rank, world_size)
        self.second = HaloConv(net.second, rank, world_size)
        self.dilated = HaloConv(net.dilated, rank, world_size)
        self.head = net.head

    def forward(self, image):
        h = F.relu(self.first(image))
        h = h + F.relu(self.second(h))
        features = self.dilated(h)
        pooled = features.sum((2, 3))
        dist.all_reduce(pooled)
        return {"features": features, "logits": self.head(pooled / (HEIGHT * WIDTH))}


def sequential():
    return Net()


def distributed(rank, world_size):
    return SpatialNet(Net(), rank, world_size)


def inputs():
    return {"image": torch.randn(2, CHANNELS, HEIGHT, WIDTH)}

TRUTH = "refines"
