"""fully_shard on each block and the root; forward and backward, every rank with its part of the batch."""
import torch
from torch import nn
from torch.distributed.fsdp import fully_shard

world_size = 2
backward = True
relations = {"x": "shard(0)"}
expected = {"0": "partial(avg)"}


class MLPBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.fc1 = nn.Linear(d, 2 * d)
        self.fc2 = nn.Linear(2 * d, d)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias)

    def forward(self, x):
        return x + self.fc2(nn.functional.mish(self.fc1(self.norm(x))))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(MLPBlock(4) for _ in range(2))
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return self.out(x).square().mean()


def sequential():
    torch.manual_seed(1)
    return Encoder()


def distributed(rank, world_size):
    m = sequential()
    for b in m.blocks:
        fully_shard(b)
    return fully_shard(m)


def inputs():
    torch.manual_seed(2)
    return {"x": torch.randn(4, 4)}


TRUTH = "refines"
