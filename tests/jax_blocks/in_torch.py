"""The blocks of in_jax.py in torch; a name that begins with `other_` differs in one place."""

import torch
from torch.nn import functional as F

from jax_blocks.weights import WEIGHTS


class Weights(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for name, array in WEIGHTS.items():
            self.register_parameter(name, torch.nn.Parameter(torch.from_numpy(array.copy())))


P = Weights()


def rms_norm(x, eps=1e-6):
    return F.rms_norm(x, (8,), P.scale, eps)


def other_rms_norm(x):
    return rms_norm(x, 1e-5)


def layer_norm(x):
    return F.layer_norm(x, (8,), P.scale, P.shift, 1e-5)


def other_layer_norm(x):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5) * P.scale + P.shift


def swiglu(x):
    return (F.silu(x @ P.gate) * (x @ P.up)) @ P.down


def other_swiglu(x):
    return (F.silu(x @ P.up) * (x @ P.gate)) @ P.down


def gelu_mlp(x):
    return F.gelu(x @ P.up, approximate="tanh") @ P.down


def other_gelu_mlp(x):
    return F.gelu(x @ P.up) @ P.down


def rope(x, base=100.0):
    angles = torch.arange(x.shape[1])[:, None] * (1.0 / base ** (torch.arange(0, 4).float() / 4))[None]
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


def other_rope(x):
    return rope(x, 10.0)


def attention(x, causal=True):
    q, k, v = (t.view(*x.shape[:2], 2, 4).transpose(1, 2) for t in (x @ P.q, x @ P.k, x @ P.v))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return out.transpose(1, 2).reshape(x.shape) @ P.o


def other_attention(x):
    return attention(x, False)


def cached_attention(x, keys, values, place=3):
    keys, values = keys.clone(), values.clone()
    keys[:, place : place + 1], values[:, place : place + 1] = x @ P.k, x @ P.v
    scores = (x @ P.q) @ keys.transpose(1, 2) / 2
    scores = scores.masked_fill(torch.arange(keys.shape[1]) > place, -float("inf"))
    return scores.softmax(-1) @ values, keys, values


def other_cached_attention(x, keys, values):
    return cached_attention(x, keys, values, 2)


def experts(x, act=F.relu):
    gates = (x @ P.router).softmax(-1)
    return sum(gates[..., e : e + 1] * act(x @ P.experts[e]) for e in range(3))


def other_experts(x):
    return experts(x, F.silu)


def conv_net(x):
    return F.relu(F.conv2d(x, P.kernel, P.bias, padding=1)).mean((2, 3))


def other_conv_net(x):
    return F.relu(F.conv2d(x, P.kernel.transpose(2, 3), P.bias, padding=1)).mean((2, 3))


def cross_entropy(logits, labels):
    return F.cross_entropy(logits, labels.long())


def other_cross_entropy(logits, labels):
    return F.cross_entropy(logits, labels.long(), label_smoothing=0.1)


def embedding(ids):
    return F.embedding(ids, P.table)


def other_embedding(ids):
    return F.embedding(ids, P.table) * 8**0.5


def recurrence(x):
    state, found = torch.zeros(x.shape[0], 8), []
    for row in x.unbind(1):
        state = torch.tanh(state @ P.q) + row
        found.append(state)
    return torch.stack(found, 1)


def other_recurrence(x):
    state, found = torch.zeros(x.shape[0], 8), []
    for row in x.unbind(1):
        found.append(state)
        state = torch.tanh(state @ P.q) + row
    return torch.stack(found, 1)
