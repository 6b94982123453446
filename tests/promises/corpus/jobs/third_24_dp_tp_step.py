import torch
import torch.distributed as dist
from torch import nn

TRUTH = "refines"
WHY = '2 × 2 mesh: tensor-parallel MLP inside data parallelism; gradients averaged over dp only, SGD step applied'

mesh = {"dp": 2, "tp": 2}
world_size = 4
D, F_ = 6, 8


class CopyToTP(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g, group=ctx.group)
        return g, None


class ReduceFromTP(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        x = x.clone()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, g):
        return g, None


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inp = nn.Linear(D, D)
        self.up = nn.Linear(D, F_)
        self.down = nn.Linear(F_, D)

    def forward(self, x, y):
        h = torch.tanh(self.inp(x))
        out = self.down(torch.relu(self.up(h)))
        loss = (out - y).square().mean()
        self.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in self.parameters():
                p -= 0.05 * p.grad
        return loss.detach()


class MeshMlp(nn.Module):
    def __init__(self, whole, mesh):
        super().__init__()
        self.dp, self.tp = mesh.get_group("dp"), mesh.get_group("tp")
        i, n = mesh.get_local_rank("tp"), mesh["tp"].size()
        cut = slice(i * F_ // n, (i + 1) * F_ // n)
        self.inp = whole.inp
        self.up_w = nn.Parameter(whole.up.weight.data[cut].clone())
        self.up_b = nn.Parameter(whole.up.bias.data[cut].clone())
        self.down_w = nn.Parameter(whole.down.weight.data[:, cut].clone())
        self.down_b = nn.Parameter(whole.down.bias.data.clone())

    def forward(self, x, y):
        h = CopyToTP.apply(torch.tanh(self.inp(x)), self.tp)
        h = torch.relu(h @ self.up_w.T + self.up_b)
        out = ReduceFromTP.apply(h @ self.down_w.T, self.tp) + self.down_b
        loss = (out - y).square().mean()
        self.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in self.parameters():
                dist.all_reduce(p.grad, group=self.dp)
                p.grad.div_(2)
                p -= 0.05 * p.grad
        loss = loss.detach()
        dist.all_reduce(loss, group=self.dp)
        return loss / 2


def sequential():
    return Mlp()


def distributed(rank, world_size, mesh):
    return MeshMlp(Mlp(), mesh)


def inputs():
    torch.manual_seed(1)
    return torch.randn(4, D), torch.randn(4, D)


relations = {"x": "shard(0) over dp", "y": "shard(0) over dp"}
