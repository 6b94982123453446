"""Gradients of one SGD step averaged in two levels: reduce-scatter in a node, all-reduce across nodes, all-gather in the node."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "the two level average over 2 nodes of 4 ranks is the average over all 8"

world_size = 8
relations = {"x": "shard(0)", "y": "shard(0)"}
PER_NODE = 4


def model():
    torch.manual_seed(14)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = model()

    def average(self, flat):
        return flat

    def forward(self, x, y):
        params = list(self.net.parameters())
        loss = F.mse_loss(self.net(x), y)
        grads = torch.autograd.grad(loss, params)
        flat = self.average(torch.cat([g.reshape(-1) for g in grads]))
        out = []
        with torch.no_grad():
            for p, g in zip(params, flat.split([p.numel() for p in params])):
                p.sub_(0.1 * g.view_as(p))
                out.append(p.clone())
        return tuple(out)


class HierarchicalStep(Step):
    def __init__(self, rank, world_size):
        super().__init__()
        self.world_size = world_size
        nodes = world_size // PER_NODE
        for n in range(nodes):
            ranks = list(range(n * PER_NODE, (n + 1) * PER_NODE))
            group = dist.new_group(ranks)
            if rank in ranks:
                self.node = group
        for i in range(PER_NODE):
            ranks = list(range(i, world_size, PER_NODE))
            group = dist.new_group(ranks)
            if rank in ranks:
                self.across = group

    def average(self, flat):
        size = flat.numel()
        padded = F.pad(flat, (0, -size % PER_NODE))
        mine = padded.new_empty(padded.numel() // PER_NODE)
        dist.reduce_scatter_tensor(mine, padded, group=self.node)
        dist.all_reduce(mine, group=self.across)
        whole = torch.empty_like(padded)
        dist.all_gather_into_tensor(whole, mine / self.world_size, group=self.node)
        return whole[:size]


def sequential():
    return Step()


def distributed(rank, world_size):
    return HierarchicalStep(rank, world_size)


def inputs():
    torch.manual_seed(15)
    return {"x": torch.randn(16, 3), "y": torch.randn(16, 2)}
