"""Two steps of Lion, its momentum and the update cut over ranks in a flat padded buffer (ZeRO-1)."""
import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F

RATE, B1, B2, DECAY = 0.02, 0.9, 0.99, 0.1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(5, 7), nn.Linear(7, 2)      # 58 numbers

    def forward(self, x, y):
        return F.mse_loss(self.out(F.silu(self.hidden(x))), y)


class Lion(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x, y):
        weights = list(self.net.parameters())
        momenta = [torch.zeros_like(w) for w in weights]
        losses = []
        for xs, ys in zip(x.unbind(1), y.unbind(1)):
            loss = self.net(xs, ys)
            losses.append(loss.detach())
            grads = torch.autograd.grad(loss, weights)
            with torch.no_grad():
                for w, m, g in zip(weights, momenta, grads):
                    w.mul_(1 - RATE * DECAY).add_(torch.sign(B1 * m + (1 - B1) * g), alpha=-RATE)
                    m.mul_(B2).add_(g, alpha=1 - B2)
        return torch.stack(losses)


class ShardedLion(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        self.net = Net()
        self.rank, self.world_size = rank, world_size

    def flat(self, tensors):
        whole = torch.cat([t.reshape(-1) for t in tensors])
        return F.pad(whole, (0, -len(whole) % self.world_size))

    def forward(self, x, y):
        weights = list(self.net.parameters())
        momentum = None
        losses = []
        for xs, ys in zip(x.unbind(1), y.unbind(1)):
            loss = self.net(xs, ys)
            losses.append(loss.detach())
            grads = self.flat(torch.autograd.grad(loss, weights))
            with torch.no_grad():
                size = len(grads) // self.world_size
                g = grads.new_empty(size)
                dist.reduce_scatter_tensor(g, grads)
                g /= self.world_size
                w = self.flat(weights)[self.rank * size : (self.rank + 1) * size]
                if momentum is None:
                    momentum = torch.zeros_like(g)
                w = w * (1 - RATE * DECAY) - RATE * torch.sign(B1 * momentum + (1 - B1) * g)
                momentum = B2 * momentum + (1 - B2) * g
                everything = torch.empty_like(grads)
                dist.all_gather_into_tensor(everything, w)
                start = 0
                for p in weights:
                    p.copy_(everything[start : start + p.numel()].view_as(p))
                    start += p.numel()
        losses = torch.stack(losses)
        dist.all_reduce(losses)
        return losses / self.world_size


def sequential():
    return Lion()


def distributed(rank, world_size):
    return ShardedLion(rank, world_size)


def inputs():
    return torch.randn(8, 2, 5), torch.randn(8, 2, 2)


world_size = 4
relations = {"x": "shard(0)", "y": "shard(0)"}


TRUTH = "refines"
