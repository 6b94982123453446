"""FSDP2: layers sharded one by one, checkpoint wrapper on each, two microbatches with one gradient sync, AdamW."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

TRUTH = "refines"
WHY = "gradients of two local microbatches are accumulated, reduce-scattered once as a mean over ranks, and AdamW steps the shards"

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.b(torch.tanh(self.a(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(7)
        self.stem = nn.Linear(5, 6)
        self.layers = nn.ModuleList([Layer(6), Layer(6)])
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=0.05, weight_decay=0.1)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class ShardedStep(nn.Module):
    def __init__(self, world_size):
        super().__init__()
        mesh = init_device_mesh("cpu", (world_size,))
        net = Net()
        for i in range(len(net.layers)):
            net.layers[i] = checkpoint_wrapper(net.layers[i])
            fully_shard(net.layers[i], mesh=mesh, reshard_after_forward=i == 0)
        self.net = fully_shard(net, mesh=mesh)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=0.05, weight_decay=0.1)
        self.world_size = world_size

    def forward(self, x, y):
        self.optimizer.zero_grad()
        total = 0.0
        pieces = list(zip(x.chunk(2), y.chunk(2)))
        for i, (part, wanted) in enumerate(pieces):
            self.net.set_requires_gradient_sync(i == len(pieces) - 1)
            loss = F.mse_loss(self.net(part), wanted) / len(pieces)
            loss.backward()
            total = total + loss.detach()
        self.optimizer.step()
        dist.all_reduce(total)
        return total / self.world_size


def sequential():
    return Step()


def distributed(rank, world_size):
    return ShardedStep(world_size)


def inputs():
    torch.manual_seed(8)
    return {"x": torch.randn(8, 5), "y": torch.randn(8, 3)}
