"""Batch norm whose statistics are taken over all ranks, in training mode, with its running statistics."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

CHANNELS = 3


class ConvBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, CHANNELS, 3, padding=1)
        self.bn = nn.BatchNorm2d(CHANNELS)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class CrossRankBatchNorm2d(nn.BatchNorm2d):
    @classmethod
    def convert(cls, bn):
        new = cls(bn.num_features, eps=bn.eps, momentum=bn.momentum)
        new.load_state_dict(bn.state_dict())
        return new

    def forward(self, x):
        channels = x.shape[1]
        count = x.numel() // channels
        packed = torch.cat(
            [x.sum(dim=(0, 2, 3)), x.square().sum(dim=(0, 2, 3)), x.new_full((1,), float(count))]
        )
        dist.all_reduce(packed)
        total, square, n = packed.split([channels, channels, 1])
        mean = total / n
        var = square / n - mean.square()
        with torch.no_grad():
            self.num_batches_tracked.add_(1)
            self.running_mean.mul_(1 - self.momentum).add_(mean, alpha=self.momentum)
            unbiased = var * count / (count - 1)
            self.running_var.mul_(1 - self.momentum).add_(unbiased, alpha=self.momentum)
        shape = (1, channels, 1, 1)
        scale = (self.weight * torch.rsqrt(var + self.eps)).view(shape)
        return (x - mean.view(shape)) * scale + self.bias.view(shape)


def sequential():
    return ConvBlock().train()


def distributed(rank, world_size):
    block = ConvBlock()
    block.bn = CrossRankBatchNorm2d.convert(block.bn)
    return block.train()


def inputs():
    return (torch.randn(4, 2, 4, 4),)


world_size = 2
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}


TRUTH = "broken"
