"""Hand-written ZeRO-1 step: flat padded gradient reduce-scattered, global norm clipped over shards, AdamW on the shard, parameters all-gathered back and written in place."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

MAX_NORM = 0.5


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(5, 7), nn.Linear(7, 3)

    def forward(self, x, y):
        return F.mse_loss(self.down(torch.tanh(self.up(x))), y)


def adamw(params):
    return torch.optim.AdamW(params, lr=0.01, betas=(0.9, 0.95), weight_decay=0.1)


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Model()

    def forward(self, x, y):
        optimizer = adamw(self.model.parameters())
        loss = self.model(x, y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), MAX_NORM)
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()


class ZeroStep(nn.Module):
    def __init__(self, rank, n):
        super().__init__()
        self.model, self.rank, self.n = Model(), rank, n

    def flatten(self, tensors):
        flat = torch.cat([t.reshape(-1) for t in tensors])
        return F.pad(flat, (0, -flat.numel() % self.n))

    def forward(self, x, y):
        params = list(self.model.parameters())
        loss = self.model(x, y)
        loss.backward()

        flat_grad = self.flatten([p.grad for p in params]) / self.n
        shard_grad = flat_grad.new_empty(flat_grad.numel() // self.n)
        dist.reduce_scatter_tensor(shard_grad, flat_grad)
        square = shard_grad.square().sum()
        dist.all_reduce(square)
        shard_grad *= (MAX_NORM / (square.sqrt() + 1e-6)).clamp(max=1.0)

        with torch.no_grad():
            shard = nn.Parameter(self.flatten(params).chunk(self.n)[self.rank].clone())
            shard.grad = shard_grad
            adamw([shard]).step()
            flat = torch.empty(flat_grad.numel())
            dist.all_gather_into_tensor(flat, shard.detach())
            for p, new in zip(params, flat.split([*(p.numel() for p in params), flat.numel() - sum(p.numel() for p in params)])):
                p.copy_(new.view_as(p))
                p.grad = None

        mean = loss.detach() / self.n
        dist.all_reduce(mean)
        return mean


def sequential():
    return Step()


def distributed(rank, world_size):
    return ZeroStep(rank, world_size)


def inputs():
    return torch.randn(8, 5), torch.randn(8, 3)


world_size = 4
relations = {"x": "shard(0)", "y": "shard(0)"}
TRUTH = "refines"
