"""A training step on a mesh of data x tensor parallel: gradients are averaged over dp, the global norm adds the squares of cut weights over tp and counts replicated ones once, then SGD."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HIDDEN, CLIP, LR = 6, 8, 0.25, 0.1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM)
        self.up, self.down = nn.Linear(DIM, HIDDEN), nn.Linear(HIDDEN, DIM)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x, y):
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), CLIP)
        with torch.no_grad():
            for p in self.net.parameters():
                p.sub_(LR * p.grad)
                p.grad = None
        return loss.detach(), norm


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad, group=ctx.group)
        return grad, None


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        x = x.clone()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class ParallelStep(nn.Module):
    def __init__(self, net, mesh):
        super().__init__()
        self.dp, self.tp = mesh.get_group("dp"), mesh.get_group("tp")
        self.replicas = mesh.size(0)
        n, r = mesh.size(1), mesh.get_local_rank("tp")
        self.norm = net.norm
        self.up_weight = nn.Parameter(net.up.weight.detach().chunk(n)[r].clone())
        self.up_bias = nn.Parameter(net.up.bias.detach().chunk(n)[r].clone())
        self.down_weight = nn.Parameter(net.down.weight.detach().chunk(n, 1)[r].clone())
        self.down_bias = nn.Parameter(net.down.bias.detach().clone())

    def net(self, x):
        h = Copy.apply(self.norm(x), self.tp)
        h = F.gelu(F.linear(h, self.up_weight, self.up_bias))
        return x + Reduce.apply(F.linear(h, self.down_weight), self.tp) + self.down_bias

    def forward(self, x, y):
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        cut = [self.up_weight, self.up_bias, self.down_weight]
        whole = [*self.norm.parameters(), self.down_bias]
        for p in cut + whole:
            dist.all_reduce(p.grad, group=self.dp)
            p.grad.div_(self.replicas)
        squares = sum(p.grad.square().sum() for p in cut)
        dist.all_reduce(squares, group=self.tp)
        norm = (squares + sum(p.grad.square().sum() for p in whole)).sqrt()
        factor = (CLIP / (norm + 1e-6)).clamp(max=1.0)
        with torch.no_grad():
            for p in cut + whole:
                p.sub_(LR * factor * p.grad)
                p.grad = None
        loss = loss.detach().clone()
        dist.all_reduce(loss, group=self.dp)
        return loss / self.replicas, norm


def sequential():
    return Step()


def distributed(rank, world_size, mesh):
    return ParallelStep(Step().net, mesh)


def inputs():
    return torch.randn(4, 3, DIM), torch.randn(4, 3, DIM)


mesh = {"dp": 2, "tp": 2}
world_size = 4
relations = {"x": "shard(0) over dp", "y": "shard(0) over dp"}


TRUTH = "refines"
