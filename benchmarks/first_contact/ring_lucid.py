"""Ring attention by the package ring-attention-pytorch."""
import torch
from torch import nn
from ring_attention_pytorch import RingAttention

world_size = 2


def layer(ring):
    torch.manual_seed(0)
    return RingAttention(dim=16, dim_head=8, heads=2, causal=True, auto_shard_seq=ring, ring_attn=ring, ring_seq_size=4, bucket_size=4, use_cuda_kernel=False)


def sequential():
    return layer(False)


def distributed(rank, world_size):
    return layer(True)


def inputs():
    return (torch.randn(1, 8, 16),)
