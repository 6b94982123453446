"""Shape rules: the sizes of an operator's result from those of its arguments, and what its literal sizes must be.

The rules are written once and read twice. Over numbers they type the nodes of a captured graph. Over roles (roles.py)
they find out which sizes of a graph are one and the same, so that it can be run with small ones. Both offer the same
few questions (`Algebra`): sizes that must agree, products, sums, a size taken apart.

A rule gets a `Call` and returns the shape of the result, or a list of shapes. Where an argument of the call is a size
itself, as the shape of a view is, it tells so with `call.size(value, position, ...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any, Protocol, TypeVar

from samesame.graph import Node
from samesame.operators.table import packet

D = TypeVar("D")
Path = tuple[int | str, ...]                               # where an argument stands: position or name, then inside


class Mismatch(Exception):
    """Sizes that should agree and do not."""


class Algebra(Protocol[D]):
    """Sizes of some kind."""

    def value(self, a: D) -> int:
        """The size as a number."""

    def same(self, a: D, b: D) -> D:
        """Both sizes, which must be one."""

    def literal(self, n: int) -> D:
        """A size of which only the number is known."""

    def product(self, parts: Sequence[D]) -> D: ...

    def total(self, parts: Sequence[D]) -> D: ...

    def factors(self, parts: Sequence[D], targets: Sequence[int]) -> list[D]:
        """The product of sizes, taken apart into factors of these values."""

    def cut(self, a: D, bounds: Sequence[int]) -> list[D]:
        """The size, taken apart into the pieces between bounds; the first is 0 and the last the size's value."""


class Numbers:
    """Sizes as numbers."""

    def value(self, a: int) -> int:
        return a

    def same(self, a: int, b: int) -> int:
        if a != b:
            raise Mismatch(f"a size is {a} and {b}")
        return a

    def literal(self, n: int) -> int:
        return n

    def product(self, parts: Sequence[int]) -> int:
        return prod(parts)

    def total(self, parts: Sequence[int]) -> int:
        return sum(parts)

    def factors(self, parts: Sequence[int], targets: Sequence[int]) -> list[int]:
        if prod(parts) != prod(targets):
            raise Mismatch(f"{prod(parts)} elements are taken for {prod(targets)}")
        return list(targets)

    def cut(self, a: int, bounds: Sequence[int]) -> list[int]:
        return [stop - start for start, stop in pairwise(bounds)]


class Call:
    """One application: the operator's arguments, with shapes for tensors; and its sizes among the arguments."""

    def __init__(self, algebra: Algebra[Any], node: Node, shape_of: Callable[[Node], Any]) -> None:
        self.sizes, self.node, self.args, self.kwargs = algebra, node, node.args, node.kwargs
        self._shape_of = shape_of
        self.told: dict[Path, Any] = {}                    # sizes among the arguments

    def shape(self, position: int) -> tuple[Any, ...]:
        """The shape of the tensor at this position."""
        shape: tuple[Any, ...] = self._shape_of(self.args[position])
        return shape

    def shapes(self) -> list[tuple[Any, ...]]:
        """The shapes of all tensors among the arguments."""
        return [self._shape_of(part) for part in self.node.inputs]

    def parts(self, position: int) -> list[tuple[Any, ...] | None]:
        """The shapes of a list of tensors, None where there is none."""
        return [None if part is None else self._shape_of(part) for part in self.args[position]]

    def arg(self, position: int, otherwise: Any = None) -> Any:
        return self.args[position] if position < len(self.args) else otherwise

    def size(self, size: Any, *path: int | str) -> Any:
        """Note that the argument here is this size."""
        self.told[path] = size
        return size

    def literals(self, position: int) -> tuple[Any, ...]:
        """A list of sizes of which nothing else is known."""
        return tuple(self.size(self.sizes.literal(n), position, k) for k, n in enumerate(self.args[position]))


Rule = Callable[[Call], Any]
RULES: dict[str, Rule] = {}


def rule(*packets: str) -> Callable[[Rule], Rule]:
    def enter(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(packets, function))
        return function

    return enter


def rule_of(operator: str) -> Rule | None:
    """The rule of an operator, None where there is none."""
    return RULES.get(packet(operator))


# --------------------------------------------------------------------------------------------------- element by element

POINTWISE = (
    "add", "sub", "rsub", "mul", "div", "pow", "maximum", "minimum", "neg", "abs", "exp", "log", "sin", "cos", "tanh",
    "sigmoid", "silu", "gelu", "relu", "erf", "sqrt", "rsqrt", "square", "reciprocal", "lt", "le", "gt", "ge", "eq",
    "ne", "bitwise_and", "bitwise_or", "bitwise_not", "bitwise_xor", "logical_and", "logical_or", "logical_not",
    "where", "masked_fill", "clamp", "clone", "detach", "alias", "_to_copy", "gelu_backward", "silu_backward",
    "sigmoid_backward", "tanh_backward", "threshold_backward", "_softmax_backward_data", "_log_softmax_backward_data",
)


@rule(*(f"aten.{name}" for name in POINTWISE))
def pointwise(call: Call) -> Any:
    return broadcast(call.sizes, call.shapes())


def broadcast(sizes: Algebra[Any], shapes: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The shape that shapes have in common; a size of 1 goes with any other."""
    rank = max((len(shape) for shape in shapes), default=0)
    out = []
    for d in range(-rank, 0):
        here = [shape[d] for shape in shapes if len(shape) >= -d]
        wide = [size for size in here if sizes.value(size) != 1]
        found = wide[0] if wide else here[0]
        for size in wide[1:]:
            found = sizes.same(found, size)
        out.append(found)
    return tuple(out)


@rule("aten._softmax", "aten._log_softmax", "aten.softmax", "aten.log_softmax")
def unchanged(call: Call) -> Any:
    return call.shape(0)


@rule("samesame.attention_of_group")
def attention(call: Call) -> Any:
    """query: [n, heads, d]; key, value: [m, 1, d]."""
    for position in (1, 2):
        call.sizes.same(call.shape(0)[-1], call.shape(position)[-1])
    call.sizes.same(call.shape(1)[0], call.shape(2)[0])
    return call.shape(0)


@rule("aten.native_dropout")
def dropout(call: Call) -> Any:
    return [call.shape(0), call.shape(0)]


# ----------------------------------------------------------------------------------------------------------- reductions


def reduced(shape: tuple[Any, ...], dims: Any, keep: bool) -> tuple[Any, ...]:
    given = range(len(shape)) if dims in (None, ()) else (dims,) if isinstance(dims, int) else dims
    chosen = [d % len(shape) for d in given]
    return tuple(1 if d in chosen else size for d, size in enumerate(shape) if keep or d not in chosen)


@rule("aten.sum", "aten.mean", "aten.amax", "aten.amin", "aten.prod", "aten.any", "aten.all")
def reduction(call: Call) -> Any:
    return reduced(call.shape(0), call.arg(1), bool(call.arg(2, call.kwargs.get("keepdim", False))))


@rule("aten.max", "aten.min")
def extremum(call: Call) -> Any:
    """Of all elements; of two tensors; along a dimension, with positions."""
    if len(call.args) == 1:
        return ()
    if isinstance(call.args[1], Node):
        return pointwise(call)
    shape = reduced(call.shape(0), call.args[1], bool(call.arg(2, False)))
    return [shape, shape]


@rule("aten.rms_norm", "aten.native_layer_norm")
def norm(call: Call) -> Any:
    shape = list(call.shape(0))
    over = len(call.args[1])
    for k in range(over):
        d = len(shape) - over + k
        for position in (2, 3):
            if isinstance(call.arg(position), Node):
                shape[d] = call.sizes.same(shape[d], call.shape(position)[k])
        call.size(shape[d], 1, k)
    if packet(call.node.operator) == "aten.rms_norm":
        return tuple(shape)
    rows = (*shape[: len(shape) - over], *(1,) * over)
    return [tuple(shape), rows, rows]


@rule("aten.native_layer_norm_backward")
def norm_backward(call: Call) -> Any:
    shape = broadcast(call.sizes, [call.shape(k) for k in (0, 1, 3, 4)])
    over = len(call.args[2])
    own = tuple(call.size(shape[len(shape) - over + k], 2, k) for k in range(over))
    broadcast(call.sizes, [own, *(call.shape(k) for k in (5, 6) if isinstance(call.arg(k), Node))])
    return [shape, own, own]


# --------------------------------------------------------------------------------------------------------- contractions


@rule("aten.mm")
def mm(call: Call) -> Any:
    (m, k), (k2, n) = call.shape(0), call.shape(1)
    call.sizes.same(k, k2)
    return m, n


@rule("aten.bmm")
def bmm(call: Call) -> Any:
    (b, m, k), (c, k2, n) = call.shape(0), call.shape(1)
    call.sizes.same(k, k2)
    return call.sizes.same(b, c), m, n


@rule("aten.addmm")
def addmm(call: Call) -> Any:
    (m, k), (k2, n) = call.shape(1), call.shape(2)
    call.sizes.same(k, k2)
    return broadcast(call.sizes, [call.shape(0), (m, n)])


@rule("aten.baddbmm")
def baddbmm(call: Call) -> Any:
    (b, m, k), (c, k2, n) = call.shape(1), call.shape(2)
    call.sizes.same(k, k2)
    return broadcast(call.sizes, [call.shape(0), (call.sizes.same(b, c), m, n)])


@rule("aten.linear")
def linear(call: Call) -> Any:
    *rows, k = call.shape(0)
    n, k2 = call.shape(1)
    call.sizes.same(k, k2)
    return (*rows, n)


@rule("aten.einsum")
def einsum(call: Call) -> Any:
    """Without `...`."""
    given, _, out = call.args[0].partition("->")
    sizes: dict[str, Any] = {}
    for letters, shape in zip(given.split(","), call.parts(1), strict=True):
        for letter, size in zip(letters, shape or (), strict=True):
            sizes[letter] = call.sizes.same(sizes[letter], size) if letter in sizes else size
    return tuple(sizes[letter] for letter in out)


# ------------------------------------------------------------------------------------------------------------ movements


@rule("aten.view", "aten._unsafe_view", "aten.reshape")
def view(call: Call) -> Any:
    """The sizes fall into groups of equal products, in order."""
    sizes, before = call.sizes, call.shape(0)
    values = [sizes.value(n) for n in before]
    wanted = list(call.args[1])
    if -1 in wanted:
        rest = prod(n for n in wanted if n != -1)
        wanted[wanted.index(-1)] = prod(values) // rest if rest else 0
    out: list[Any] = []
    i, j = 0, 0
    while i < len(values) or j < len(wanted):
        a, b = i, j
        here, there = 1, 1
        while True:
            if here == there and (i > a or j > b):
                break
            if here <= there and i < len(values):
                here *= values[i]
                i += 1
            elif j < len(wanted):
                there *= wanted[j]
                j += 1
            elif i < len(values):
                here *= values[i]
                i += 1
            else:
                raise Mismatch(f"{prod(values)} elements are taken for {prod(wanted)}")
        while j == b and j < len(wanted) and wanted[j] == 1 and here == 1:
            j += 1
        out += _group(sizes, before[a:i], wanted[b:j])
    for k, n in enumerate(call.args[1]):
        if n != -1:
            call.size(out[k], 1, k)
    return tuple(out)


def _group(sizes: Algebra[Any], before: Sequence[Any], wanted: Sequence[int]) -> list[Any]:
    big = [n for n in before if sizes.value(n) != 1]
    targets = [n for n in wanted if n != 1]
    found = iter(big if len(big) == len(targets) == 1 else sizes.factors(big, targets) if targets else [])
    return [1 if n == 1 else next(found) for n in wanted]


@rule("aten.t")
def t(call: Call) -> Any:
    return call.shape(0)[::-1]


@rule("aten.transpose")
def transpose(call: Call) -> Any:
    shape = list(call.shape(0))
    a, b = call.args[1:3]
    shape[a], shape[b] = shape[b], shape[a]
    return tuple(shape)


@rule("aten.permute")
def permute(call: Call) -> Any:
    return tuple(call.shape(0)[d] for d in call.args[1])


@rule("aten.unsqueeze")
def unsqueeze(call: Call) -> Any:
    shape = list(call.shape(0))
    shape.insert(call.args[1] % (len(shape) + 1), 1)
    return tuple(shape)


@rule("aten.expand")
def expand(call: Call) -> Any:
    """Dimensions of size 1 take the wanted size; the others keep theirs."""
    shape, wanted = call.shape(0), call.args[1]
    own = (*(1,) * (len(wanted) - len(shape)), *shape)
    out = []
    for k, (size, n) in enumerate(zip(own, wanted, strict=True)):
        if call.sizes.value(size) == 1 and n not in (-1, 1):
            size = call.sizes.literal(n)
        out.append(size if n == -1 else call.size(size, 1, k))
    return tuple(out)


@rule("aten.slice")
def slice_(call: Call) -> Any:
    shape, d = list(call.shape(0)), call.arg(1, 0) % len(call.shape(0))
    if call.arg(4, 1) != 1:
        n = call.sizes.value(shape[d])
        start, stop, step = slice(call.arg(2), call.arg(3), call.args[4]).indices(n)
        shape[d] = call.sizes.literal(len(range(start, stop, step)))
    else:
        shape[d] = _bounds(call, shape[d], 2)
    return tuple(shape)


def _bounds(call: Call, size: Any, position: int) -> Any:
    """The piece between the bounds at this position and the next; the bounds are sizes."""
    sizes, n = call.sizes, call.sizes.value(size)
    given = [call.arg(position), call.arg(position + 1)]
    start, stop, _ = slice(*given).indices(n)
    stop = max(start, stop)
    bounds = sorted({0, start, stop, n})
    pieces = dict(zip(bounds, sizes.cut(size, bounds), strict=False))
    for k, bound in enumerate(given):
        if bound is not None and 0 < bound <= n:
            call.size(sizes.total([pieces[b] for b in bounds if b < bound]) if bound < n else size, position + k)
    return sizes.total([pieces[b] for b in bounds if start <= b < stop])


@rule("aten.slice_scatter")
def slice_scatter(call: Call) -> Any:
    shape, d = list(call.shape(0)), call.arg(2, 0) % len(call.shape(0))
    if call.arg(5, 1) == 1:
        call.sizes.same(_bounds(call, shape[d], 3), call.shape(1)[d])
    for k, size in enumerate(call.shape(1)):
        if k != d:
            shape[k] = call.sizes.same(shape[k], size)
    return tuple(shape)


@rule("aten.select")
def select(call: Call) -> Any:
    d = call.args[1] % len(call.shape(0))
    return tuple(size for k, size in enumerate(call.shape(0)) if k != d)


@rule("aten.split_with_sizes")
def split(call: Call) -> Any:
    shape, d = call.shape(0), call.arg(2, 0) % len(call.shape(0))
    bounds = [sum(call.args[1][:k]) for k in range(len(call.args[1]) + 1)]
    pieces = call.sizes.cut(shape[d], bounds)
    return [
        (*shape[:d], call.size(piece, 1, k), *shape[d + 1 :]) for k, piece in enumerate(pieces)
    ]


@rule("aten.cat")
def cat(call: Call) -> Any:
    shapes = [shape for shape in call.parts(0) if shape is not None]
    d = call.arg(1, 0) % len(shapes[0])
    rest = broadcast(call.sizes, [(*shape[:d], 1, *shape[d + 1 :]) for shape in shapes])
    return (*rest[:d], call.sizes.total([shape[d] for shape in shapes]), *rest[d + 1 :])


# ------------------------------------------------------------------------------------------------------------- indexing


@rule("aten.embedding")
def embedding(call: Call) -> Any:
    return (*call.shape(1), *call.shape(0)[1:])


@rule("aten.index_select")
def index_select(call: Call) -> Any:
    shape, d = call.shape(0), call.args[1] % len(call.shape(0))
    return (*shape[:d], *call.shape(2), *shape[d + 1 :])


@rule("aten.embedding_dense_backward")
def embedding_backward(call: Call) -> Any:
    grad, indices = call.shape(0), call.shape(1)
    broadcast(call.sizes, [grad[: len(indices)], indices])
    return (call.size(call.sizes.literal(call.args[2]), 2), *grad[len(indices) :])


@rule("aten.index")
def index(call: Call) -> Any:
    """The block of the index tensors stands where the first of them does if they are neighbours, else in front."""
    shape, indices = call.shape(0), call.parts(1)
    at = [d for d, given in enumerate(indices) if given is not None]
    block = broadcast(call.sizes, [given for given in indices if given is not None])
    start = at[0] if at == list(range(at[0], at[-1] + 1)) else 0
    kept = [size for d, size in enumerate(shape) if d not in at]
    return (*kept[:start], *block, *kept[start:])


@rule("aten.index_put")
def index_put(call: Call) -> Any:
    broadcast(call.sizes, [index(call), call.shape(2)])
    return call.shape(0)


# ------------------------------------------------------------------------------------------------------------ factories


@rule("aten.full", "aten.zeros", "aten.ones", "aten.empty")
def factory(call: Call) -> Any:
    return call.literals(0)


@rule("aten.arange")
def arange(call: Call) -> Any:
    """From 0, or between numbers."""
    start, stop = (0, call.args[0]) if len(call.args) == 1 else call.args[:2]
    n = call.sizes.literal(stop - start)
    return (call.size(n, len(call.args[:2]) - 1) if start == 0 else n,)


@rule("aten.scalar_tensor")
def scalar(call: Call) -> Any:
    return ()


# ---------------------------------------------------------------------------------------------------------- collectives


@rule("collective.all_reduce", "collective.broadcast", "collective.reduce")
def as_given(call: Call) -> Any:
    return call.shape(0)


@rule("collective.all_gather")
def all_gather(call: Call) -> Any:
    """Every rank gives as much as this one, where the sizes say so; what others give is a number else."""
    shape, d = call.shape(0), call.kwargs["dim"]
    own = call.sizes.value(shape[d])
    parts = [shape[d] if n == own else call.sizes.literal(n) for n in call.kwargs["sizes"]]
    for k, part in enumerate(parts):
        call.size(part, "sizes", k)
    return (*shape[:d], call.sizes.total(parts), *shape[d + 1 :])


@rule("collective.reduce_scatter")
def reduce_scatter(call: Call) -> Any:
    shape, d, given = call.shape(0), call.kwargs["dim"], call.kwargs["sizes"]
    pieces = call.sizes.cut(shape[d], [sum(given[:k]) for k in range(len(given) + 1)])
    for k, piece in enumerate(pieces):
        call.size(piece, "sizes", k)
        if given[k] == given[0]:
            call.sizes.same(pieces[0], piece)
    mine = call.node.shape[d]
    return (*shape[:d], pieces[given.index(mine)], *shape[d + 1 :])
