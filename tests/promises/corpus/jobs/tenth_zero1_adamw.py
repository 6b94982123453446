"""ZeRO-1 by hand: gradients accumulated over two microbatches, averaged and cut by reduce-scatter, AdamW on the rank's piece of the padded flat weights, which are then gathered; two steps."""
import torch
import torch.distributed as dist
from torch import nn

STEPS, MICRO, LR, DECAY = 2, 2, 0.01, 0.1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 3), nn.Linear(3, 1)

    def forward(self, x, y):
        return (self.b(torch.tanh(self.a(x))).squeeze(-1) - y).square().mean()


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x, y):
        optimizer = torch.optim.AdamW(self.net.parameters(), lr=LR, weight_decay=DECAY)
        losses = []
        for s in range(STEPS):
            loss = self.net(x[s].flatten(0, 1), y[s].flatten())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.detach())
        return torch.stack(losses)


class Zero1(nn.Module):
    def __init__(self, net, rank, world_size):
        super().__init__()
        self.net, self.rank, self.world_size = net, rank, world_size

    def flat(self, tensors):
        flat = torch.cat([t.reshape(-1) for t in tensors])
        return nn.functional.pad(flat, (0, -flat.numel() % self.world_size))

    def forward(self, x, y):
        params = list(self.net.parameters())
        with torch.no_grad():
            master = self.flat(params).chunk(self.world_size)[self.rank].clone()
        master = nn.Parameter(master)
        optimizer = torch.optim.AdamW([master], lr=LR, weight_decay=DECAY)
        losses = []
        for s in range(STEPS):
            total = 0.0
            for m in range(MICRO):
                loss = self.net(x[s, m], y[s, m]) / MICRO
                loss.backward()
                total = total + loss.detach()
            grads = self.flat([p.grad for p in params]) / self.world_size
            own = torch.empty_like(master)
            dist.reduce_scatter_tensor(own, grads)
            master.grad = own
            optimizer.step()
            everything = torch.empty_like(grads)
            dist.all_gather_into_tensor(everything, master.detach())
            with torch.no_grad():
                at = 0
                for p in params:
                    p.copy_(everything[at : at + p.numel()].view_as(p))
                    p.grad = None
                    at += p.numel()
            dist.all_reduce(total)
            losses.append(total / self.world_size)
        return torch.stack(losses)


def sequential():
    return Step()


def distributed(rank, world_size):
    return Zero1(Step().net, rank, world_size)


def inputs():
    return torch.randn(STEPS, MICRO, 8, 4), torch.randn(STEPS, MICRO, 8)


world_size = 4
relations = {"x": "shard(2)", "y": "shard(2)"}


TRUTH = "refines"
