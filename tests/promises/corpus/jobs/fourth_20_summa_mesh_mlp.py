"""Two matrix products by SUMMA on a mesh of two by two: blocks of both factors are broadcast along rows and columns."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "In step k the ranks of a row have block k of the left factor and those of a column block k of the right one, and add up the products."

world_size = 4
mesh = {"row": 2, "col": 2}
relations = {
    "x": "shard(0) over row, shard(1) over col",
    "w1": "shard(0) over row, shard(1) over col",
    "w2": "shard(0) over row, shard(1) over col",
    "b1": "shard(0) over col",
}
expected = {"0": "shard(0) over row, shard(1) over col"}

N, D, H = 6, 4, 8


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(38)
        self.w1, self.b1 = nn.Parameter(torch.randn(D, H)), nn.Parameter(torch.randn(H))
        self.w2 = nn.Parameter(torch.randn(H, D))

    def forward(self, x):
        return F.gelu(x @ self.w1 + self.b1) @ self.w2


class Summa(nn.Module):
    def __init__(self, full, mesh):
        super().__init__()
        self.mesh = mesh
        self.row, self.col = mesh.get_local_rank("row"), mesh.get_local_rank("col")

        def block(t):
            return nn.Parameter(t.detach().chunk(2, 0)[self.row].chunk(2, 1)[self.col].clone())

        self.w1, self.w2 = block(full.w1), block(full.w2)
        self.b1 = nn.Parameter(full.b1.detach().chunk(2)[self.col].clone())

    def multiply(self, a, b):
        along_row, along_col = self.mesh.get_group("col"), self.mesh.get_group("row")
        out = 0
        for k in range(2):
            left = a.clone() if self.col == k else torch.empty_like(a)
            right = b.clone() if self.row == k else torch.empty_like(b)
            dist.broadcast(left, src=dist.get_global_rank(along_row, k), group=along_row)
            dist.broadcast(right, src=dist.get_global_rank(along_col, k), group=along_col)
            out = out + left @ right
        return out

    def forward(self, x):
        return self.multiply(F.gelu(self.multiply(x, self.w1.detach()) + self.b1), self.w2.detach())


def sequential():
    return MLP()


def distributed(rank, world_size, mesh):
    return Summa(MLP(), mesh)


def inputs():
    torch.manual_seed(39)
    return (torch.randn(N, D),)
