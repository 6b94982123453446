"""Twelve blocks in JAX; in_torch.py has the same, and twins that differ in one place."""

import jax
import jax.numpy as jnp
import numpy as np

from jax_blocks.weights import WEIGHTS

P = {name: jnp.asarray(array) for name, array in WEIGHTS.items()}


def rms(x, w):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * w


def rms_norm(x):
    return rms(x, P["scale"])


def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-5) * P["scale"] + P["shift"]


def swiglu(x):
    return (jax.nn.silu(x @ P["gate"]) * (x @ P["up"])) @ P["down"]


def gelu_mlp(x):
    return jax.nn.gelu(x @ P["up"]) @ P["down"]


def rope(x):
    angles = jnp.arange(x.shape[1])[:, None] * (1.0 / 100.0 ** (jnp.arange(0, 4, dtype=jnp.float32) / 4))[None]
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)


def heads(x):
    return x.reshape(*x.shape[:2], 2, 4)


def attention(x):
    q, k, v = (heads(x @ P[name]) for name in ("q", "k", "v"))
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(4).astype("float32")
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1)
    return jnp.einsum("bhts,bshd->bthd", weights, v).reshape(x.shape) @ P["o"]


def cached_attention(x, keys, values):
    """One more token, at place 3 of a cache."""
    q, k, v = (x @ P[name] for name in ("q", "k", "v"))
    keys = jax.lax.dynamic_update_slice(keys, k, (0, 3, 0))
    values = keys * 0 + jax.lax.dynamic_update_slice(values, v, (0, 3, 0))
    scores = jnp.einsum("btd,bsd->bts", q, keys) / 2
    scores = jnp.where(jnp.arange(keys.shape[1]) <= 3, scores, -jnp.inf)
    return jax.nn.softmax(scores, -1) @ values, keys, values


def experts(x):
    gates = jax.nn.softmax(x @ P["router"], -1)
    each = jnp.einsum("btd,edf->btef", x, P["experts"])
    return jnp.einsum("bte,btef->btf", gates, jax.nn.relu(each))


def conv_net(x):
    x = jax.lax.conv_general_dilated(x, P["kernel"], (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return jax.nn.relu(x + P["bias"][:, None, None]).mean((2, 3))


def cross_entropy(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], -1).mean()


def embedding(ids):
    return P["table"][ids]


def recurrence(x):
    def step(state, row):
        state = jnp.tanh(state @ P["q"]) + row
        return state, state

    return jnp.moveaxis(jax.lax.scan(step, jnp.zeros((x.shape[0], 8)), jnp.moveaxis(x, 1, 0))[1], 0, 1)
