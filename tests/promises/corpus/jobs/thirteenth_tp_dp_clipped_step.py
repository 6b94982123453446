"""A whole step on a dp x tp mesh with gradient clipping by the global norm; (bug) the squares of all parameters are summed over tp, so that replicated ones (norm, row bias) count once per tp rank."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

HIDDEN, FFN, LR, MAX_NORM = 6, 8, 0.1, 0.05


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(HIDDEN)
        self.up, self.down = nn.Linear(HIDDEN, FFN), nn.Linear(FFN, HIDDEN)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = MLP()

    def forward(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), MAX_NORM)
        with torch.no_grad():
            for p in self.model.parameters():
                p -= LR * p.grad
                p.grad = None
        return loss.detach()


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
        rank, n = dist.get_rank(group), dist.get_world_size(group)
        self.group, self.norm = group, full.norm
        self.up_weight = nn.Parameter(full.up.weight.detach().chunk(n)[rank].clone())
        self.up_bias = nn.Parameter(full.up.bias.detach().chunk(n)[rank].clone())
        self.down_weight = nn.Parameter(full.down.weight.detach().chunk(n, 1)[rank].clone())
        self.down_bias = full.down.bias

    def forward(self, x):
        h = F.gelu(F.linear(Copy.apply(self.norm(x), self.group), self.up_weight, self.up_bias))
        return x + Reduce.apply(F.linear(h, self.down_weight), self.group) + self.down_bias


class ParallelStep(nn.Module):
    def __init__(self, dp, tp):
        super().__init__()
        self.dp, self.tp = dp, tp
        self.model = ParallelMLP(MLP(), tp)

    def forward(self, x, y):
        replicas = dist.get_world_size(self.dp)
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        grads = [p.grad for p in self.model.parameters()]
        for grad in grads:
            dist.all_reduce(grad, group=self.dp)
            grad /= replicas
        square = torch.stack([g.square().sum() for g in grads]).sum()
        dist.all_reduce(square, group=self.tp)
        scale = (MAX_NORM / (square.sqrt() + 1e-6)).clamp(max=1.0)
        with torch.no_grad():
            for p in self.model.parameters():
                p -= LR * scale * p.grad
                p.grad = None
        loss = loss.detach() / replicas
        dist.all_reduce(loss, group=self.dp)
        return loss


def sequential():
    return Step()


def distributed(rank, world_size, mesh):
    return ParallelStep(mesh.get_group("dp"), mesh.get_group("tp"))


def inputs():
    return torch.randn(8, HIDDEN), torch.randn(8, HIDDEN)


world_size = 4
mesh = {"dp": 2, "tp": 2}
relations = {"x": "shard(0) over dp", "y": "shard(0) over dp"}
TRUTH = "broken"
