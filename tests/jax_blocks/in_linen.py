"""A block of flax.linen in three ways that people call one, and the same weights in torch."""

import functools

import jax
import jax.numpy as jnp
import torch
from flax import linen
from torch import nn

from jax_blocks.weights import random_like, to_torch


class Block(linen.Module):
    @linen.compact
    def __call__(self, x):
        h = linen.LayerNorm(epsilon=1e-5)(x)
        x = x + linen.MultiHeadDotProductAttention(num_heads=2)(h, h)
        h = linen.Dense(16)(linen.LayerNorm(epsilon=1e-5)(x))
        return x + linen.Dense(8)(linen.gelu(h, approximate=True))


BLOCK = Block()
VARIABLES = random_like(BLOCK.init(jax.random.key(0), jnp.zeros((1, 3, 8))))
partial = functools.partial(BLOCK.apply, VARIABLES)
bound = BLOCK.bind(VARIABLES)


def applied(x):
    return BLOCK.apply(VARIABLES, x)


class InTorch(nn.Module):
    def __init__(self, gelu="tanh"):
        super().__init__()
        self.gelu = gelu
        self.before, self.after = nn.LayerNorm(8), nn.LayerNorm(8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
        held = to_torch(VARIABLES["params"])
        for norm, name in ((self.before, "LayerNorm_0"), (self.after, "LayerNorm_1")):
            norm.weight.data, norm.bias.data = held[name]["scale"], held[name]["bias"]
        for linear, name in ((self.up, "Dense_0"), (self.down, "Dense_1")):
            linear.weight.data, linear.bias.data = held[name]["kernel"].T.contiguous(), held[name]["bias"]
        heads = held["MultiHeadDotProductAttention_0"]
        parts = [heads[name] for name in ("query", "key", "value")]
        self.attention.in_proj_weight.data = torch.cat([part["kernel"].reshape(8, 8).T for part in parts])
        self.attention.in_proj_bias.data = torch.cat([part["bias"].flatten() for part in parts])
        self.attention.out_proj.weight.data = heads["out"]["kernel"].reshape(8, 8).T.contiguous()
        self.attention.out_proj.bias.data = heads["out"]["bias"]

    def forward(self, x):
        h = self.before(x)
        x = x + self.attention(h, h, h, need_weights=False)[0]
        return x + self.down(nn.functional.gelu(self.up(self.after(x)), approximate=self.gelu))


def twin():
    return InTorch("none")


inputs = (torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(1)),)
