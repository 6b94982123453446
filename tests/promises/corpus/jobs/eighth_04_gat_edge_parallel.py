"""A graph attention layer for graphs whose edges do not fit on one device: edges are dealt out in arbitrary order, node features
are replicated. The softmax over a node's incoming edges is therefore spread over ranks: maximum and denominator are reduced."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

NODES, HEADS, DIM = 9, 2, 4


class GATLayer(nn.Module):
    def __init__(self, features=6):
        super().__init__()
        self.lin = nn.Linear(features, HEADS * DIM, bias=False)
        self.att_src = nn.Parameter(torch.randn(HEADS, DIM) * 0.5)
        self.att_dst = nn.Parameter(torch.randn(HEADS, DIM) * 0.5)
        self.bias = nn.Parameter(torch.randn(HEADS * DIM) * 0.1)

    def scores(self, h, src, dst):
        a_src, a_dst = (h * self.att_src).sum(-1), (h * self.att_dst).sum(-1)
        return F.leaky_relu(a_src[src] + a_dst[dst], 0.2)

    def reduce_max(self, t):
        return t

    def reduce_sum(self, t):
        return t

    def forward(self, x, src, dst):
        h = self.lin(x).view(-1, HEADS, DIM)
        e = self.scores(h, src, dst)
        index = dst.unsqueeze(-1).expand_as(e)
        top = torch.full((NODES, HEADS), -1e9).scatter_reduce(0, index, e, "amax")
        top = self.reduce_max(top)
        p = (e - top[dst]).exp()
        denominator = self.reduce_sum(torch.zeros(NODES, HEADS).index_add(0, dst, p))
        messages = torch.zeros(NODES, HEADS, DIM).index_add(0, dst, p.unsqueeze(-1) * h[src])
        out = self.reduce_sum(messages) / (denominator.unsqueeze(-1) + 1e-16)
        return F.elu(out.flatten(1) + self.bias)


class EdgeParallelGATLayer(GATLayer):
    def reduce_max(self, t):
        dist.all_reduce(t, op=dist.ReduceOp.MAX)
        return t

    def reduce_sum(self, t):
        dist.all_reduce(t)
        return t


class Net(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.first = layer(6)
        self.second = layer(HEADS * DIM)
        self.readout = nn.Linear(HEADS * DIM, 3)

    def forward(self, x, src, dst):
        h = self.first(x, src, dst)
        h = self.second(h, src, dst)
        return self.readout(h)


def sequential():
    return Net(GATLayer)


def distributed(rank, world_size):
    return Net(EdgeParallelGATLayer).requires_grad_(False)


def inputs():
    edges = 24
    loops = torch.arange(NODES)
    src = torch.cat([torch.randint(0, NODES, (edges - NODES,)), loops])
    dst = torch.cat([torch.randint(0, NODES, (edges - NODES,)), loops])
    return torch.randn(NODES, 6), src, dst


world_size = 3
relations = {"src": "shard(0)", "dst": "shard(0)"}

TRUTH = "refines"
