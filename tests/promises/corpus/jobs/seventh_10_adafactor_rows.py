# One Adafactor update (no momentum) of a linear layer whose rows are cut over the ranks. The row statistic
# is local; column statistic, its mean and the RMS clipping of the update need sums over ranks.
import torch
import torch.distributed as dist
from torch import nn

EPS1, CLIP, LR, DECAY = 1e-3, 1.0, 0.02, 0.8


class Layer(nn.Module):
    def __init__(self, rows=8, cols=6):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, cols) * 0.4)
        self.register_buffer("row_stat", torch.rand(rows) + 0.1)
        self.register_buffer("col_stat", torch.rand(cols) + 0.1)

    def forward(self, x):
        return x @ self.weight.t()


@torch.no_grad()
def adafactor(layer, total, rows):
    g = layer.weight.grad
    sq = g.square() + EPS1
    layer.row_stat.mul_(DECAY).add_(sq.mean(1), alpha=1 - DECAY)
    layer.col_stat.mul_(DECAY).add_(total(sq.sum(0)) / rows, alpha=1 - DECAY)
    row_mean = total(layer.row_stat.sum()) / rows
    r = (layer.row_stat / row_mean).rsqrt().unsqueeze(1)
    c = layer.col_stat.rsqrt().unsqueeze(0)
    update = g * r * c
    rms = (total(update.square().sum()) / (rows * g.shape[1])).sqrt()
    update = update / torch.clamp(rms / CLIP, min=1.0)
    layer.weight.add_(update, alpha=-LR)


class Step(nn.Module):
    def __init__(self, layer, total, rows):
        super().__init__()
        self.layer, self.total, self.rows = layer, total, rows

    def forward(self, x, target):
        self.layer.weight.grad = None
        # the loss is a sum over output features, so that every rank can start from its own
        loss = (self.layer(x) - target).square().sum()
        loss.backward()
        adafactor(self.layer, self.total, self.rows)
        return self.total(loss.detach())


def sequential():
    layer = Layer()
    return Step(layer, lambda t: t, layer.weight.shape[0])


def distributed(rank, world_size):
    layer = Layer()
    rows = layer.weight.shape[0]
    lo, hi = rank * rows // world_size, (rank + 1) * rows // world_size
    layer.weight = nn.Parameter(layer.weight.data[lo:hi].clone())
    layer.row_stat = layer.row_stat[lo:hi].clone()

    def total(t):
        t = t.clone()
        dist.all_reduce(t)
        return t

    return Step(layer, total, rows)


def inputs():
    return torch.randn(5, 6), torch.randn(5, 8)


world_size = 2
relations = {"target": "shard(1)"}
TRUTH = "refines"
