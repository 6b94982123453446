"""DeepSpeed's Ulysses: attention over the whole sequence for some of the heads, by two all-to-alls."""

import deepspeed
import torch
import torch.distributed as dist
from deepspeed.sequence.layer import DistributedAttention
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as sdpa

library = "deepspeed==0.19.8"
world_size = 2
backward = True
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)", "grad.qkv.weight": "partial", "grad.out.weight": "partial"}
faults = ("own part of the sequence only", "heads and sequence changed over")


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)
        self.attend = self.whole

    def whole(self, q, k, v, *_):
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        return sdpa(q, k, v, is_causal=True).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, 4, 4).unbind(2)
        return self.out(self.attend(q, k, v, 0).reshape(x.shape))


def sequential():
    return Attention()


def distributed(rank, world_size, fault=None):
    deepspeed.init_distributed(dist_backend="gloo")
    model = sequential()
    scatter, gather = (1, 2) if fault == "heads and sequence changed over" else (2, 1)
    if fault != "own part of the sequence only":
        model.attend = DistributedAttention(model.whole, dist.group.WORLD, scatter_idx=scatter, gather_idx=gather)
    return model


def inputs():
    return (torch.randn(2, 8, 16),)
