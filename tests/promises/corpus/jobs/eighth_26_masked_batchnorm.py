"""Batch normalisation over the valid frames of padded sequences, with statistics of all ranks: sums and counts are reduced (with
gradient), so that ranks with longer sequences count for more. Running statistics are updated as in training."""

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as distnn
import torch.nn.functional as F
from torch import nn

CHANNELS, MOMENTUM, EPS = 5, 0.1, 1e-5


class MaskedBatchNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(CHANNELS))
        self.bias = nn.Parameter(torch.zeros(CHANNELS))
        self.register_buffer("running_mean", torch.zeros(CHANNELS))
        self.register_buffer("running_var", torch.ones(CHANNELS))

    def reduce(self, stats):
        return stats

    def forward(self, x, mask):
        valid = mask.unsqueeze(-1).to(x.dtype)
        count = valid.sum().expand(1)
        stats = self.reduce(torch.cat([(x * valid).sum((0, 1)), count]))
        n = stats[-1].detach()
        mean = stats[:-1] / n
        centred = (x - mean) * valid
        var = self.reduce(centred.square().sum((0, 1))) / n
        with torch.no_grad():
            self.running_mean.lerp_(mean.detach(), MOMENTUM)
            self.running_var.lerp_(var.detach() * n / (n - 1), MOMENTUM)
        return (centred * torch.rsqrt(var + EPS) * self.weight + self.bias) * valid


class SyncMaskedBatchNorm(MaskedBatchNorm):
    def reduce(self, stats):
        return distnn.all_reduce(stats)


class Net(nn.Module):
    def __init__(self, norm=MaskedBatchNorm):
        super().__init__()
        self.conv = nn.Conv1d(4, CHANNELS, 3, padding=1, bias=False)
        self.norm = norm()
        self.out = nn.Linear(CHANNELS, 3)

    def forward(self, x, mask):
        h = self.conv(x.transpose(1, 2)).transpose(1, 2)
        return self.out(F.relu(self.norm(h, mask)))


def sum_over_ranks(p):
    dist.all_reduce(p.grad)


def sequential():
    return Net()


def distributed(rank, world_size):
    net = Net(SyncMaskedBatchNorm)
    for p in net.parameters():
        p.register_post_accumulate_grad_hook(sum_over_ranks)
    return net


def inputs():
    batch, frames = 6, 7
    lengths = torch.randint(2, frames + 1, (batch, 1))
    return torch.randn(batch, frames, 4), torch.arange(frames) < lengths


world_size = 2
relations = {"x": "shard(0)", "mask": "shard(0)"}
expected = {"0": "shard(0)"}
backward = True

TRUTH = "refines"
