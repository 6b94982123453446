"""yunchang's all-to-all of heads and sequence around plain attention."""
import torch
from torch import nn
import torch.distributed as dist

from torch.nn.functional import scaled_dot_product_attention as sdpa
from yunchang.comm.all_to_all import SeqAllToAll4D
world_size = 2
relations = {"q": "shard(1)", "k": "shard(1)", "v": "shard(1)"}
expected = {"0": "shard(1)"}
def core(q, k, v):
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    return sdpa(q, k, v, is_causal=True).transpose(1, 2)
def sequential():
    return core
def distributed(rank, world_size):
    def run(q, k, v):
        q, k, v = (SeqAllToAll4D.apply(dist.group.WORLD, t, 2, 1, False) for t in (q, k, v))
        return SeqAllToAll4D.apply(dist.group.WORLD, core(q, k, v), 1, 2, False)
    return run
def inputs():
    return tuple(torch.randn(2, 8, 4, 4) for _ in range(3))
