"""A Llama in JAX, over a pytree of weights, and the same weights in Transformers' LlamaForCausalLM."""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import torch
from transformers import LlamaConfig, LlamaForCausalLM

CONFIG = dict(vocab_size=31, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
              num_key_value_heads=2, head_dim=4, max_position_embeddings=64, rms_norm_eps=1e-6,
              attn_implementation="sdpa", use_cache=False)


class Layer(NamedTuple):
    norm: jax.Array
    q: jax.Array
    k: jax.Array
    v: jax.Array
    o: jax.Array
    after: jax.Array
    gate: jax.Array
    up: jax.Array
    down: jax.Array


def in_transformers():
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**CONFIG)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, 0.0, 0.3)
    return model


def weights():
    """The same numbers as a pytree, matrices the way JAX multiplies by them."""
    held = {name: jnp.asarray(tensor.detach().numpy()) for name, tensor in in_transformers().named_parameters()}

    def layer(number):
        def of(name):
            return held[f"model.layers.{number}.{name}.weight"]

        attention, mlp = (f"self_attn.{x}_proj" for x in "qkvo"), (f"mlp.{x}_proj" for x in ("gate", "up", "down"))
        return Layer(of("input_layernorm"), *(of(name).T for name in attention), of("post_attention_layernorm"),
                     *(of(name).T for name in mlp))

    return {"embed": held["model.embed_tokens.weight"], "norm": held["model.norm.weight"],
            "head": held["lm_head.weight"].T, "layers": [layer(n) for n in range(CONFIG["num_hidden_layers"])]}


def rms_norm(x, scale, eps):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + eps) * scale


def rotated(x, base):
    """x: [batch, time, heads, size]"""
    half = x.shape[-1] // 2
    frequencies = 1.0 / base ** (jnp.arange(0, 2 * half, 2, dtype=jnp.float32) / (2 * half))
    angles = jnp.arange(x.shape[1], dtype=jnp.float32)[:, None] * frequencies
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def attention(layer, x, base):
    batch, time, _ = x.shape
    q, k, v = ((x @ w).reshape(batch, time, -1, 4) for w in (layer.q, layer.k, layer.v))
    q, k = rotated(q, base), rotated(k, base)
    q = q.reshape(batch, time, 2, 2, 4)                    # the query heads of each key's
    scores = jnp.einsum("btkgd,bskd->bkgts", q, k) * 4**-0.5
    scores = jnp.where(jnp.tri(time, dtype=bool), scores, jnp.finfo(jnp.float32).min)
    found = jnp.einsum("bkgts,bskd->btkgd", jax.nn.softmax(scores, -1), v)
    return found.reshape(batch, time, -1) @ layer.o


def block(layer, x, base=10000.0, eps=1e-6, act=jax.nn.silu):
    x = x + attention(layer, rms_norm(x, layer.norm, eps), base)
    h = rms_norm(x, layer.after, eps)
    return x + (act(h @ layer.gate) * (h @ layer.up)) @ layer.down


def llama(params, input_ids, **settings):
    x = params["embed"][input_ids]
    for layer in params["layers"]:
        x = block(layer, x, **settings)
    return rms_norm(x, params["norm"], settings.get("eps", 1e-6)) @ params["head"]


def scanned(params, layers, input_ids):
    """The layers stacked, one step of a scan each."""
    x, _ = jax.lax.scan(lambda x, layer: (block(layer, x), None), params["embed"][input_ids], layers)
    return rms_norm(x, params["norm"], 1e-6) @ params["head"]


WEIGHTS = weights()
STACKED = jax.tree_util.tree_map(lambda *each: jnp.stack(each), *WEIGHTS["layers"])
in_jax = functools.partial(llama, WEIGHTS)
in_a_scan = functools.partial(scanned, WEIGHTS, STACKED)
other_base = functools.partial(llama, WEIGHTS, base=5000.0)
other_eps = functools.partial(llama, WEIGHTS, eps=1e-5)
other_act = functools.partial(llama, WEIGHTS, act=jax.nn.gelu)


class Logits(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = in_transformers()

    def forward(self, input_ids):
        return self.model(input_ids).logits


inputs = {"input_ids": torch.tensor([[1, 30, 7, 7, 2, 0], [5, 4, 3, 29, 1, 9]])}
