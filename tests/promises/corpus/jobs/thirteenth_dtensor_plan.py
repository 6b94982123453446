"""A parallelize_module plan as in torch's tutorial: row-wise embedding, SequenceParallel norms, column/row-wise attention and MLP on a tp mesh, vocabulary column-wise head, forward and backward."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
)

VOCAB, HIDDEN, DIM = 12, 8, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(HIDDEN, HIDDEN, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = (w(x).view(*x.shape[:2], -1, DIM).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(a.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w3 = nn.Linear(HIDDEN, 12, bias=False), nn.Linear(HIDDEN, 12, bias=False)
        self.w2 = nn.Linear(12, HIDDEN, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, HIDDEN)
        self.attention_norm, self.attention = nn.RMSNorm(HIDDEN), Attention()
        self.mlp_norm, self.mlp = nn.RMSNorm(HIDDEN), MLP()
        self.norm, self.head = nn.RMSNorm(HIDDEN), nn.Linear(HIDDEN, VOCAB, bias=False)

    def forward(self, tokens):
        h = self.embed(tokens)
        h = h + self.attention(self.attention_norm(h))
        h = h + self.mlp(self.mlp_norm(h))
        return self.head(self.norm(h))


def sequential():
    return Transformer()


plan = {
    "embed": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
    "attention_norm": SequenceParallel(),
    "attention": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
    "attention.wq": ColwiseParallel(),
    "attention.wk": ColwiseParallel(),
    "attention.wv": ColwiseParallel(),
    "attention.wo": RowwiseParallel(output_layouts=Shard(1)),
    "mlp_norm": SequenceParallel(),
    "mlp": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
    "mlp.w1": ColwiseParallel(),
    "mlp.w3": ColwiseParallel(),
    "mlp.w2": RowwiseParallel(output_layouts=Shard(1)),
    "norm": SequenceParallel(),
    "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
}


def inputs():
    return torch.randint(0, VOCAB, (2, 6))


world_size = 2
mesh = {"tp": 2}
backward = True
TRUTH = "refines"
