"""A VICReg-like loss over the global batch: embeddings gathered with autograd, DDP averages the gradients."""
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as dnf
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

TRUTH = "refines"
WHY = "the gather's backward sums over ranks that all compute the same loss, and DDP's division by their number undoes that"

world_size = 3
relations = {"a": "shard(0)", "b": "shard(0)"}


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(20)
        self.inner, self.outer = nn.Linear(5, 8), nn.Linear(8, 4)

    def forward(self, x):
        return self.outer(F.gelu(self.inner(x)))


def vicreg(za, zb):
    invariance = F.mse_loss(za, zb)
    loss = 25 * invariance
    for z in (za, zb):
        z = z - z.mean(0)
        spread = torch.sqrt(z.var(0) + 1e-4)
        covariance = z.t() @ z / (z.shape[0] - 1)
        off = covariance.pow(2).sum() - covariance.diagonal().pow(2).sum()
        loss = loss + 25 * F.relu(2 - spread).mean() + off / z.shape[1]
    return loss


class Train(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def gather(self, z):
        if not isinstance(self.encoder, DDP):
            return z
        return torch.cat(dnf.all_gather(z))

    def forward(self, a, b):
        self.zero_grad()
        n = a.shape[0]
        z = self.encoder(torch.cat([a, b]))
        loss = vicreg(self.gather(z[:n]), self.gather(z[n:]))
        loss.backward()
        return loss.detach(), tuple(p.grad.clone() for p in self.parameters())


def sequential():
    return Train(Encoder())


def distributed(rank, world_size):
    return Train(DDP(Encoder()))


def inputs():
    torch.manual_seed(21)
    a = torch.randn(12, 5)
    return {"a": a, "b": a + 0.3 * torch.randn(12, 5)}
