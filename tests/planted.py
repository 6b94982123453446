"""Errors planted one at a time: a small transformer spelled twice, and the fused Llama, each with one line changed.

Programs are kept as text, so that an error is a piece of one line and its replacement, and the line it stands on is
the answer that a diagnosis must give.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

FUSED_LLAMA = (Path(__file__).parent.parent / "examples" / "fused_llama.py").read_text()

PLAIN = """
import torch
from torch import nn
from torch.nn import functional as F

HIDDEN, INNER, HEADS, SIZE, WINDOW, CAP = 12, 20, 3, 4, 3, 4.0


def norm(x, weight):
    variance = (x * x).mean(-1, keepdim=True)
    return weight * (x / torch.sqrt(variance + 1e-6))


def rope(x, cos, sin):
    turned = torch.cat((-x[..., SIZE // 2:], x[..., :SIZE // 2]), -1)
    return x * torch.cat((cos, cos), -1) + turned * torch.cat((sin, sin), -1)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Parameter(1 + torch.randn(HIDDEN)), nn.Parameter(1 + torch.randn(HIDDEN))
        self.q, self.k, self.v, self.o = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.gate, self.up = nn.Linear(HIDDEN, INNER), nn.Linear(HIDDEN, INNER)
        self.down = nn.Linear(INNER, HIDDEN)

    def forward(self, x, cos, sin):
        x = x + self.attention(norm(x, self.first), cos, sin)
        h = norm(x, self.second)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))

    def attention(self, x, cos, sin):
        batch, length, _ = x.shape
        q, k, v = (f(x).view(batch, length, HEADS, SIZE).transpose(1, 2) for f in (self.q, self.k, self.v))
        q, k = rope(q, cos, sin), rope(k, cos, sin)
        scores = q @ k.transpose(-1, -2) / SIZE**0.5
        scores = CAP * torch.tanh(scores / CAP)
        ago = torch.arange(length)[:, None] - torch.arange(length)
        scores = scores.masked_fill((ago < 0) | (ago >= WINDOW), float("-inf"))
        mixed = torch.softmax(scores, -1) @ v
        return self.o(mixed.transpose(1, 2).reshape(batch, length, HIDDEN))


class Model(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.last = nn.Parameter(1 + torch.randn(HIDDEN))

    def forward(self, x, cos, sin):
        for layer in self.layers:
            x = layer(x, cos, sin)
        return norm(x, self.last) * 0.5
"""

FUSED = """
import torch
from torch import nn
from torch.nn import functional as F

HIDDEN, INNER, HEADS, SIZE, WINDOW, CAP = 12, 20, 3, 4, 3, 4.0


def norm(x, weight):
    mean = x.pow(2).mean(-1, keepdim=True)
    root = torch.rsqrt(mean + 1e-6)
    return x * root * weight


def rope(x, cos, sin):
    a, b = x.chunk(2, -1)
    first = a * cos - b * sin
    second = b * cos + a * sin
    return torch.cat((first, second), -1)


class Layer(nn.Module):
    def __init__(self, plain):
        super().__init__()
        self.first, self.second = plain.first, plain.second
        self.qkv = nn.Parameter(torch.cat([f.weight for f in (plain.q, plain.k, plain.v)]).detach())
        self.qkv_bias = nn.Parameter(torch.cat([f.bias for f in (plain.q, plain.k, plain.v)]).detach())
        self.gate_up = nn.Parameter(torch.cat([plain.gate.weight, plain.up.weight]).detach())
        self.gate_up_bias = nn.Parameter(torch.cat([plain.gate.bias, plain.up.bias]).detach())
        self.o, self.down = plain.o, plain.down

    def forward(self, x, cos, sin):
        read = norm(x, self.first)
        x = x + self.attention(read, cos, sin)
        read = norm(x, self.second)
        both = F.linear(read, self.gate_up, self.gate_up_bias)
        gate, up = both.split((INNER, INNER), -1)
        active = F.silu(gate)
        inner = active * up
        out = self.down(inner)
        return x + out

    def attention(self, x, cos, sin):
        batch, length, _ = x.shape
        three = F.linear(x, self.qkv, self.qkv_bias)
        q, k, v = three.split((HIDDEN, HIDDEN, HIDDEN), -1)
        q = q.view(batch, length, HEADS, SIZE).transpose(1, 2)
        k = k.view(batch, length, HEADS, SIZE).transpose(1, 2)
        v = v.view(batch, length, HEADS, SIZE).transpose(1, 2)
        q = rope(q, cos, sin)
        k = rope(k, cos, sin)
        scores = torch.matmul(q, k.transpose(2, 3))
        scores = scores * SIZE**-0.5
        scores = torch.tanh(scores / CAP) * CAP
        ago = torch.arange(length)[:, None] - torch.arange(length)
        near = ago < WINDOW
        past = ago >= 0
        scores = scores.masked_fill(~(near & past), float("-inf"))
        weights = F.softmax(scores, dim=-1)
        mixed = torch.matmul(weights, v)
        flat = mixed.transpose(1, 2).reshape(batch, length, HIDDEN)
        return F.linear(flat, self.o.weight, self.o.bias)


class Model(nn.Module):
    def __init__(self, plain):
        super().__init__()
        self.layers = nn.ModuleList(Layer(layer) for layer in plain.layers)
        self.last = plain.last

    def forward(self, x, cos, sin):
        for layer in self.layers:
            x = layer(x, cos, sin)
        x = norm(x, self.last)
        return x * 0.5
"""


@dataclass(frozen=True, slots=True)
class Planted:
    """`right` is the text that is changed to `wrong`; `left` a piece of the line that does the same on the left.

    The error stands in every one of `layers` layers.
    """

    name: str
    right: str
    wrong: str
    left: str
    layers: int = 1

    def line(self, source: str) -> int:
        """The line the error stands on."""
        assert source.count(self.right) == 1, f"{self.right!r} stands in {source.count(self.right)} places"
        return source[: source.index(self.right)].count("\n") + 1

    def plant(self, source: str) -> str:
        """The source with the error, its lines where they were."""
        return source.replace(self.right, self.wrong)


IN_FUSED = [
    Planted("epsilon", "mean + 1e-6", "mean + 1e-5", "variance + 1e-6", layers=2),
    Planted("mean over another axis", "x.pow(2).mean(-1, keepdim=True)", "x.pow(2).mean(1, keepdim=True)", "variance"),
    Planted("sum for mean", "x.pow(2).mean(-1", "x.pow(2).sum(-1", "variance"),
    Planted("norm without its weight", "x * root * weight", "x * root", "weight *"),
    Planted("scale", "scores * SIZE**-0.5", "scores * SIZE**-1.0", "SIZE**0.5"),
    Planted("scale left out", "scores * SIZE**-0.5", "scores * 1.0", "SIZE**0.5", layers=2),
    Planted("activation", "F.silu(gate)", "F.gelu(gate)", "F.silu"),
    Planted("activation of another family", "F.silu(gate)", "F.relu(gate)", "F.silu"),
    Planted("missing bias", "self.o.weight, self.o.bias", "self.o.weight", "self.o(", layers=2),
    Planted("missing bias of a fused projection", "self.gate_up, self.gate_up_bias", "self.gate_up", "self.gate("),
    Planted("missing cap", "torch.tanh(scores / CAP) * CAP", "scores", "torch.tanh"),
    Planted("another cap", "torch.tanh(scores / CAP) * CAP", "torch.tanh(scores / 3.0) * 3.0", "torch.tanh", layers=2),
    Planted("cap not scaled back", "torch.tanh(scores / CAP) * CAP", "torch.tanh(scores / CAP)", "torch.tanh"),
    Planted("window off by one", "ago < WINDOW", "ago < WINDOW + 1", "WINDOW", layers=2),
    Planted("comparison", "ago < WINDOW", "ago <= WINDOW", "WINDOW"),
    Planted("one token of the future", "ago >= 0", "ago >= -1", "ago < 0"),
    Planted("no causal mask", "near & past", "near", "ago < 0"),
    Planted("softmax over another axis", "F.softmax(scores, dim=-1)", "F.softmax(scores, dim=2)", "torch.softmax"),
    Planted("keys and values swapped", "q, k, v = three", "q, v, k = three", "self.q, self.k, self.v"),
    Planted("gate and up swapped", "gate, up = both", "up, gate = both", "self.gate", layers=2),
    Planted("residual from the wrong place", "return x + out", "return read + out", "return x + self.down", layers=2),
    Planted("no residual", "x = x + self.attention(read", "x = self.attention(read", "x + self.attention", layers=2),
    Planted("norm left out", "read = norm(x, self.second)", "read = x", "variance"),
    Planted("weight of the other norm", "norm(x, self.second)", "norm(x, self.first)", "weight *", layers=2),
    Planted("sign in the first half", "a * cos - b * sin", "a * cos + b * sin", "turned"),
    Planted("wrong half", "b * cos + a * sin", "b * cos + b * sin", "turned"),
    Planted("keys not turned", "k = rope(k, cos, sin)", "k = k", "turned"),
    Planted("queries not transposed", "k.transpose(2, 3))", "q.transpose(2, 3))", "k.transpose(-1, -2)"),
    Planted("heads not put back", "mixed.transpose(1, 2).reshape", "mixed.reshape", "mixed.transpose"),
    Planted("an operator too many", "out = self.down(inner)", "out = torch.tanh(self.down(inner))", "self.down"),
    Planted("factor at the end", "return x * 0.5", "return x * 0.25", "* 0.5"),
]

# The left is Transformers' own Llama.
IN_LLAMA = [
    Planted(
        "epsilon",
        "wide.square().mean(-1, keepdim=True) + eps",
        "wide.square().mean(-1, keepdim=True) + 1e-5",
        "eps",
        layers=2,
    ),
    Planted(
        "epsilon outside the root",
        "torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)",
        "(torch.rsqrt(wide.square().mean(-1, keepdim=True)) + eps)",
        "eps",
    ),
    Planted("scale", "* self.scale", "* self.size**-1.0", "scaling", layers=2),
    Planted("activation", "F.silu(gate)", "F.gelu(gate)", "act_fn"),
    Planted("gate and up swapped", "gate, up = self", "up, gate = self", "act_fn"),
    Planted("keys and values swapped", "q, k, v = self", "q, v, k = self", "v_proj", layers=2),
    Planted("one token of the future", "triu(1)", "triu(2)", "mask"),
    Planted("sign of the rotation", "second * cos + first * sin", "second * cos - first * sin", "rotate_half"),
    Planted(
        "residual from the wrong place", "batch), residual, self.post", "batch), x, self.post", "residual +", layers=2
    ),
    Planted(
        "heads in other groups",
        "q.view(batch, length, -1, self.groups, self.size)",
        "q.view(batch, length, self.groups, -1, self.size).transpose(2, 3)",
        "repeat_kv",
    ),
]


def program(source: str, path: Path) -> ModuleType:
    """The module of this text, written to a file, so that its lines can be named."""
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
