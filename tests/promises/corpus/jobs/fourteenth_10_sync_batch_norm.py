"""Conv net with a hand-written SyncBatchNorm (apex style: sums and counts reduced, backward with two reduced sums), running statistics, backward, 2 ranks."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(3, momentum=0.1)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class SyncNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, running_mean, running_var, momentum, eps):
        c = x.shape[1]
        stats = torch.cat([x.sum((0, 2, 3)), x.square().sum((0, 2, 3)), x.new_full((1,), x.numel() / c)])
        dist.all_reduce(stats)
        n = stats[-1]
        mean = stats[:c] / n
        var = stats[c:2 * c] / n - mean.square()
        running_mean.mul_(1 - momentum).add_(momentum * mean)
        running_var.mul_(1 - momentum).add_(momentum * var * n / (n - 1))
        inv = (var + eps).rsqrt()
        hat = (x - mean[:, None, None]) * inv[:, None, None]
        ctx.save_for_backward(hat, weight, inv, n)
        return hat * weight[:, None, None] + bias[:, None, None]

    @staticmethod
    def backward(ctx, grad):
        hat, weight, inv, n = ctx.saved_tensors
        c = hat.shape[1]
        grad_bias, grad_weight = grad.sum((0, 2, 3)), (grad * hat).sum((0, 2, 3))
        sums = torch.cat([grad_bias, grad_weight])
        dist.all_reduce(sums)
        mean_g, mean_gh = sums[:c] / n, sums[c:] / n
        grad_x = (grad - mean_g[:, None, None] - hat * mean_gh[:, None, None]) * (weight * inv)[:, None, None]
        return grad_x, grad_weight, grad_bias, None, None, None, None


class SyncBN(nn.BatchNorm2d):
    def forward(self, x):
        self.num_batches_tracked.add_(1)
        return SyncNorm.apply(x, self.weight, self.bias, self.running_mean, self.running_var, self.momentum, self.eps)


class SyncNet(Net):
    def __init__(self):
        super().__init__()
        synced = SyncBN(3, momentum=0.1)
        synced.load_state_dict(self.bn.state_dict())
        self.bn = synced


def sequential():
    return Net()


def distributed(rank, world_size):
    return SyncNet()


def inputs():
    return (torch.randn(4, 2, 4, 4),)


world_size = 2
backward = True
relations = {"x": "shard(0)"}
expected = {
    "0": "shard(0)",
    "grad.conv.weight": "partial",
    "grad.bn.weight": "partial",
    "grad.bn.bias": "partial",
}

TRUTH = "refines"
