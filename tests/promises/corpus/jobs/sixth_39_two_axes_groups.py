"""Tensor and data parallel on a 2 x 2 mesh without DTensor. Gradients of weights that are cut are averaged over the
data axis, those of whole weights are the same on all tensor ranks already."""
import torch
import torch.distributed as dist
from torch import nn

world_size = 4
mesh = {"dp": 2, "tp": 2}
relations = {"x": "shard(0) over dp", "y": "shard(0) over dp"}
expected = {"loss": "partial(avg) over dp"}
D, H = 4, 6


class Full(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.up = nn.Linear(D, H)
        self.down = nn.Linear(H, D)

    def forward(self, x, y):
        z = torch.relu(self.up(x))
        loss = nn.functional.smooth_l1_loss(self.down(z), y)
        descend(list(self.parameters()), torch.autograd.grad(loss, list(self.parameters())))
        return {"loss": loss.detach()}


@torch.no_grad()
def descend(params, grads, lr=0.2):
    for p, g in zip(params, grads):
        p.sub_(lr * g)


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        x = x.clone()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, g):
        return g, None


class Part(nn.Module):
    def __init__(self, mesh):
        super().__init__()
        full = Full()
        tp, n = mesh.get_local_rank("tp"), mesh["tp"].size()
        cut = lambda t, d: nn.Parameter(t.detach().chunk(n, d)[tp].clone())
        self.up_w, self.up_b = cut(full.up.weight, 0), cut(full.up.bias, 0)
        self.down_w = cut(full.down.weight, 1)
        self.down_b = nn.Parameter(full.down.bias.detach().clone())
        self.tp, self.dp = mesh.get_group("tp"), mesh.get_group("dp")

    def forward(self, x, y):
        z = torch.relu(x @ self.up_w.T + self.up_b)
        out = Reduce.apply(z @ self.down_w.T, self.tp) + self.down_b
        loss = nn.functional.smooth_l1_loss(out, y)
        params = [self.up_w, self.up_b, self.down_w, self.down_b]
        cut = [True, True, True, False]
        grads = torch.autograd.grad(loss, params)
        for g, is_cut in zip(grads, cut):
            group = self.dp if is_cut else self.tp
            dist.all_reduce(g, group=group)
            g /= dist.get_world_size(group)
        descend(params, grads)
        return {"loss": loss.detach()}


def sequential():
    return Full()


def distributed(rank, world_size, mesh):
    return Part(mesh)


def inputs():
    torch.manual_seed(7)
    return {"x": torch.randn(6, D), "y": torch.randn(6, D)}


TRUTH = "differs"
