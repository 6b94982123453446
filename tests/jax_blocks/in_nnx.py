"""A module of flax.nnx, as it is and split into its structure and its state, and the same weights in torch."""

import jax
import torch
from flax import nnx
from torch import nn

from jax_blocks.weights import random_like, to_torch


class Block(nnx.Module):
    def __init__(self, rngs):
        self.table = nnx.Embed(11, 8, rngs=rngs)
        self.norm = nnx.RMSNorm(8, rngs=rngs)
        self.conv = nnx.Conv(8, 8, kernel_size=(3,), padding="SAME", rngs=rngs)
        self.gate, self.up = nnx.Linear(8, 12, rngs=rngs), nnx.Linear(8, 12, rngs=rngs)
        self.down = nnx.Linear(12, 8, rngs=rngs)

    def __call__(self, ids):
        x = self.table(ids)
        x = x + self.conv(self.norm(x))
        return x + self.down(nnx.silu(self.gate(x)) * self.up(x))


STRUCTURE, state = nnx.split(Block(nnx.Rngs(0)))
STATE = random_like(state)
module = nnx.merge(STRUCTURE, STATE)


@jax.jit
def merged(ids):
    return nnx.merge(STRUCTURE, STATE)(ids)


class InTorch(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.norm, self.conv = nn.Embedding(11, 8), nn.RMSNorm(8, eps=1e-6), nn.Conv1d(8, 8, 3, padding=1)
        self.gate, self.up, self.down = nn.Linear(8, 12), nn.Linear(8, 12), nn.Linear(12, 8)
        held = to_torch(nnx.to_pure_dict(STATE))
        self.table.weight.data, self.norm.weight.data = held["table"]["embedding"], held["norm"]["scale"]
        self.conv.weight.data, self.conv.bias.data = held["conv"]["kernel"].permute(2, 1, 0), held["conv"]["bias"]
        for name in ("gate", "up", "down"):
            linear = getattr(self, name)
            linear.weight.data, linear.bias.data = held[name]["kernel"].T.contiguous(), held[name]["bias"]

    def forward(self, ids):
        x = self.table(ids)
        x = x + self.conv(self.norm(x).transpose(1, 2)).transpose(1, 2)
        return x + self.down(self.gated(x))

    def gated(self, x):
        return nn.functional.silu(self.gate(x)) * self.up(x)


class twin(InTorch):
    def gated(self, x):
        return self.gate(x) * nn.functional.silu(self.up(x))


inputs = (torch.tensor([[1, 10, 0, 4], [3, 3, 7, 9]], dtype=torch.int32),)
