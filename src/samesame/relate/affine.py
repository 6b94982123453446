"""What a part of a program makes of a tensor, where that is a linear map and a shift: both of them as formulas.

A convolution followed by a batch norm is one convolution; a linear layer beside a low-rank one is one linear layer; a
gain before a linear layer scales its columns. So for two tensors of a graph, `affine` walks from one back to the other
and collects `target = map(anchor) + shift`. The map is a gain for each channel, a matrix, or the kernel of a
convolution; map and shift are new nodes over the graph's weights. Nothing here decides: what is found is the formula
that a folded weight should have, and values, rounding and proof are asked about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from samesame.evidence import SamesameError
from samesame.graph import Graph, Node, TensorType
from samesame.operators.execute import rerun
from samesame.relate.roundings import packet

_DEEP = 12                  # operators between a tensor and its anchor
TRANSPARENT = frozenset(f"aten.{name}" for name in ["_to_copy", "clone", "contiguous", "alias", "detach"])
RESHAPES = frozenset(f"aten.{name}" for name in ["reshape", "view", "_unsafe_view"])
TRANSPOSED = 3              # where a convolution's settings say that it is transposed
SPLITS = ("aten.split", "aten.split_with_sizes", "aten.chunk")
NORMS = {"aten.layer_norm": (2, 3), "aten.rms_norm": (2, None), "aten.group_norm": (2, 3)}    # gain, bias


@dataclass(frozen=True, slots=True)
class Affine:
    """`target = map(anchor) + shift`. `kind` is "gain" (a factor for each element, broadcast), "matrix" ([out, in], on
    the last dimension) or "kernel" (of a convolution with these `settings`). No gain is 1, no shift 0;
    the shift of a matrix or kernel is a vector of channels, that of a gain broadcasts."""

    kind: str
    map: Node | None = None
    shift: Node | None = None
    settings: tuple[Any, ...] = ()


@dataclass(slots=True)
class Weights:
    """The input-free tensors of a graph, and formulas over them: nodes, each with its float64 value by name."""

    graph: Graph
    values: dict[str, Any]
    fixed: set[Node]
    made: dict[tuple[Any, ...], Node] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: Graph, values: Mapping[str, Any]) -> Weights:
        """The weights of a graph, `values` of one run of it."""
        fixed: set[Node] = set()
        for node in graph.nodes:
            if node.operator != "input" and all(part in fixed for part in node.inputs):
                fixed.add(node)
        return cls(graph, dict(values), fixed)

    def make(self, operator: str, *args: Any) -> Node:
        """An operator applied to formulas and numbers."""
        key = (operator, args)
        if key not in self.made:
            blank = Node(f"formula_{len(self.made) + 1}", operator, args)
            value = rerun(self.graph, {}, self.values, [blank])[blank.name]
            assert isinstance(value, torch.Tensor)
            self.values[blank.name] = value
            dtypes = [part.type.dtype for part in blank.inputs if isinstance(part.type, TensorType)]
            type_ = TensorType(tuple(value.shape), dtypes[0] if dtypes else "float32")
            self.made[key] = made = replace(blank, type=type_)
            self.fixed.add(made)
        return self.made[key]

    def value(self, node: Node) -> torch.Tensor:
        found = self.values[node.name]
        assert isinstance(found, torch.Tensor)
        return found

    def times(self, a: Node | None, b: Node | float | None) -> Node | None:
        """The product; None is 1."""
        if b is None:
            return a
        if a is None:
            return b if isinstance(b, Node) else self.make("aten.full.default", (), b)
        return self.make("aten.mul.Tensor", a, b)

    def plus(self, a: Node | None, b: Node | None) -> Node | None:
        """The sum; None is 0."""
        if a is None or b is None:
            return a or b
        return self.make("aten.add.Tensor", a, b)

    def shaped(self, a: Node, shape: tuple[int, ...]) -> Node:
        return a if a.shape == shape else self.make("aten.reshape.default", a, shape)

    def channels(self, a: Node | None, rank: int, axis: int) -> Node | None:
        """What broadcasts over a tensor of this rank as a vector along one axis, or as a number. Raises _NotAffine
        where it is neither."""
        if a is None:
            return None
        shape = (*(1,) * (rank - len(a.shape)), *a.shape)
        if all(size == 1 for size in shape):
            return self.shaped(a, ())
        if all(size == 1 for d, size in enumerate(shape) if d != axis % rank):
            return self.shaped(a, (shape[axis % rank],))
        raise _NotAffine


class _NotAffine(Exception):
    """The tensor is no linear map of its anchor and a shift, as far as is known here."""


def affine(target: Node, anchor: Node, weights: Weights) -> Affine | None:
    """What the graph makes of the anchor on the way to the target; None where that is not known to be affine."""
    try:
        return _Walk(anchor, weights).form(target, _DEEP)
    except (_NotAffine, SamesameError):
        return None


def bare(node: Node) -> Node | None:
    """The normalised tensor before gain and bias of a norm that has them: an anchor that the graph does not name."""
    places = NORMS.get(packet(node))
    if places is None:
        return None
    args = list(node.args)
    gain, bias = (args[place] if place is not None and place < len(args) else None for place in places)
    if gain is None and bias is None:
        return None
    for place in places:
        if place is not None and place < len(args):
            args[place] = None
    return replace(node, name=f"{node.name}_bare", args=tuple(args))


class _Walk:
    """From a target back to an anchor."""

    def __init__(self, anchor: Node, weights: Weights) -> None:
        self.anchor, self.weights = anchor, weights
        self.known: dict[Node, Affine] = {}

    def form(self, node: Node, deep: int) -> Affine:
        if node is self.anchor:
            return Affine("gain")
        if node not in self.known:
            if deep == 0 or node.is_source or node in self.weights.fixed:
                raise _NotAffine
            self.known[node] = self.step(node, deep - 1)
        return self.known[node]

    def step(self, node: Node, deep: int) -> Affine:
        name = packet(node)
        if name in TRANSPARENT:
            return self.form(node.args[0], deep)
        if name in RESHAPES:
            return self.reshaped(node, deep)
        if name in STEPS:
            return STEPS[name](self, node, deep)
        if name in NORMS:
            return self.norm(node)
        raise _NotAffine

    # ----------------------------------------------------------------------------------------------- gains and shifts

    def scaled(self, form: Affine, factor: Node | float, rank: int) -> Affine:
        """Each channel multiplied."""
        weights = self.weights
        if form.kind == "gain":
            return replace(form, map=weights.times(form.map, factor),
                           shift=form.shift and weights.times(form.shift, factor))
        if isinstance(factor, float):
            along, rows = factor, factor
        else:
            vector = weights.channels(factor, rank, axis_of(form))
            assert form.map is not None and vector is not None
            outer = vector.shape and (*vector.shape, *(1,) * (len(form.map.shape) - 1))
            if form.settings and form.settings[TRANSPOSED]:      # such kernels are [in, out, …]
                if form.settings[-1] != 1:
                    raise _NotAffine
                outer = outer and outer[:-1]
            along, rows = vector, weights.shaped(vector, outer)        # type: ignore[assignment]
        return replace(form, map=weights.times(form.map, rows), shift=form.shift and weights.times(form.shift, along))

    def shifted(self, form: Affine, by: Node, rank: int) -> Affine:
        if form.kind != "gain":
            vector = self.weights.channels(by, rank, axis_of(form))
            assert vector is not None and form.map is not None
            if not vector.shape:
                vector = self.weights.make("aten.expand.default", vector, (form.map.shape[0],))
            by = vector
        return replace(form, shift=self.weights.plus(form.shift, by))

    def product(self, node: Node, deep: int) -> Affine:
        x, y = node.args[:2]
        x, y = (y, x) if self.is_fixed(x) else (x, y)
        if not self.is_fixed(y):
            raise _NotAffine
        return self.scaled(self.form(x, deep), _number(y), len(node.shape))

    def quotient(self, node: Node, deep: int) -> Affine:
        x, y = node.args[:2]
        if not self.is_fixed(y) or node.kwargs.get("rounding_mode"):
            raise _NotAffine
        inverse = self.weights.make("aten.reciprocal.default", y) if isinstance(y, Node) else 1.0 / y
        return self.scaled(self.form(x, deep), inverse, len(node.shape))

    def sum(self, node: Node, deep: int) -> Affine:
        x, y = node.args[:2]
        sign = -1.0 if packet(node) == "aten.sub" else 1.0
        factor = sign * float(node.kwargs.get("alpha", 1))
        if isinstance(x, Node) and self.is_fixed(x):
            turned = self.form(y, deep)
            turned = turned if factor == 1.0 else self.scaled(turned, factor, len(node.shape))
            return self.shifted(turned, x, len(node.shape))
        form = self.form(x, deep)
        if self.is_fixed(y):
            by = y if isinstance(y, Node) else self.weights.make("aten.full.default", (), float(y))
            by = by if factor == 1.0 else self.weights.make("aten.mul.Tensor", by, factor)
            return self.shifted(form, by, len(node.shape))
        other = self.form(y, deep)
        other = other if factor == 1.0 else self.scaled(other, factor, len(node.shape))
        return self.both(form, other, len(node.shape))

    def both(self, a: Affine, b: Affine, rank: int) -> Affine:
        """The sum of two maps of one anchor."""
        if a.kind != b.kind:
            a, b = (self.mixing(one, other, rank) if one.kind == "gain" else one for one, other in ((a, b), (b, a)))
        if a.kind == b.kind == "kernel":
            a, b = self.padded(a, b), self.padded(b, a)
        if a.kind != b.kind or a.settings != b.settings:
            raise _NotAffine
        maps = [form.map or self.weights.make("aten.full.default", (), 1.0) for form in (a, b)]
        if a.kind != "gain" and maps[0].shape != maps[1].shape:
            raise _NotAffine
        return replace(a, map=self.weights.plus(*maps), shift=self.weights.plus(a.shift, b.shift))

    def mixing(self, gain: Affine, other: Affine, rank: int) -> Affine:
        """A gain as the matrix, or the kernel of size one, that mixes no channels: a branch that only scales."""
        weights = self.weights
        assert other.map is not None
        outputs, inputs, *sizes = other.map.shape
        groups = other.settings[-1] if other.settings else 1
        if outputs != inputs * groups or (sizes and (other.settings[TRANSPOSED] or set(other.settings[2]) != {1})):
            raise _NotAffine
        eye = weights.make("aten.eye.default", inputs)
        eye = eye if groups == 1 else weights.make("aten.repeat.default", eye, (groups, 1))
        factor, shift = (weights.channels(part, rank, axis_of(other)) for part in (gain.map, gain.shift))
        if factor is not None and factor.shape:
            factor = weights.shaped(factor, (outputs, 1))
        if shift is not None and not shift.shape:
            shift = weights.make("aten.expand.default", shift, (outputs,))
        map_ = weights.times(eye, factor)
        assert map_ is not None
        stride, _, *rest = other.settings or ((), ())
        settings = (stride, (0,) * len(sizes), *rest) if sizes else ()
        return Affine(other.kind, weights.shaped(map_, (outputs, inputs, *(1,) * len(sizes))), shift, settings)

    def padded(self, form: Affine, other: Affine) -> Affine:
        """A smaller kernel as one of the other's size, with zeros around it, where that needs as much more padding."""
        assert form.map is not None and other.map is not None
        more = [large - small for small, large in zip(form.map.shape[2:], other.map.shape[2:], strict=True)]
        padding = tuple(p + m // 2 for p, m in zip(form.settings[1], more, strict=True))
        if not any(more) or min(more) < 0 or any(m % 2 for m in more) or padding != tuple(other.settings[1]):
            return form
        around = tuple(m // 2 for m in reversed(more) for _ in (0, 1))
        kernel = self.weights.make("aten.constant_pad_nd.default", form.map, around)
        settings = (form.settings[0], other.settings[1], *form.settings[2:])
        return replace(form, map=kernel, settings=settings)

    def negative(self, node: Node, deep: int) -> Affine:
        return self.scaled(self.form(node.args[0], deep), -1.0, len(node.shape))

    def batch_norm(self, node: Node, deep: int) -> Affine:
        x, gain, bias, mean, variance, training, _, epsilon, *_ = node.args
        if training or mean is None or variance is None:
            raise _NotAffine
        weights, rank = self.weights, len(node.shape)
        spread = weights.make("aten.rsqrt.default", weights.make("aten.add.Tensor", variance, epsilon))
        factor = weights.times(gain, spread) if gain is not None else spread
        assert factor is not None
        shift: Node | None = weights.make("aten.neg.default", weights.make("aten.mul.Tensor", mean, factor))
        shift = weights.plus(bias, shift)
        assert shift is not None
        shape = (factor.shape[0], *(1,) * (rank - 2))
        form = self.scaled(self.form(x, deep), weights.shaped(factor, shape), rank)
        return self.shifted(form, weights.shaped(shift, shape), rank)

    def norm(self, node: Node) -> Affine:
        """A norm, of what it makes before gain and bias."""
        inner = bare(node)
        if inner is None or inner.name != self.anchor.name:
            raise _NotAffine
        gain, bias = (node.args[p] if p is not None and p < len(node.args) else None for p in NORMS[packet(node)])
        rank = len(node.shape)
        shape = (node.shape[1], *(1,) * (rank - 2)) if packet(node) == "aten.group_norm" else None
        gain, bias = (part and (self.weights.shaped(part, shape) if shape else part) for part in (gain, bias))
        form = Affine("gain") if gain is None else self.scaled(Affine("gain"), gain, rank)
        return form if bias is None else self.shifted(form, bias, rank)

    # ---------------------------------------------------------------------------------------------- matrices, kernels

    def linear(self, node: Node, deep: int) -> Affine:
        x, weight, *bias = node.args
        return self.through(self.form(x, deep), weight, bias[0] if bias else None, len(x.shape))

    def addmm(self, node: Node, deep: int) -> Affine:
        bias, x, weight = node.args
        if node.kwargs or not self.is_fixed(bias):
            raise _NotAffine
        return self.through(self.form(x, deep), self.turned(weight), bias, len(x.shape))

    def matmul(self, node: Node, deep: int) -> Affine:
        x, weight = node.args
        return self.through(self.form(x, deep), self.turned(weight), None, len(x.shape))

    def turned(self, weight: Node) -> Node:
        """The transposed matrix; of a transposition, what it transposes."""
        if weight not in self.weights.fixed or len(weight.shape) != 2:
            raise _NotAffine
        if packet(weight) == "aten.t" or (packet(weight) == "aten.permute" and tuple(weight.args[1]) == (1, 0)):
            inner: Node = weight.args[0]
            return inner
        return self.weights.make("aten.permute.default", weight, (1, 0))

    def through(self, form: Affine, weight: Node, bias: Node | None, rank: int) -> Affine:
        """A matrix [out, in] after what is known, on the last dimension."""
        weights = self.weights
        if weight not in weights.fixed:
            raise _NotAffine
        if form.kind == "gain":
            gain = weights.channels(form.map, rank, -1)
            map_ = weights.times(weight, gain)
            shift = weights.channels(form.shift, rank, -1)
            if shift is not None and not shift.shape:
                shift = weights.make("aten.expand.default", shift, (weight.shape[1],))
        elif form.kind == "matrix":
            assert form.map is not None
            map_, shift = weights.make("aten.matmul.default", weight, form.map), form.shift
        else:
            raise _NotAffine
        moved = None if shift is None else weights.make("aten.matmul.default", weight, shift)
        return Affine("matrix", map_, weights.plus(moved, bias))

    def convolution(self, node: Node, deep: int) -> Affine:
        x, weight, bias, *settings = node.args
        weights, rank = self.weights, len(node.shape)
        groups, transposed, padding = settings[-1], settings[3], settings[1]
        form = self.form(x, deep)
        if form.kind != "gain" or weight not in weights.fixed or len(x.shape) != rank:
            raise _NotAffine
        gain, shift = (weights.channels(part, rank, 1) for part in (form.map, form.shift))
        if gain is not None and gain.shape:
            if groups != 1 or transposed:
                raise _NotAffine
            gain = weights.shaped(gain, (gain.shape[0], *(1,) * (rank - 2)))
        map_ = weights.times(weight, gain)
        if shift is not None:
            if groups != 1 or transposed or any(padding):
                raise _NotAffine
            over = weights.shaped(shift, (*shift.shape, *(1,) * (rank - 2))) if shift.shape else shift
            product = weights.make("aten.mul.Tensor", weight, over)
            shift = weights.make("aten.sum.dim_IntList", product, tuple(range(1, rank)))
        return Affine("kernel", map_, weights.plus(shift, bias), tuple(settings))

    # ------------------------------------------------------------------------------------------------------ movements

    def reshaped(self, node: Node, deep: int) -> Affine:
        """A reshape that keeps the last dimension whole, where only that is spoken of."""
        x = node.args[0]
        form = self.form(x, deep)
        if form.kind == "kernel" or not x.shape or not node.shape or x.shape[-1] != node.shape[-1]:
            raise _NotAffine
        if form.kind == "gain":
            gain, shift = (self.weights.channels(part, len(x.shape), -1) for part in (form.map, form.shift))
            return replace(form, map=gain, shift=shift)
        return form

    def sliced(self, node: Node, deep: int) -> Affine:
        """Some of the channels."""
        x, dim, start, stop, *step = node.args
        start, stop = start or 0, min(stop if stop is not None else x.shape[dim], x.shape[dim])
        if step and step[0] != 1:
            raise _NotAffine
        return self.cut(self.form(x, deep), len(x.shape), dim, start, stop)

    def picked(self, node: Node, deep: int) -> Affine:
        """A piece of a split."""
        split, index = node.args
        if packet(split) not in SPLITS or not isinstance(split.type, tuple):
            raise _NotAffine
        x = split.args[0]
        dim = split.args[2] if len(split.args) > 2 else split.kwargs.get("dim", 0)
        start = sum(part.shape[dim] for part in split.type[:index])
        return self.cut(self.form(x, deep), len(x.shape), dim, start, start + split.type[index].shape[dim])

    def cut(self, form: Affine, rank: int, dim: int, start: int, stop: int) -> Affine:
        if form.kind == "gain" or dim % rank != axis_of(form) % rank:
            raise _NotAffine
        rows, few = (part and self.weights.make("aten.slice.Tensor", part, 0, start, stop)
                     for part in (form.map, form.shift))
        if form.kind == "kernel" and form.settings[-1] != 1:
            raise _NotAffine
        return replace(form, map=rows, shift=few)

    def is_fixed(self, value: Any) -> bool:
        """A number, or a tensor that no input decides."""
        return isinstance(value, int | float) or (isinstance(value, Node) and value in self.weights.fixed)


def axis_of(form: Affine) -> int:
    """The dimension of the channels."""
    return 1 if form.kind == "kernel" else -1


def _number(value: Any) -> Node | float:
    return value if isinstance(value, Node) else float(value)


STEPS: dict[str, Callable[[_Walk, Node, int], Affine]] = {
    "aten.mul": _Walk.product,
    "aten.div": _Walk.quotient,
    "aten.add": _Walk.sum,
    "aten.sub": _Walk.sum,
    "aten.neg": _Walk.negative,
    "aten.batch_norm": _Walk.batch_norm,
    "aten.linear": _Walk.linear,
    "aten.addmm": _Walk.addmm,
    "aten.mm": _Walk.matmul,
    "aten.matmul": _Walk.matmul,
    "aten.convolution": _Walk.convolution,
    "aten.slice": _Walk.sliced,
    "getitem": _Walk.picked,
}
