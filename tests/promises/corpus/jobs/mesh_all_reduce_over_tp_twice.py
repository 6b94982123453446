import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "does not refine"
WHY = 'the means are reduced over tp instead of dp: each half of the batch keeps its own'
world_size = 4


class Mlp(nn.Module):
    def __init__(self, d=6, h=8):
        super().__init__()
        torch.manual_seed(0)
        self.up = nn.Parameter(torch.randn(h, d))
        self.down = nn.Parameter(torch.randn(d, h))

    def forward(self, x):
        y = F.linear(F.relu(F.linear(x, self.up)), self.down)
        return {"mean": y.mean(0)}


class Local(nn.Module):
    def __init__(self, tp_rank, tp_size, dp_size, tp, dp):
        super().__init__()
        whole = Mlp()
        self.tp, self.dp, self.dp_size = tp, dp, dp_size
        self.up = nn.Parameter(whole.up.detach().chunk(tp_size, 0)[tp_rank].clone())
        self.down = nn.Parameter(whole.down.detach().chunk(tp_size, 1)[tp_rank].clone())

    def forward(self, x):
        y = F.linear(F.relu(F.linear(x, self.up)), self.down)
        dist.all_reduce(y, group=self.tp)
        mean = y.mean(0)
        dist.all_reduce(mean, group=self.tp)
        return {"mean": mean / self.dp_size}


mesh = {"dp": 2, "tp": 2}


def sequential():
    return Mlp()


def distributed(rank, world_size, mesh):
    tp, dp = mesh.get_group("tp"), mesh.get_group("dp")
    return Local(rank % 2, 2, 2, tp, dp)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(8, 6),)


relations = {"x": "shard(0) over dp"}
