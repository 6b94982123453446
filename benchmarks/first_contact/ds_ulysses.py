"""DeepSpeed's Ulysses: attention over all of the sequence for some of the heads."""
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as sdpa
import deepspeed.comm as dscomm
from deepspeed.sequence.layer import DistributedAttention
import torch.distributed as dist
import deepspeed

world_size = 2
backward = True
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)", "grad.qkv.weight": "partial", "grad.out.weight": "partial"}


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)

    def core(self, q, k, v):
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        return sdpa(q, k, v, is_causal=True).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.qkv(x).view(x.shape[0], x.shape[1], 3, 4, 4).unbind(2)
        return self.out(self.attend(q, k, v).reshape(x.shape))

    def attend(self, q, k, v):
        return self.core(q, k, v)


class Ulysses(Attention):
    def __init__(self):
        super().__init__()
        self.over = DistributedAttention(self.core, dist.group.WORLD, scatter_idx=2, gather_idx=1)

    def attend(self, q, k, v):
        return self.over(q, k, v, 0)


def sequential():
    return Attention()


def distributed(rank, world_size):
    deepspeed.init_distributed(dist_backend="gloo")
    return Ulysses()


def inputs():
    return (torch.randn(2, 6, 16),)
