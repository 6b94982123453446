"""Weights that happen to be equal: a port of a fresh model is proved though its norms are all ones and its biases all
zeros, and a port that reads another norm, bias or statistic than it should is different, with the weights that hide
it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from examples.fused_llama import FusedLlama
from torch import nn
from torch.nn import functional as F

from samesame import check
from samesame.certificate.replay import read, replay
from samesame.evidence import Rung, Verdict
from samesame.operators.kept import run_keeping
from samesame.report import plain_text, to_json, write_certificate

D, LAYERS = 8, 3
W = torch.randn(D, D, generator=torch.Generator().manual_seed(2))
GAIN = torch.randn(D, generator=torch.Generator().manual_seed(3))


def seeded(make, *args: Any, **options: Any) -> Any:
    torch.manual_seed(0)
    return make(*args, **options).eval()


def x(*shape: int) -> torch.Tensor:
    return torch.randn(*(shape or (4, D)), generator=torch.Generator().manual_seed(1))


def filled(port: nn.Module, **weights: torch.Tensor) -> nn.Module:
    """The port with these weights, by its own names with `__` for dots; all others stay fresh."""
    held = dict(port.named_parameters()) | dict(port.named_buffers())
    with torch.no_grad():
        for name, value in weights.items():
            held[name.replace("__", ".")].copy_(value)
    return port.eval()


def loaded(port: nn.Module, model: nn.Module, names: dict[str, str] | None = None) -> nn.Module:
    """The port with the model's weights, by the port's names; `names` has the model's where they are others."""
    state = model.state_dict()
    port.load_state_dict({name: state[(names or {}).get(name, name)] for name in port.state_dict()})
    return port.eval()


# ----------------------------------------------------------------------------------------------------- stacks of norms


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.lin = nn.LayerNorm(D), nn.Linear(D, D)
        nn.init.zeros_(self.lin.bias)


class Stack(nn.Module):
    """Layers of a norm and a map, and a last norm; `order` says whose norm a layer takes, `last` whose the last one."""

    def __init__(self, order: tuple[int, ...] = (0, 1, 2), last: int | None = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.order, self.last = nn.LayerNorm(D), order, last

    def forward(self, x):
        for layer, number in zip(self.layers, self.order, strict=True):
            x = x + torch.tanh(layer.lin(self.layers[number].norm(x)))
        return (self.norm if self.last is None else self.layers[self.last].norm)(x)


class Renamed(nn.Module):
    """The same under other names and by other operators; `order` as for `Stack`."""

    def __init__(self, order: tuple[int, ...] = (0, 1, 2), biased: bool = True) -> None:
        super().__init__()
        self.h = nn.ModuleList(nn.ModuleDict({"ln": nn.LayerNorm(D), "fc": nn.Linear(D, D, bias=biased)})
                               for _ in range(LAYERS))
        self.ln_f, self.order = nn.LayerNorm(D), order
        for layer in self.h if biased else ():
            nn.init.zeros_(layer["fc"].bias)

    def forward(self, x):
        for layer, number in zip(self.h, self.order, strict=True):
            x = torch.tanh(layer["fc"](by_hand(x, self.h[number]["ln"]))) + x
        return by_hand(x, self.ln_f)


class Listed(nn.Module):
    """The same with its norms in lists of their own."""

    def __init__(self, order: tuple[int, ...] = (0, 1, 2)) -> None:
        super().__init__()
        self.scales = nn.ParameterList(nn.Parameter(torch.ones(D)) for _ in range(LAYERS + 1))
        self.shifts = nn.ParameterList(nn.Parameter(torch.zeros(D)) for _ in range(LAYERS + 1))
        self.maps = nn.ParameterList(nn.Parameter(torch.empty(D, D)) for _ in range(LAYERS))
        self.offsets = nn.ParameterList(nn.Parameter(torch.zeros(D)) for _ in range(LAYERS))
        self.order = order

    def forward(self, x):
        for place, number in enumerate(self.order):
            normed = F.layer_norm(x, (D,), self.scales[number], self.shifts[number])
            x = x + torch.tanh(normed @ self.maps[place] + self.offsets[place])
        return F.layer_norm(x, (D,), self.scales[LAYERS], self.shifts[LAYERS])


class Stacked(nn.Module):
    """The same with all weights of a kind in one tensor."""

    def __init__(self, model: Stack) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(LAYERS, D)), nn.Parameter(torch.zeros(LAYERS, D))
        self.maps = nn.Parameter(torch.stack([layer.lin.weight.detach() for layer in model.layers]))
        self.bias = nn.Parameter(torch.zeros(LAYERS, D))
        self.last = nn.LayerNorm(D)

    def forward(self, x):
        for scale, shift, weight, bias in zip(self.scale, self.shift, self.maps, self.bias, strict=True):
            x = x + torch.tanh(F.linear(F.layer_norm(x, (D,), scale, shift), weight, bias))
        return self.last(x)


def by_hand(x, norm):
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt((centred * centred).mean(-1, keepdim=True) + norm.eps) * norm.weight + norm.bias


def renamed(model: Stack, **options: Any) -> nn.Module:
    weights = {f"h__{k}__fc__weight": layer.lin.weight for k, layer in enumerate(model.layers)}
    return filled(Renamed(**options), **weights)


def listed(model: Stack, **options: Any) -> nn.Module:
    return filled(Listed(**options), **{f"maps__{k}": layer.lin.weight.T for k, layer in enumerate(model.layers)})


# ----------------------------------------------------------------------------------------------------------- attention


class Attention(nn.Module):
    """Two norms, queries, keys, values and a gated map. `swapped` uses the norms in the other order, `crossed` the
    biases of queries and keys for each other, `gated` the gate's weight for both, `up_first` what is gated first."""

    def __init__(
        self, swapped: bool = False, crossed: bool = False, gated: bool = False, up_first: bool = False
    ) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(D), nn.RMSNorm(D)
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.gate, self.up, self.down = (nn.Linear(D, D, bias=False) for _ in range(3))
        for part in (self.q, self.k, self.v, self.o):
            nn.init.zeros_(part.bias)
        self.swapped, self.crossed, self.gated, self.up_first = swapped, crossed, gated, up_first

    def forward(self, x):
        first, second = (self.norm2, self.norm1) if self.swapped else (self.norm1, self.norm2)
        y = first(x)
        biases = (self.k.bias, self.q.bias) if self.crossed else (self.q.bias, self.k.bias)
        q, k = F.linear(y, self.q.weight, biases[0]), F.linear(y, self.k.weight, biases[1])
        x = x + self.o(torch.softmax(q @ k.transpose(-1, -2) * D**-0.5, -1) @ self.v(y))
        y = second(x)
        if self.up_first:
            return x + self.down(self.up(y) * F.silu(self.gate(y)))
        return x + self.down(F.silu(self.gate(y)) * (self.gate if self.gated else self.up)(y))


class FusedAttention(nn.Module):
    """The same with one projection for queries, keys and values, and one for gate and up."""

    def __init__(self, model: Attention, third: bool = True) -> None:
        super().__init__()
        self.attn_norm, self.mlp_norm = nn.Parameter(torch.ones(D)), nn.Parameter(torch.ones(D))
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.gate_up, self.proj = nn.Linear(D, 2 * D, bias=False), nn.Linear(D, D, bias=False)
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([model.q.weight, model.k.weight, model.v.weight]))
            self.gate_up.weight.copy_(torch.cat([model.gate.weight, model.up.weight]))
            self.out.weight.copy_(model.o.weight)
            self.proj.weight.copy_(model.down.weight)
            self.qkv.bias.zero_()
            self.out.bias.zero_()
        self.third = third

    def forward(self, x):
        y = F.rms_norm(x, (D,), self.attn_norm, torch.finfo(torch.float32).eps)
        q, k, v = F.linear(y, self.qkv.weight, self.qkv.bias).chunk(3, -1)
        if not self.third:
            v = v - self.qkv.bias[2 * D :]
        x = x + self.out(F.scaled_dot_product_attention(q[None], k[None], v[None])[0])
        gate, up = self.gate_up(F.rms_norm(x, (D,), self.mlp_norm, torch.finfo(torch.float32).eps)).chunk(2, -1)
        return x + self.proj(gate * torch.sigmoid(gate) * up)


def gates_alike(model: Attention) -> Attention:
    with torch.no_grad():
        model.up.weight.copy_(model.gate.weight)
    return model


# ---------------------------------------------------------------------------------------------------------- statistics


class Norms(nn.Module):
    """Two batch norms with a map between; `statistics` says whose running statistics each reads."""

    def __init__(self, statistics: str = "ab") -> None:
        super().__init__()
        self.a, self.b, self.lin = nn.BatchNorm1d(D), nn.BatchNorm1d(D), nn.Linear(D, D)
        self.statistics = statistics

    def forward(self, x):
        for own, name in zip((self.a, self.b), self.statistics, strict=True):
            other = getattr(self, name)
            x = torch.tanh(F.batch_norm(x, other.running_mean, other.running_var, own.weight, own.bias))
            x = self.lin(x) if own is self.a else x
        return x


class NormsByHand(nn.Module):
    """The same by other operators and names; `sign` of the mean, and whether it is `read` at all."""

    def __init__(self, sign: float = 1.0, read: bool = True) -> None:
        super().__init__()
        for name in ("one", "two"):
            self.register_parameter(f"{name}_gain", nn.Parameter(torch.ones(D)))
            self.register_parameter(f"{name}_shift", nn.Parameter(torch.zeros(D)))
            self.register_buffer(f"{name}_mu", torch.zeros(D))
            self.register_buffer(f"{name}_sigma2", torch.ones(D))
        self.fc, self.sign, self.read = nn.Linear(D, D), sign, read

    def forward(self, x):
        for name in ("one", "two"):
            gain, shift, mu, sigma2 = (getattr(self, f"{name}_{part}") for part in ("gain", "shift", "mu", "sigma2"))
            x = x - self.sign * mu if self.read else x
            x = torch.tanh(x / torch.sqrt(sigma2 + 1e-5) * gain + shift)
            x = self.fc(x) if name == "one" else x
        return x


def norms_by_hand(model: Norms, **options: Any) -> nn.Module:
    return filled(NormsByHand(**options), fc__weight=model.lin.weight, fc__bias=model.lin.bias)


# ---------------------------------------------------------------------------------------------------- smaller programs


class Tied(nn.Module):
    def __init__(self, tied: bool) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(11, D), nn.Linear(D, 11, bias=False)
        if tied:
            self.head.weight = self.embed.weight
        else:
            self.head.weight.data = self.embed.weight.data.clone()

    def forward(self, ids):
        return self.head(torch.tanh(self.embed(ids)))


class Wte(nn.Module):
    """`Tied` with other names, and one tensor."""

    def __init__(self, model: Tied) -> None:
        super().__init__()
        self.wte = nn.Parameter(model.embed.weight.detach().clone())

    def forward(self, ids):
        return torch.tanh(self.wte[ids]) @ self.wte.T


class Adapted(nn.Module):
    """A map with two adapters of low rank, the second factors of which are zeros; `second` says which are added."""

    def __init__(self, second: str = "pq") -> None:
        super().__init__()
        self.p, self.q = nn.Linear(D, D), nn.Linear(D, D)
        self.p_down, self.q_down = nn.Linear(D, 2, bias=False), nn.Linear(D, 2, bias=False)
        self.p_up, self.q_up = nn.Linear(2, D, bias=False), nn.Linear(2, D, bias=False)
        nn.init.zeros_(self.p_up.weight)
        nn.init.zeros_(self.q_up.weight)
        self.second = second

    def forward(self, x):
        p, q = self.p(x), self.q(x)
        if self.second:
            ups = [getattr(self, f"{name}_up") for name in self.second]
            p, q = p + ups[0](self.p_down(x)), q + ups[1](self.q_down(x))
        return p * torch.sigmoid(q)


class AdaptedByHand(nn.Module):
    """`Adapted` under other names."""

    def __init__(self, model: Adapted, crossed: bool = False) -> None:
        super().__init__()
        for name, part in (("w1", model.p), ("w2", model.q)):
            self.register_parameter(name, nn.Parameter(part.weight.detach().clone()))
            self.register_parameter(f"{name}_b", nn.Parameter(part.bias.detach().clone()))
        self.a1, self.a2 = (nn.Parameter(m.weight.detach().T.clone()) for m in (model.p_down, model.q_down))
        self.b1, self.b2 = nn.Parameter(torch.zeros(2, D)), nn.Parameter(torch.zeros(2, D))
        self.crossed = crossed

    def forward(self, x):
        b1, b2 = (self.b1, self.b1) if self.crossed else (self.b1, self.b2)
        p = F.linear(x, self.w1, self.w1_b) + x @ self.a1 @ b1
        return p * torch.sigmoid(F.linear(x, self.w2, self.w2_b) + x @ self.a2 @ b2)


class Part(nn.Module):
    """Two maps; the small one's weight equals the first rows of the large one's."""

    def __init__(self, cut: bool = False) -> None:
        super().__init__()
        self.large, self.small = nn.Linear(D, D, bias=False), nn.Linear(D, 4, bias=False)
        self.small.weight.data = self.large.weight.data[:4].clone()
        self.cut = cut

    def forward(self, x):
        small = F.linear(x, self.large.weight[:4]) if self.cut else self.small(x)
        return torch.cat([torch.tanh(self.large(x)), small], -1)


class Scaled(nn.Module):
    """A map, and what it gives times `after`."""

    def __init__(self, weight: torch.Tensor, after: float = 1.0, name: str = "w") -> None:
        super().__init__()
        self.register_parameter(name, nn.Parameter(weight.detach().clone()))
        self.name, self.after = name, after

    def forward(self, x):
        return torch.tanh(x) @ getattr(self, self.name) * self.after


class Closed(nn.Module):
    """A residual block whose last matrix is zeros, as it is or `turned`, under these names."""

    def __init__(self, names: str, turned: bool) -> None:
        super().__init__()
        self.names, self.turned = names.split(), turned
        for name, value in zip(self.names, (W, torch.zeros(D, D)), strict=True):
            self.register_parameter(name, nn.Parameter(value.clone()))

    def forward(self, x):
        first, last = (getattr(self, name) for name in self.names)
        return x + torch.tanh(x @ first) @ (last.T if self.turned else last)


class Clones(nn.Module):
    """Layers that start as copies of one; `order` says which is used when."""

    def __init__(self, order: tuple[int, ...] = (0, 1, 2)) -> None:
        super().__init__()
        self.parts = nn.ParameterList(nn.Parameter(W.clone()) for _ in range(3))
        self.order = order

    def forward(self, x):
        for number in self.order:
            x = torch.tanh(x @ self.parts[number])
        return x


class ClonesInOne(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.all = nn.Parameter(torch.stack([W.T] * 3))

    def forward(self, x):
        for weight in self.all:
            x = torch.tanh(F.linear(x, weight))
        return x


class Gain(nn.Module):
    """A gain that is a parameter, a buffer, or a plain tensor."""

    def __init__(self, gain: torch.Tensor, kind: str, name: str) -> None:
        super().__init__()
        if kind == "buffer":
            self.register_buffer(name, gain.clone())
        else:
            setattr(self, name, nn.Parameter(gain.clone()) if kind == "parameter" else gain.clone())
        self.name = name

    def forward(self, x):
        return torch.tanh(x * getattr(self, self.name))


class Biased(nn.Module):
    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.detach().clone())
        self.bias = None if bias is None else nn.Parameter(bias)

    def forward(self, x):
        return F.linear(torch.tanh(x), self.weight, self.bias)


class Normed(nn.Module):
    """A norm with a trained weight and a fresh bias, and a map, under these names; the norm's bias comes after the
    map, times `plus`."""

    def __init__(self, names: str = "norm lin", plus: float = 1.0) -> None:
        super().__init__()
        first, second = names.split()
        setattr(self, first, nn.LayerNorm(D))
        setattr(self, second, nn.Linear(D, D))
        with torch.no_grad():
            getattr(self, first).weight.copy_(GAIN)
            getattr(self, second).weight.copy_(W)
            getattr(self, second).bias.zero_()
        self.first, self.second, self.plus = first, second, plus

    def forward(self, x):
        norm, lin = getattr(self, self.first), getattr(self, self.second)
        return torch.tanh(lin(F.layer_norm(x, (D,), norm.weight)) + self.plus * norm.bias)


class Numbered(nn.Module):
    """Norms by name, in this order."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.order = names
        for name in dict.fromkeys(names):
            self.register_parameter(name, nn.Parameter(torch.ones(D)))

    def forward(self, x):
        for k, name in enumerate(self.order):
            x = torch.tanh(x * getattr(self, name) + k)
        return x


class Quantised(nn.Module):
    """Two maps of int8 numbers that are equal; `order` says which comes first."""

    def __init__(self, order: str = "ab") -> None:
        super().__init__()
        numbers = torch.randint(-9, 9, (D, D), generator=torch.Generator().manual_seed(0), dtype=torch.int8)
        self.a, self.b = (nn.Parameter(numbers.clone(), requires_grad=False) for _ in range(2))
        self.order = order

    def forward(self, x):
        for name in self.order:
            x = torch.tanh(x @ (getattr(self, name).float() * 0.125))
        return x


class Gated(nn.Module):
    """Two masks of one kind of numbers that are weights."""

    def __init__(self, order: str = "ab") -> None:
        super().__init__()
        self.a, self.b = (nn.Parameter(torch.ones(D, dtype=torch.bool), requires_grad=False) for _ in range(2))
        self.order = order

    def forward(self, x):
        for name in self.order:
            x = torch.tanh(torch.where(getattr(self, name), x, -x) + 1)
        return x


STACK = seeded(Stack)
ATTENTION = seeded(Attention)
ALIKE = gates_alike(seeded(Attention))
NORMS = seeded(Norms)
ADAPTED = seeded(Adapted)
PART = seeded(Part)
IDS = (torch.tensor([[1, 4, 7], [0, 10, 3]]),)


@dataclass
class Pair:
    """Two programs, the inputs, and, where the port is wrong, what the sentence must name."""

    left: Any
    right: Any
    inputs: Any = None
    names: tuple[str, ...] = ()
    as_given: str = "same"


HONEST = {
    "the same names": Pair(STACK, loaded(Stack(), STACK)),
    "other names and operators": Pair(STACK, renamed(STACK)),
    "other names, the other way round": Pair(renamed(STACK), STACK),
    "norms in lists": Pair(STACK, listed(STACK)),
    "norms in lists, the other way round": Pair(listed(STACK), STACK),
    "norms in stacks": Pair(STACK, Stacked(STACK)),
    "norms in stacks, the other way round": Pair(Stacked(STACK), STACK),
    "from lists to stacks": Pair(listed(STACK), Stacked(STACK)),
    "the same attention": Pair(ATTENTION, loaded(Attention(), ATTENTION)),
    "fused projections and zero biases": Pair(ATTENTION, FusedAttention(ATTENTION)),
    "fused projections, the other way round": Pair(FusedAttention(ATTENTION), ATTENTION),
    "gate and up alike, the same names": Pair(ALIKE, loaded(Attention(), ALIKE)),
    "gate and up alike, fused": Pair(ALIKE, FusedAttention(ALIKE)),
    "gate and up alike, taken apart": Pair(FusedAttention(ALIKE), ALIKE),
    "gate and up alike, taken apart and used in the other order": Pair(
        FusedAttention(ALIKE), loaded(Attention(up_first=True), ALIKE)),
    "fresh statistics, the same names": Pair(NORMS, loaded(Norms(), NORMS)),
    "fresh statistics by hand": Pair(NORMS, norms_by_hand(NORMS)),
    "fresh statistics by hand, the other way round": Pair(norms_by_hand(NORMS), NORMS),
    "tied on both sides": Pair(seeded(Tied, True), loaded(Tied(True), seeded(Tied, True)), IDS),
    "tied on both sides, other names": Pair(seeded(Tied, True), Wte(seeded(Tied, True)), IDS),
    "equal on both sides, not tied": Pair(seeded(Tied, False), loaded(Tied(False), seeded(Tied, False)), IDS),
    "zero adapters, the same names": Pair(ADAPTED, loaded(Adapted(), ADAPTED)),
    "zero adapters, other names": Pair(ADAPTED, AdaptedByHand(ADAPTED)),
    "equal in part": Pair(PART, loaded(Part(), PART)),
    "half the weight, twice the result": Pair(Scaled(W), Scaled(W * 0.5, 2.0, "v")),
    "minus the weight": Pair(Scaled(W), Scaled(-W, -1.0, "v")),
    "twice the weight, by its own name": Pair(Scaled(W, 0.25), Scaled(W * 0.25)),
    "fresh norm times two": Pair(Scaled(torch.eye(D)), Scaled(torch.eye(D) * 4, 0.25)),
    "a buffer for a parameter": Pair(Gain(GAIN, "parameter", "w"), Gain(GAIN, "buffer", "w")),
    "a parameter for a buffer, other names": Pair(Gain(GAIN, "buffer", "w"), Gain(GAIN, "parameter", "gain")),
    "a plain tensor for a parameter": Pair(Gain(GAIN, "parameter", "w"), Gain(GAIN, "plain", "gain")),
    "a fresh buffer for a fresh parameter": Pair(
        Gain(torch.ones(D), "parameter", "w"), Gain(torch.ones(D), "buffer", "gain")),
    "names counted from another number": Pair(Numbered("n1", "n2", "n3"), Numbered("n0", "n1", "n2")),
    "names in other words": Pair(Numbered("n1", "n2", "n3"), Numbered("first", "second", "third")),
    "a matrix of zeros": Pair(Closed("w o", False), Closed("u v", False)),
    "a matrix of zeros, transposed": Pair(Closed("w o", False), Closed("u v", True)),
    "cloned layers in one tensor": Pair(Clones(), ClonesInOne()),
    "cloned layers in one tensor, the other way round": Pair(ClonesInOne(), Clones()),
    "a trained norm with a fresh bias": Pair(Normed(), Normed("ln fc")),
    "one norm twice on both sides": Pair(Numbered("a", "b", "a"), Numbered("p", "q", "p")),
    "integers that are equal": Pair(Quantised(), Quantised()),
    "masks that are equal": Pair(Gated(), Gated()),
}

WRONG = {
    "one norm for all": Pair(
        STACK, loaded(Stack((1, 1, 1)), STACK), names=("layers.0.norm.weight", "layers.1.norm.weight")),
    "one norm for all, other names": Pair(STACK, renamed(STACK, order=(1, 1, 1)), names=("layers.1.norm.weight",)),
    "two norms swapped": Pair(
        STACK, loaded(Stack((1, 0, 2)), STACK), names=("layers.0.norm.weight", "layers.1.norm.weight")),
    "two norms swapped, other names": Pair(
        STACK, renamed(STACK, order=(1, 0, 2)), names=("layers.0.norm.weight", "layers.1.norm.weight")),
    "two norms swapped in lists": Pair(
        STACK, listed(STACK, order=(1, 0, 2)), names=("layers.0.norm.weight", "layers.1.norm.weight")),
    "the first layer's norm for the last": Pair(
        STACK, loaded(Stack(last=0), STACK), names=("layers.0.norm.weight", "norm.weight")),
    "the last layer's norm for the last": Pair(
        STACK, loaded(Stack(last=2), STACK), names=("layers.2.norm.weight", "norm.weight")),
    "zero biases left out": Pair(
        STACK, renamed(STACK, biased=False), names=("layers.0.lin.bias", "layers.1.lin.bias", "layers.2.lin.bias")),
    "zero biases put in": Pair(renamed(STACK, biased=False), STACK, names=("layers.0.lin.bias",)),
    "two norms swapped in a block": Pair(
        ATTENTION, loaded(Attention(swapped=True), ATTENTION), names=("norm1.weight and norm2.weight",)),
    "biases of queries and keys swapped": Pair(
        ATTENTION, loaded(Attention(crossed=True), ATTENTION), names=("q.bias",)),
    "the gate for both": Pair(
        ALIKE, loaded(Attention(gated=True), ALIKE), names=("gate.weight and up.weight hold equal numbers",)),
    "a third of a fused bias taken out again": Pair(
        ATTENTION, FusedAttention(ATTENTION, third=False), names=("v.bias",)),
    "statistics swapped": Pair(
        NORMS, loaded(Norms("ba"), NORMS),
        names=("a.running_mean and b.running_mean", "a.running_var and b.running_var")),
    "one layer's statistics for both": Pair(
        NORMS, loaded(Norms("aa"), NORMS), names=("a.running_mean and b.running_mean",)),
    "the mean with the wrong sign": Pair(NORMS, norms_by_hand(NORMS, sign=-1.0), names=("a.running_mean",)),
    "the mean left out": Pair(NORMS, norms_by_hand(NORMS, read=False), names=("a.running_mean",)),
    "the mean put in": Pair(norms_by_hand(NORMS, read=False), NORMS, names=("a.running_mean",)),
    "tied what is not": Pair(seeded(Tied, False), seeded(Tied, True), IDS, ("embed.weight and head.weight",)),
    "untied what is tied": Pair(seeded(Tied, True), seeded(Tied, False), IDS, ("embed.weight and head.weight",)),
    "tied what is not, other names": Pair(
        seeded(Tied, False), Wte(seeded(Tied, False)), IDS, ("embed.weight and head.weight",)),
    "zero adapters left out": Pair(ADAPTED, loaded(Adapted(""), ADAPTED), names=("p_up.weight",)),
    "zero adapters swapped": Pair(ADAPTED, loaded(Adapted("qp"), ADAPTED), names=("p_up.weight and q_up.weight",)),
    "one zero adapter for both, other names": Pair(
        ADAPTED, AdaptedByHand(ADAPTED, crossed=True), names=("p_up.weight and q_up.weight",)),
    "a part of another weight": Pair(
        PART, loaded(Part(cut=True), PART), names=("small.weight", "large.weight")),
    "a zero bias left out": Pair(Biased(W, torch.zeros(D)), Biased(W, None), names=("bias, which the right has not,",)),
    "a zero bias put in": Pair(Biased(W, None), Biased(W, torch.zeros(D)), names=("bias, which the left has not,",)),
    "one cloned layer twice": Pair(Clones(), Clones((0, 1, 1)), names=("parts.1 and parts.2 hold equal numbers",)),
    "cloned layers in another order": Pair(
        ClonesInOne(), Clones((1, 0, 2)), names=("parts.0", "parts.1"),
        as_given="undecided"),
    "a fresh bias with the wrong sign": Pair(Normed(), Normed("ln fc", -1.0), names=("norm.bias",)),
    "names in another order": Pair(Numbered("n1", "n2", "n3"), Numbered("n2", "n1", "n3"), names=("n1 and n2",)),
    "one of three names": Pair(Numbered("n1", "n2", "n3"), Numbered("n1", "n1", "n3"), names=("n1 and n2",)),
    "one norm twice, another once": Pair(Numbered("a", "b", "a"), Numbered("p", "q", "q"), names=("a and b",)),
    "integers swapped": Pair(Quantised(), Quantised("ba"), names=("a and b hold equal numbers",)),
    "masks swapped": Pair(Gated(), Gated("ba"), names=("a and b hold equal numbers",)),
}


def verdict_of(pair: Pair, **options: Any) -> Verdict:
    return check(pair.left, pair.right, pair.inputs or (x(),), **options)


@pytest.mark.parametrize("pair", HONEST.values(), ids=HONEST)
def test_an_honest_port_is_proved(pair: Pair) -> None:
    verdict = verdict_of(pair)
    assert (verdict.verdict, verdict.because) == ("same", "")
    assert verdict.evidence >= Rung.PROVED_HERE and not verdict.unpaired


@pytest.mark.parametrize("pair", WRONG.values(), ids=WRONG)
def test_a_wrong_port_is_different_and_the_weights_that_hide_it_are_named(pair: Pair) -> None:
    verdict = verdict_of(pair)
    assert verdict.verdict == "different"
    assert verdict.because.startswith("the same for these weights only, because ")
    for name in pair.names:
        assert name in verdict.because


@pytest.mark.parametrize("pair", WRONG.values(), ids=WRONG)
def test_for_the_weights_as_given_it_is_the_same(pair: Pair) -> None:
    verdict = verdict_of(pair, weights="as-given")
    assert verdict.verdict == pair.as_given and verdict.weights == "as-given"


# --------------------------------------------------------------------------------------------------------------- inputs

MASK, TRUE = torch.ones(4, D, dtype=torch.long), torch.ones(4, D, dtype=torch.bool)
WRONG_INPUTS = {
    "a mask of ones is not read": (lambda x, m: torch.tanh(x) * m, lambda x, m: torch.tanh(x), (x(), MASK), "m is 1"),
    "a mask of truth is not read": (
        lambda x, m: torch.where(m, x, -x), lambda x, m: x + 0, (x(), TRUE), "m is 1 throughout"),
    "an input of zeros is not read": (
        lambda x, y: torch.tanh(x) + y, lambda x, y: torch.tanh(x), (x(), torch.zeros(4, D)), "y is 0 throughout"),
    "equal inputs are exchanged": (
        lambda x, y: torch.tanh(x) * y, lambda x, y: torch.tanh(y) * x, (x(), x()), "x and y hold equal numbers"),
}


@pytest.mark.parametrize("case", WRONG_INPUTS.values(), ids=WRONG_INPUTS)
def test_inputs_that_happen_to_be_equal_hide_nothing(case) -> None:
    left, right, inputs, words = case
    verdict = check(left, right, inputs)
    assert verdict.verdict == "different"
    assert verdict.because.startswith("the same for these inputs only, because ") and words in verdict.because


def test_an_input_that_is_passed_twice_is_one_only_where_it_must_be_and_the_headline_says_so() -> None:
    both = x()
    apart = check(lambda x, y: torch.tanh(x) * y, lambda x, y: y * torch.tanh(x), (both, both))
    assert apart.verdict == "same" and not apart.only
    one = check(lambda x, y: torch.tanh(x) * y, lambda x, y: torch.tanh(y) * x, (both, both))
    assert one.verdict == "same" and one.only == ["where y is x"]
    assert plain_text(one).splitlines()[0].startswith("same   every output proved at these sizes, where y is x (")


def test_an_index_into_a_table_of_one_row_stays_in_it() -> None:
    table = nn.Embedding(1, D)
    ids = torch.zeros(3, dtype=torch.long)
    assert check(lambda i: torch.tanh(table(i)), lambda i: torch.tanh(table.weight[i]), (ids,)).verdict == "same"


# ----------------------------------------------------------------------------------------------------- what is reported


def test_the_headline_says_for_which_weights() -> None:
    given = verdict_of(WRONG["a zero bias left out"], weights="as-given")
    headline = " ".join(plain_text(given).split())
    assert headline.startswith("same every output proved for every B ≥ 2") and ", for these weights (" in headline
    wrong = verdict_of(WRONG["a zero bias left out"])
    assert "only, because bias, which the right has not, is 0 throughout" in " ".join(plain_text(wrong).split())


def test_pairs_by_use_are_listed_and_counted_as_a_condition() -> None:
    verdict = verdict_of(HONEST["names counted from another number"])
    text = plain_text(verdict)
    assert "n0 = n1" in text and "n2 = n3" in text and "paired by use, not by name" in text
    assert "told apart: 3 by use" in text


def test_the_json_says_it_too() -> None:
    form = to_json(verdict_of(WRONG["names in another order"]))
    assert form["weights"] == "random" and "n1 and n2 hold equal numbers" in form["because"]
    relations = to_json(verdict_of(HONEST["fresh statistics by hand"]))["relations"]
    assert any("the same use" in relation["evidence"]["detail"] for relation in relations)


def test_no_certificate_is_given_for_less_than_all_weights() -> None:
    pair = WRONG["a zero bias left out"]
    assert verdict_of(pair, weights="as-given", certify=True).certificate is None
    assert verdict_of(HONEST["half the weight, twice the result"], certify=True).certificate is not None


@pytest.mark.parametrize("name", ["half the weight, twice the result", "fresh statistics by hand",
                                  "a parameter for a buffer, other names", "fused projections and zero biases"])
def test_the_relation_is_replayed(name: str, tmp_path) -> None:
    verdict = verdict_of(HONEST[name], certify=True)
    write_certificate(verdict, tmp_path / "proof.json")
    checked, _ = replay(read(tmp_path / "proof.json"), None)
    assert checked[0].startswith("every output proved for all sizes")


def test_other_words_for_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="'random' or 'as-given'"):
        check(nn.Identity(), nn.Identity(), (x(),), weights="as given")


def test_a_pair_without_doubt_runs_no_more_than_before(monkeypatch) -> None:
    runs = []
    monkeypatch.setattr("samesame.relate.draws.run_keeping", lambda *args: runs.append(1) or run_keeping(*args))
    verdict_of(Pair(Biased(W, GAIN.clone()), Biased(W, GAIN.clone())))
    assert len(runs) == 6, "three draws of two programs"
    runs.clear()
    verdict_of(HONEST["names in other words"])
    assert len(runs) == 6, "and no more where uses tell equal weights apart"


@pytest.mark.models
@pytest.mark.parametrize("tied", [False, True])
def test_a_fresh_llama_and_its_fused_port(tied: bool) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        vocab_size=53, max_position_embeddings=64, attention_bias=True, tie_word_embeddings=tied)
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config).eval()
    port = FusedLlama.from_transformers(model)
    if tied:
        port.head.weight = port.embed.weight
    inputs = {"input_ids": torch.randint(53, (2, 9))}
    assert check(model, port, inputs).evidence is Rung.PROVED
    port.layers[1].post_norm = port.layers[0].input_norm
    verdict = check(model, port, inputs)
    assert verdict.verdict == "different"
    assert "model.layers.1.post_attention_layernorm.weight hold equal numbers" in verdict.because
