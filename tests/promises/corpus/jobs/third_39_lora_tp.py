import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fc
from torch import nn

TRUTH = "refines"
WHY = 'LoRA under tensor parallelism: B of the column layer sharded, A of the row layer sharded, one reduction for base and adapter'
world_size = 2

D, H, R, ALPHA = 8, 12, 2, 4.0


class LoRA(nn.Module):
    def __init__(self, din, dout):
        super().__init__()
        self.base = nn.Linear(din, dout)
        self.A = nn.Parameter(torch.randn(R, din) * 0.2)
        self.B = nn.Parameter(torch.randn(dout, R) * 0.2)

    def forward(self, x):
        return self.base(x) + (x @ self.A.T @ self.B.T) * (ALPHA / R)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.fc1, self.fc2 = LoRA(D, H), LoRA(H, D)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


class Sharded(nn.Module):
    def __init__(self, rank, world):
        super().__init__()
        m = Mlp()
        lo, hi = rank * H // world, (rank + 1) * H // world
        P = lambda t: nn.Parameter(t.detach().clone())
        self.w1, self.b1 = P(m.fc1.base.weight[lo:hi]), P(m.fc1.base.bias[lo:hi])
        self.A1, self.B1 = P(m.fc1.A), P(m.fc1.B[lo:hi])
        self.w2, self.b2 = P(m.fc2.base.weight[:, lo:hi]), P(m.fc2.base.bias)
        self.A2, self.B2 = P(m.fc2.A[:, lo:hi]), P(m.fc2.B)

    def forward(self, x):
        s = ALPHA / R
        h = torch.relu(x @ self.w1.T + self.b1 + s * (x @ self.A1.T) @ self.B1.T)
        part = torch.cat([h @ self.w2.T, h @ self.A2.T], -1)
        y, low = fc.all_reduce(part, "sum", dist.group.WORLD).split([D, R], -1)
        return y + s * low @ self.B2.T + self.b2


def sequential():
    return Mlp()


def distributed(rank, world_size):
    return Sharded(rank, world_size)


def inputs():
    torch.manual_seed(4)
    return (torch.randn(3, D),)
