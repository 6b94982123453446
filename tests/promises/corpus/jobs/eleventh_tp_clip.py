"""Data times tensor parallelism: gradients averaged over dp, clipped by the global norm over tp, then SGD."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, FFN, LR, MAX_NORM = 6, 8, 0.2, 0.05


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM)
        self.up, self.down = nn.Linear(DIM, FFN), nn.Linear(FFN, DIM)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = MLP()

    def forward(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), MAX_NORM)
        with torch.no_grad():
            for p in self.model.parameters():
                p.add_(p.grad, alpha=-LR)
                p.grad = None
        return loss.detach(), norm


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
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


class ParallelMLP(nn.Module):
    def __init__(self, full, group):
        super().__init__()
        self.group = group
        rank, size = dist.get_rank(group), dist.get_world_size(group)
        self.norm = full.norm
        self.up, self.down = nn.Linear(DIM, FFN // size), nn.Linear(FFN // size, DIM)
        with torch.no_grad():
            self.up.weight.copy_(full.up.weight.chunk(size, 0)[rank])
            self.up.bias.copy_(full.up.bias.chunk(size, 0)[rank])
            self.down.weight.copy_(full.down.weight.chunk(size, 1)[rank])
            self.down.bias.copy_(full.down.bias)

    def forward(self, x):
        h = Copy.apply(self.norm(x), self.group)
        h = Reduce.apply(F.linear(F.gelu(self.up(h)), self.down.weight), self.group)
        return x + (h + self.down.bias)


class ParallelStep(nn.Module):
    def __init__(self, model, mesh):
        super().__init__()
        self.dp, self.tp = mesh.get_group("dp"), mesh.get_group("tp")
        self.model = ParallelMLP(model, self.tp)

    @torch.no_grad()
    def clip_grad_norm(self, max_norm):
        params = list(self.model.parameters())
        total = torch.stack([p.grad.square().sum() for p in params]).sum()
        dist.all_reduce(total, group=self.tp)
        norm = total.sqrt()
        coefficient = torch.clamp(max_norm / (norm + 1e-6), max=1.0)
        for p in params:
            p.grad.mul_(coefficient)
        return norm

    def forward(self, x, y):
        size = dist.get_world_size(self.dp)
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        for p in self.model.parameters():
            dist.all_reduce(p.grad, group=self.dp)
            p.grad.div_(size)
        norm = self.clip_grad_norm(MAX_NORM)
        with torch.no_grad():
            for p in self.model.parameters():
                p.add_(p.grad, alpha=-LR)
                p.grad = None
        loss = loss.detach().clone()
        dist.all_reduce(loss, group=self.dp)
        return loss / size, norm


def sequential():
    return Step()


def distributed(rank, world_size, mesh):
    return ParallelStep(MLP(), mesh)


def inputs():
    return torch.randn(6, DIM), torch.randn(6, DIM)


mesh = {"dp": 2, "tp": 2}
world_size = 4
relations = {"x": "shard(0) over dp", "y": "shard(0) over dp"}


TRUTH = "broken"
