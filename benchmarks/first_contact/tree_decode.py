"""ring-attention-pytorch's tree attention for decoding: keys over ranks, merged by their maxima."""
import torch
from torch import nn
import torch.distributed as dist

from torch.nn.functional import scaled_dot_product_attention as sdpa
from ring_attention_pytorch.tree_attn_decoding import tree_attn_decode
world_size = 2
def sequential():
    return lambda q, k, v: sdpa(q, k, v)
def distributed(rank, world_size):
    return lambda q, k, v: tree_attn_decode(q, k, v, use_triton=False)
def inputs():
    return torch.randn(1, 2, 1, 8), torch.randn(1, 2, 8, 8), torch.randn(1, 2, 8, 8)
