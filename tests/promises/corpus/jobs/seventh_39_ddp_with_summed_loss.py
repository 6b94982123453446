# Poisson regression; the likelihood is a sum over samples (not a mean), training by DDP.
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Rate(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(5, 6)
        self.log_rate = nn.Linear(6, 1)

    def forward(self, x):
        return self.log_rate(torch.tanh(self.hidden(x))).squeeze(-1)


class Fit(nn.Module):
    def __init__(self, net, distributed=False):
        super().__init__()
        self.net, self.distributed = net, distributed
        self.opt = torch.optim.SGD(self.net.parameters(), lr=1e-2)
        self.nll = nn.PoissonNLLLoss(log_input=True, reduction="sum")

    def forward(self, x, counts):
        self.opt.zero_grad()
        loss = self.nll(self.net(x), counts)
        loss.backward()
        self.opt.step()
        loss = loss.detach()
        if self.distributed:
            dist.all_reduce(loss)              # for the log: the sum over all samples
        return {"nll": loss}


def sequential():
    return Fit(Rate())


def distributed(rank, world_size):
    return Fit(DDP(Rate()), distributed=True)


def inputs():
    return torch.randn(8, 5), torch.randint(0, 5, (8,)).to(torch.get_default_dtype())


world_size = 2
relations = {"x": "shard(0)", "counts": "shard(0)"}
TRUTH = "differs"
