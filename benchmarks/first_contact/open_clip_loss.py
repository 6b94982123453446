"""open_clip's contrastive loss with gathered features."""
import torch
from torch import nn
import torch.distributed as dist

from open_clip.loss import ClipLoss
world_size = 2
backward = True
relations = {"a": "shard(0)", "b": "shard(0)"}
expected = {"0": "partial(avg)", "grad.a": "shard(0)", "grad.b": "shard(0)"}
class L(nn.Module):
    def __init__(self, **k):
        super().__init__()
        self.loss = ClipLoss(**k)
    def forward(self, a, b):
        return self.loss(a, b, torch.tensor(2.0))
def sequential():
    return L()
def distributed(rank, world_size):
    return L(local_loss=True, gather_with_grad=True, rank=rank, world_size=world_size)
def inputs():
    return torch.randn(4, 6), torch.randn(4, 6)
