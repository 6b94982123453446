"""A module of equinox, as it is and jitted, and the same weights in torch."""

import equinox
import jax
import jax.numpy as jnp
import torch
from torch import nn

from jax_blocks.weights import random_like, to_torch


class Block(equinox.Module):
    norm: equinox.nn.LayerNorm
    attention: equinox.nn.MultiheadAttention
    mlp: equinox.nn.MLP

    def __init__(self, key):
        self.norm = equinox.nn.LayerNorm(8, eps=1e-5)
        self.attention = equinox.nn.MultiheadAttention(2, 8, use_output_bias=True, key=key)
        self.mlp = equinox.nn.MLP(8, 8, 16, depth=1, activation=jax.nn.relu, key=key)

    def __call__(self, x):
        h = jax.vmap(self.norm)(x)
        x = x + self.attention(h, h, h, mask=jnp.tri(x.shape[0], dtype=bool))
        return x + jax.vmap(self.mlp)(x)


module = random_like(Block(jax.random.key(0)))
jitted = equinox.filter_jit(module)


class InTorch(nn.Module):
    def __init__(self, causal=True):
        super().__init__()
        self.causal = causal
        self.norm = nn.LayerNorm(8)
        self.q, self.k, self.v, self.o = (nn.Linear(8, 8, bias=name == "o") for name in "qkvo")
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
        heads = module.attention
        for here, there in ((self.norm, module.norm), (self.q, heads.query_proj), (self.k, heads.key_proj),
                            (self.v, heads.value_proj), (self.o, heads.output_proj),
                            (self.up, module.mlp.layers[0]), (self.down, module.mlp.layers[1])):
            here.weight.data = to_torch(there.weight)
            if here.bias is not None:
                here.bias.data = to_torch(there.bias)

    def forward(self, x):
        h = self.norm(x)
        q, k, v = (linear(h).unflatten(-1, (2, 4)).transpose(-2, -3) for linear in (self.q, self.k, self.v))
        h = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.o(h.transpose(-2, -3).flatten(-2))
        return x + self.down(torch.relu(self.up(x)))


def twin():
    return InTorch(causal=False)


inputs = (torch.randn(5, 8, generator=torch.Generator().manual_seed(1)),)
