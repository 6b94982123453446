"""FSDP2 on a hybrid mesh (replicate 2 x shard 2): two microbatches of gradient accumulation without sync on the first, clip_grad_norm_, SGD step with weight decay."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.fsdp import fully_shard

MICRO = 2


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(6), nn.Linear(6, 10), nn.Linear(10, 6)

    def forward(self, x):
        return x + self.down(F.silu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def update(model):
    nn.utils.clip_grad_norm_(model.parameters(), 0.3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.01)
    optimizer.step()
    optimizer.zero_grad()


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Model()

    def forward(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        update(self.model)
        return loss.detach()


class ShardedStep(nn.Module):
    def __init__(self, mesh):
        super().__init__()
        self.model = Model()
        for layer in self.model.layers:
            fully_shard(layer, mesh=mesh)
        fully_shard(self.model, mesh=mesh)

    def forward(self, x, y):
        total = 0.0
        for i, (a, b) in enumerate(zip(x.chunk(MICRO), y.chunk(MICRO))):
            self.model.set_requires_gradient_sync(i == MICRO - 1)
            loss = F.cross_entropy(self.model(a), b) / MICRO
            loss.backward()
            total = total + loss.detach()
        update(self.model)
        dist.all_reduce(total)
        return total / dist.get_world_size()


def sequential():
    return Step()


def distributed(rank, world_size, mesh):
    return ShardedStep(mesh)


def inputs():
    return torch.randn(16, 6), torch.randint(0, 4, (16,))


world_size = 4
mesh = {"replicate": 2, "shard": 2}
relations = {
    "x": "shard(0) over replicate, shard(0) over shard",
    "y": "shard(0) over replicate, shard(0) over shard",
}
TRUTH = "refines"
