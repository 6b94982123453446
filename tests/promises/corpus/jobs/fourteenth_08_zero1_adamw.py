"""ZeRO-1 by hand: flat gradients padded and reduce-scattered, AdamW on the rank's shard, weights all-gathered; two steps, 4 ranks."""
import torch
import torch.distributed as dist
from torch import nn

LR, BETAS, EPS, DECAY = 1e-2, (0.9, 0.95), 1e-8, 0.1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(5, 7), nn.Linear(7, 2)

    def forward(self, x):
        return self.down(torch.tanh(self.up(x)))


class Training(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=LR, betas=BETAS, eps=EPS, weight_decay=DECAY)

    def forward(self, x, y):                               # steps batch features
        losses = []
        for xs, ys in zip(x, y):
            loss = (self.net(xs) - ys).square().mean()
            loss.backward()
            self.opt.step()
            self.opt.zero_grad(set_to_none=True)
            losses.append(loss.detach())
        return torch.stack(losses)


class ShardedAdamW:
    def __init__(self, params, rank, world_size):
        self.params, self.rank, self.world = list(params), rank, world_size
        self.count = sum(p.numel() for p in self.params)
        self.shard = -(-self.count // world_size)
        self.step_count, self.m, self.v = 0, torch.zeros(self.shard), torch.zeros(self.shard)

    def flatten(self, tensors):
        flat = torch.cat([t.reshape(-1) for t in tensors])
        return torch.nn.functional.pad(flat, (0, self.shard * self.world - self.count))

    @torch.no_grad()
    def step(self):
        grad = torch.empty(self.shard)
        dist.reduce_scatter_tensor(grad, self.flatten([p.grad for p in self.params]))
        grad /= self.world
        mine = self.flatten([p.detach() for p in self.params])[self.rank * self.shard:][:self.shard].clone()
        self.step_count += 1
        b1, b2 = BETAS
        self.m.lerp_(grad, 1 - b1)
        self.v.mul_(b2).addcmul_(grad, grad, value=1 - b2)
        mine.mul_(1 - LR * DECAY)
        denominator = (self.v / (1 - b2**self.step_count)).sqrt().add_(EPS)
        mine.addcdiv_(self.m, denominator, value=-LR / (1 - b1**self.step_count))
        full = torch.empty(self.shard * self.world)
        dist.all_gather_into_tensor(full, mine)
        for p, piece in zip(self.params, full[:self.count].split([p.numel() for p in self.params])):
            p.copy_(piece.view_as(p))
            p.grad = None


class ZeroTraining(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        self.net = Net()
        self.opt = ShardedAdamW(self.net.parameters(), rank, world_size)

    def forward(self, x, y):
        losses = []
        for xs, ys in zip(x, y):
            loss = (self.net(xs) - ys).square().mean()
            loss.backward()
            self.opt.step()
            losses.append(loss.detach())
        losses = torch.stack(losses)
        dist.all_reduce(losses)
        return losses / dist.get_world_size()


def sequential():
    return Training()


def distributed(rank, world_size):
    return ZeroTraining(rank, world_size)


def inputs():
    return torch.randn(2, 8, 5), torch.randn(2, 8, 2)


world_size = 4
relations = {"x": "shard(1)", "y": "shard(1)"}

TRUTH = "refines"
