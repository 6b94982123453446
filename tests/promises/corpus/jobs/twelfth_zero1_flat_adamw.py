"""ZeRO stage 1 by hand: gradients reduce-scattered out of one padded flat buffer, AdamW on the rank's piece, weights all-gathered back."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

FEATURES, HIDDEN, OUT = 5, 7, 3
LR, BETA1, BETA2, EPS, DECAY = 1e-2, 0.9, 0.95, 1e-8, 0.1


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(FEATURES, HIDDEN)
        self.out = nn.Linear(HIDDEN, OUT)

    def forward(self, x):
        return self.out(F.silu(self.hidden(x)))


class Step(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.optimizer = torch.optim.AdamW(
            model.parameters(), lr=LR, betas=(BETA1, BETA2), eps=EPS, weight_decay=DECAY)

    def forward(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()


class Zero1Step(nn.Module):
    def __init__(self, model, rank, world_size):
        super().__init__()
        self.model, self.rank, self.world = model, rank, world_size
        numel = sum(p.numel() for p in model.parameters())
        self.shard = -(-numel // world_size)
        self.padding = self.shard * world_size - numel
        weight = next(model.parameters())
        self.exp_avg, self.exp_avg_sq = weight.new_zeros(self.shard), weight.new_zeros(self.shard)
        self.steps = 0

    def flatten(self, tensors):
        return F.pad(torch.cat([t.reshape(-1) for t in tensors]), (0, self.padding))

    @torch.no_grad()
    def step(self):
        params = list(self.model.parameters())
        grad = self.exp_avg.new_empty(self.shard)
        dist.reduce_scatter_tensor(grad, self.flatten([p.grad for p in params]))
        grad /= self.world
        flat = self.flatten(params)
        mine = flat[self.rank * self.shard : (self.rank + 1) * self.shard].clone()
        self.steps += 1
        mine.mul_(1 - LR * DECAY)
        self.exp_avg.mul_(BETA1).add_(grad, alpha=1 - BETA1)
        self.exp_avg_sq.mul_(BETA2).addcmul_(grad, grad, value=1 - BETA2)
        scale = LR / (1 - BETA1**self.steps)
        denominator = (self.exp_avg_sq / (1 - BETA2**self.steps)).sqrt().add_(EPS)
        mine.addcdiv_(self.exp_avg, denominator, value=-scale)
        dist.all_gather_into_tensor(flat, mine)
        start = 0
        for p in params:
            p.copy_(flat[start : start + p.numel()].view_as(p))
            start += p.numel()
            p.grad = None

    def forward(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.step()
        loss = loss.detach()
        dist.all_reduce(loss)
        return loss / self.world


def sequential():
    return Step(Regressor())


def distributed(rank, world_size):
    return Zero1Step(Regressor(), rank, world_size)


def inputs():
    return torch.randn(8, FEATURES), torch.randn(8, OUT)


world_size = 4
relations = {"x": "shard(0)", "y": "shard(0)"}
TRUTH = "refines"
