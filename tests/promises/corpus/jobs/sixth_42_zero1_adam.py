"""ZeRO stage 1 by hand. Flat gradients are reduce-scattered, each rank has Adam moments for its part only,
and the new parameters are all-gathered. Two steps on the same batch."""
import torch
import torch.distributed as dist
import torch.nn as nn

world_size = 2
relations = {"x": "shard(0)", "t": "shard(0)"}
LR, B1, B2, EPS = 1e-2, 0.9, 0.999, 1e-8


def make():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 5), nn.GELU(), nn.Linear(5, 2))       # 32 numbers, even


class Reference(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = make()
        self.adam = torch.optim.Adam(self.net.parameters(), lr=LR, betas=(B1, B2), eps=EPS)

    def forward(self, x, t):
        for _ in range(2):
            loss = (self.net(x) - t).pow(2).mean()
            self.adam.zero_grad()
            loss.backward()
            self.adam.step()
        self.adam.zero_grad()
        return sum(p.detach().sum() for p in self.net.parameters())


class Zero1(nn.Module):
    def __init__(self, rank, n):
        super().__init__()
        self.net = make()
        self.rank, self.n = rank, n

    def forward(self, x, t):
        params = list(self.net.parameters())
        sizes = [p.numel() for p in params]
        part = sum(sizes) // self.n
        m, v = torch.zeros(part), torch.zeros(part)
        for step in (1, 2):
            loss = (self.net(x) - t).pow(2).mean()
            grads = torch.autograd.grad(loss, params)
            flat = torch.cat([g.reshape(-1) for g in grads])
            mine = torch.empty(part)
            dist.reduce_scatter_tensor(mine, flat)
            mine = mine / self.n
            m = B1 * m + (1 - B1) * mine
            v = B2 * v + (1 - B2) * mine * mine
            update = LR * (m / (1 - B1 ** step)) / ((v / (1 - B2 ** step)).sqrt() + EPS)
            with torch.no_grad():
                weights = torch.cat([p.reshape(-1) for p in params])
                new = weights.narrow(0, self.rank * part, part) - update
                everything = torch.empty_like(weights)
                dist.all_gather_into_tensor(everything, new)
                for p, w in zip(params, everything.split(sizes)):
                    p.copy_(w.view_as(p))
        return sum(p.detach().sum() for p in params)


def sequential():
    return Reference()


def distributed(rank, world_size):
    return Zero1(rank, world_size)


def inputs():
    torch.manual_seed(5)
    return (torch.randn(4, 3), torch.randn(4, 2))


TRUTH = "refines"
