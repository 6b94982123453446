"""torch's own context_parallel: scaled_dot_product_attention becomes ring attention."""
import torch
from torch import nn
from torch.distributed.tensor.experimental import context_parallel
from torch.nn.functional import scaled_dot_product_attention as sdpa

world_size = 2
mesh = {"cp": 2}


def attend(q, k, v):
    return sdpa(q, k, v, is_causal=True)


def sequential():
    return attend


def distributed(rank, world_size, mesh):
    def run(q, k, v):
        q, k, v = q.clone(), k.clone(), v.clone()
        with context_parallel(mesh, buffers=[q, k, v], buffer_seq_dims=[2, 2, 2]):
            out = sdpa(q, k, v, is_causal=True)
        from torch.distributed.tensor.experimental._attention import context_parallel_unshard
        return context_parallel_unshard(mesh, [out], [2])[0]
    return run


def inputs():
    return torch.randn(1, 2, 8, 4), torch.randn(1, 2, 8, 4), torch.randn(1, 2, 8, 4)
