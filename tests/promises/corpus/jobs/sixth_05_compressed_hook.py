"""DDP with a communication hook that projects nothing away: bucket -> double -> all_reduce -> back."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}


def wide_allreduce(state, bucket):
    g = bucket.buffer()
    wide = g.to(torch.float64)
    fut = dist.all_reduce(wide, async_op=True).get_future()
    return fut.then(lambda f: f.value()[0].to(g.dtype))


class Fit(nn.Module):
    def __init__(self, ddp):
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(3, 4), nn.Softplus(), nn.Linear(4, 1))
        self.forward_net = [self.net]
        if ddp:
            wrapped = DDP(self.net)
            wrapped.register_comm_hook(state=None, hook=wide_allreduce)
            self.forward_net = [wrapped]

    def forward(self, x, y):
        loss = (self.forward_net[0](x) - y).abs().mean()
        loss.backward()
        with torch.no_grad():
            for p in self.net.parameters():
                p -= 0.1 * p.grad
                p.grad = None
        return sum(p.detach().square().sum() for p in self.net.parameters())


def sequential():
    return Fit(ddp=False)


def distributed(rank, world_size):
    return Fit(ddp=True)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(6, 3), torch.randn(6, 1))


TRUTH = "differs"
