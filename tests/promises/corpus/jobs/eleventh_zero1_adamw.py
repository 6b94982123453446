"""ZeRO stage 1 by hand: flat padded gradients are reduce-scattered, the norm is taken over pieces, AdamW steps on a piece, weights are gathered."""
import torch
import torch.distributed as dist
from torch import nn

LR, BETAS, EPS, DECAY, MAX_NORM = 1e-2, (0.9, 0.95), 1e-8, 0.1, 0.5


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(5)
        self.hidden, self.out = nn.Linear(5, 7), nn.Linear(7, 2)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(self.norm(x))))


class Step(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=LR, betas=BETAS, eps=EPS, weight_decay=DECAY)

    def forward(self, x, y):
        loss = (self.model(x) - y).square().mean()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), MAX_NORM)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach(), norm


class ShardedAdamW:
    def __init__(self, params, rank, world_size):
        self.params, self.rank, self.world_size = list(params), rank, world_size
        self.numel = sum(p.numel() for p in self.params)
        self.per_rank = (self.numel + world_size - 1) // world_size
        self.exp_avg = torch.zeros(self.per_rank)
        self.exp_avg_sq = torch.zeros(self.per_rank)
        self.steps = 0

    def flatten(self, tensors):
        flat = torch.cat([t.reshape(-1) for t in tensors])
        return nn.functional.pad(flat, (0, self.per_rank * self.world_size - self.numel))

    @torch.no_grad()
    def step(self):
        grad = torch.empty(self.per_rank)
        dist.reduce_scatter_tensor(grad, self.flatten([p.grad for p in self.params]))
        grad /= self.world_size

        square = grad.square().sum()
        dist.all_reduce(square)
        norm = square.sqrt()
        grad *= (MAX_NORM / (norm + 1e-6)).clamp(max=1.0)

        begin = self.rank * self.per_rank
        piece = self.flatten([p.data for p in self.params])[begin : begin + self.per_rank]
        self.steps += 1
        b1, b2 = BETAS
        self.exp_avg.mul_(b1).add_(grad, alpha=1 - b1)
        self.exp_avg_sq.mul_(b2).addcmul_(grad, grad, value=1 - b2)
        mean = self.exp_avg / (1 - b1**self.steps)
        root = (self.exp_avg_sq / (1 - b2**self.steps)).sqrt()
        piece = piece * (1 - LR * DECAY) - LR * mean / (root + EPS)

        flat = torch.empty(self.per_rank * self.world_size)
        dist.all_gather_into_tensor(flat, piece)
        offset = 0
        for p in self.params:
            p.copy_(flat[offset : offset + p.numel()].view_as(p))
            p.grad = None
            offset += p.numel()
        return norm


class ZeroStep(nn.Module):
    def __init__(self, model, rank, world_size):
        super().__init__()
        self.model, self.world_size = model, world_size
        self.optimizer = ShardedAdamW(model.parameters(), rank, world_size)

    def forward(self, x, y):
        loss = (self.model(x) - y).square().mean()
        loss.backward()
        norm = self.optimizer.step()
        loss = loss.detach().clone()
        dist.all_reduce(loss)
        return loss / self.world_size, norm


def sequential():
    return Step(Regressor())


def distributed(rank, world_size):
    return ZeroStep(Regressor(), rank, world_size)


def inputs():
    return torch.randn(8, 5), torch.randn(8, 2)


world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}


TRUTH = "refines"
