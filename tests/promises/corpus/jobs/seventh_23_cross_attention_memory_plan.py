# A decoder's cross-attention under a tensor-parallel plan. The decoder's own tokens are cut along the sequence,
# the encoder's memory comes as a keyword argument and is whole on every rank.
import torch
from torch import nn
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel


class CrossAttention(nn.Module):
    def __init__(self, dim=8, head_dim=2):
        super().__init__()
        self.head_dim = head_dim
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.out = nn.Linear(dim, dim)

    def split(self, t):
        return t.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)

    def forward(self, x, *, context):
        q, k, v = self.split(self.q(x)), self.split(self.k(context)), self.split(self.v(context))
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.cross = CrossAttention()

    def forward(self, x, memory):
        return x + self.cross(self.norm(x), context=memory)


def sequential():
    return Block()


plan = {
    "norm": SequenceParallel(),
    "cross": PrepareModuleInput(
        input_layouts=(Shard(1),),
        desired_input_layouts=(Replicate(),),
        input_kwarg_layouts={"context": Replicate()},
        desired_input_kwarg_layouts={"context": Replicate()},
    ),
    "cross.q": ColwiseParallel(),
    "cross.k": ColwiseParallel(),
    "cross.v": ColwiseParallel(),
    "cross.out": RowwiseParallel(output_layouts=Shard(1)),
}


def inputs():
    return torch.randn(2, 6, 8), torch.randn(2, 5, 8)


world_size = 2
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}
TRUTH = "refines"
