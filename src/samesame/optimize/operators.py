"""What operators of torch mean as forms: one row for each family.

A row takes the reader, then the operator's arguments in the order of torch's schema (values for tensors) with keywords
for the rest, and returns a value. Its dtype is not looked at: the program's is taken. A row raises `Unsupported` where
it does not express what it is given; the operator then stays a call of torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any

import torch

from samesame.formula.equal import deep_recursion
from samesame.formula.expr import Unsupported
from samesame.formula.scalars import SCALARS
from samesame.graph import Graph
from samesame.optimize import forms as f
from samesame.optimize.forms import Form, Part, Place, along, base, number, walk
from samesame.optimize.reading import Reader, Value, row
from samesame.optimize.specification import Specification

HALF = Fraction(1, 2)

# ------------------------------------------------------------------------------------------------ pointwise

FUNCTIONS = ("silu", "relu", *SCALARS)              # torch calls all of them so
UNARY: dict[str, Callable[[Form], Form]] = {
    **{f"aten.{name}": partial(f.fn, name) for name in FUNCTIONS},
    "aten.neg": lambda x: f.times(number(-1), x),
    "aten.sqrt": lambda x: f.power(x, HALF), "aten.rsqrt": lambda x: f.power(x, -HALF),
    "aten.reciprocal": lambda x: f.power(x, -1), "aten.square": lambda x: f.power(x, 2),
    "aten.logical_not": lambda x: f.logic("not", x),
}
BINARY: dict[str, Callable[[Form, Form], Form]] = {
    "aten.maximum": partial(f.extremum, "max"), "aten.minimum": partial(f.extremum, "min"),
    "aten.lt": partial(f.compare, "<"), "aten.le": partial(f.compare, "≤"), "aten.eq": partial(f.compare, "="),
    "aten.gt": partial(f.compare, ">"), "aten.ge": partial(f.compare, "≥"), "aten.ne": partial(f.compare, "≠"),
    "aten.logical_and": partial(f.logic, "and"), "aten.logical_or": partial(f.logic, "or"),
}
BITWISE = {"aten.bitwise_and": "and", "aten.bitwise_or": "or", "aten.bitwise_not": "not"}
for _name, _function in UNARY.items():
    row(_name)(lambda r, x, *settings, of=_function: r.pointwise(of, _real(r, x, settings)))
for _name, _both in BINARY.items():
    row(_name)(lambda r, x, y, of=_both: r.pointwise(of, x, y))


for _name, _op in BITWISE.items():
    row(_name)(lambda r, *xs, op=_op: r.pointwise(partial(f.logic, op), *_truths(r, xs)))


def _truths(r: Reader, xs: Sequence[Any]) -> Sequence[Any]:
    if any(r.kind(x) != "bool" for x in xs):
        raise Unsupported("arithmetic of bits")
    return xs


def _real(r: Reader, x: Any, settings: tuple[Any, ...] = ()) -> Any:
    """The operand, where nothing but its real value matters."""
    if r.kind(x) != "real" and isinstance(x, Value) and r.kind(x) != "bool":
        raise Unsupported("arithmetic of integers")
    if settings not in ((), (1, 20)):
        raise Unsupported("a function with settings")
    return x


@row("aten.gelu")
def gelu(r: Reader, x: Value, *, approximate: str = "none") -> Value:
    return r.pointwise(partial(f.fn, "gelu_tanh" if approximate == "tanh" else "gelu"), x)


@row("aten.elu")
def elu(r: Reader, x: Value, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Value:
    if (alpha, scale, input_scale) != (1, 1, 1):
        raise Unsupported("an elu with settings")
    return r.pointwise(partial(f.fn, "elu"), x)


def _scaled(x: Form, factor: Any) -> Form:
    return f.times(number(factor), x)


def _numbers(r: Reader, *operands: Any) -> None:
    if all(r.kind(x) == "bool" for x in operands):
        raise Unsupported("arithmetic of booleans")


@row("aten.add")
def add(r: Reader, x: Any, y: Any, *, alpha: float = 1) -> Value:
    _numbers(r, x, y)
    if isinstance(y, Value) and _negative(y.form):
        return sub(r, x, r.pointwise(lambda b: _scaled(b, -1), y), alpha=alpha)
    return r.pointwise(lambda a, b: f.plus(a, _scaled(b, alpha)), x, y)


def _negative(x: Form) -> bool:
    return x.operator == "times" and f.finite(x.arguments[0]) and x.arguments[0].attributes[0] < 0


@row("aten.sub")
def sub(r: Reader, x: Any, y: Any, *, alpha: float = 1) -> Value:
    return r.pointwise(lambda a, b: f.minus(a, _scaled(b, alpha)), x, y)


@row("aten.rsub")
def rsub(r: Reader, x: Any, y: Any, alpha: float = 1) -> Value:
    return r.pointwise(lambda a, b: f.minus(b, _scaled(a, alpha)), x, y)


@row("aten.mul")
def mul(r: Reader, x: Any, y: Any) -> Value:
    _numbers(r, x, y)
    return r.pointwise(_product, x, y)


def _product(a: Form, b: Form) -> Form:
    return f.power(a, 2) if a is b else f.times(a, b)


@row("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide.Tensor")
def div(r: Reader, x: Any, y: Any) -> Value:
    return r.pointwise(lambda a, b: f.times(a, f.power(b, -1)), x, y)


@row("aten.pow.Tensor_Scalar")
def power(r: Reader, x: Value, exponent: float) -> Value:
    q = Fraction(repr(exponent))
    if q == 0 or q.denominator > 2 or abs(q) > 4:
        raise Unsupported("a power")
    return r.pointwise(lambda a: f.power(a, q), _real(r, x))


@row("aten.clamp.default", "aten.clamp_min.default", "aten.clamp_max.default")
def clamp(r: Reader, x: Value, low: float | None = None, high: float | None = None) -> Value:
    if isinstance(low, Value) or isinstance(high, Value):
        raise Unsupported("limits that are tensors")
    at_least = x if low is None else r.pointwise(partial(f.extremum, "max"), x, low)
    return at_least if high is None else r.pointwise(partial(f.extremum, "min"), at_least, high)


@row("aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.Scalar")
def where(r: Reader, condition: Value, x: Any, y: Any) -> Value:
    return r.pointwise(f.where, condition, x, y)


@row("aten.masked_fill")
def masked_fill(r: Reader, x: Value, mask: Value, value: Any) -> Value:
    return r.pointwise(lambda a, m, v: f.where(m, v, a), x, mask, value)


@row("aten._to_copy", "aten.to.dtype")
def to(r: Reader, x: Value, dtype: Any = None, *_: Any, **settings: Any) -> Value:
    dtype = dtype or settings.get("dtype")
    if dtype is None or dtype.name == x.dtype:
        return x
    if "float" not in dtype.name:
        raise Unsupported("a cast to integers")
    if r.kind(x) == "bool":
        return r.pointwise(lambda a: f.where(a, number(1), number(0)), x)
    return r.pointwise(partial(f.cast, dtype.name), x)


# ------------------------------------------------------------------------------------------------ folds


def _dims(x: Value, dim: Any) -> list[int]:
    listed = list(range(x.rank)) if dim is None or dim == () else [dim] if isinstance(dim, int) else list(dim)
    return [d % x.rank for d in listed]


@row("aten.sum.dim_IntList", "aten.sum.default")
def total(r: Reader, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    dims = _dims(_real(r, _as(r, x, dtype)), dim)
    axes = [axis for d in dims for axis in x.dims[d]]
    return Value(r.summed(axes, x.form), r.reduced(x, dims, keepdim), x.dtype)


@row("aten.mean.dim", "aten.mean.default")
def mean(r: Reader, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    x = _as(r, x, dtype)
    dims = _dims(x, dim)
    return Value(_mean(r, x.form, [a for d in dims for a in x.dims[d]]), r.reduced(x, dims, keepdim), x.dtype)


def _mean(r: Reader, x: Form, axes: Sequence[str]) -> Form:
    return f.times(f.power(f.extent(*axes), -1), r.summed(axes, x))


def _as(r: Reader, x: Value, dtype: Any) -> Value:
    return x if dtype is None else to(r, x, dtype)


@row("aten.amax")
def amax(r: Reader, x: Value, dim: Any = (), keepdim: bool = False) -> Value:
    dims = _dims(x, dim)
    return Value(f.fold("max", [a for d in dims for a in x.dims[d]], x.form), r.reduced(x, dims, keepdim), x.dtype)


@row("aten.amin")
def amin(r: Reader, x: Value, dim: Any = (), keepdim: bool = False) -> Value:
    """−max −x: sums and maxima are all that kernels fold."""
    if r.kind(x) != "real":
        raise Unsupported("the least of integers")
    negated = partial(_scaled, factor=-1)
    return r.pointwise(negated, amax(r, r.pointwise(negated, x), dim, keepdim))


@row("aten.linalg_vector_norm")
def norm(r: Reader, x: Value, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    if ord != 2 or dtype is not None:
        raise Unsupported("a norm that is not the Euclidean one")
    squares = total(r, r.pointwise(lambda a: f.power(a, 2), x), dim, keepdim)
    return r.pointwise(lambda a: f.power(a, HALF), squares)


@row("aten.logsumexp")
def logsumexp(r: Reader, x: Value, dim: Any, keepdim: bool = False) -> Value:
    """The maximum, and the logarithm of what is left."""
    dims = _dims(x, dim)
    axes = [a for d in dims for a in x.dims[d]]
    most = f.fold("max", axes, x.form)
    rest = f.fn("log", f.fold("sum", axes, f.fn("exp", f.minus(x.form, most))))
    return Value(f.plus(most, rest), r.reduced(x, dims, keepdim), x.dtype)


@row("aten.var.correction")
def var(r: Reader, x: Value, dim: Any = None, *, correction: float | None = None, keepdim: bool = False) -> Value:
    """The mean of the squares of differences from the mean: two passes."""
    dims = _dims(x, dim)
    axes = [a for d in dims for a in x.dims[d]]
    squares = r.summed(axes, f.power(f.minus(x.form, _mean(r, x.form, axes)), 2))
    less = 1 if correction is None else correction
    count = f.extent(*axes) if not less else f.minus(f.extent(*axes), number(less))
    return Value(f.times(squares, f.power(count, -1)), r.reduced(x, dims, keepdim), x.dtype)


def softmax_of(x: Form, axes: Sequence[str]) -> Form:
    """exp(x − max x) / Σ exp(x − max x)."""
    raised = f.fn("exp", f.minus(x, f.fold("max", axes, x)))
    return f.times(raised, f.power(f.fold("sum", axes, raised), -1))


@row("aten.softmax.int", "aten._softmax", "aten.special_softmax")
def softmax(r: Reader, x: Value, dim: int, dtype: Any = None) -> Value:
    x = _as(r, x, dtype if not isinstance(dtype, bool) else None)
    return Value(softmax_of(x.form, x.dims[dim]), x.dims, x.dtype)


@row("aten.log_softmax.int", "aten._log_softmax")
def log_softmax(r: Reader, x: Value, dim: int, dtype: Any = None) -> Value:
    x = _as(r, x, dtype if not isinstance(dtype, bool) else None)
    lowered = f.minus(x.form, f.fold("max", x.dims[dim], x.form))
    return Value(f.minus(lowered, f.fn("log", f.fold("sum", x.dims[dim], f.fn("exp", lowered)))), x.dims, x.dtype)


@row("aten.rms_norm")
def rms_norm(r: Reader, x: Value, shape: Sequence[int], weight: Value | None = None, eps: Any = None) -> Value:
    dims = range(x.rank - len(shape), x.rank)
    if eps is None and x.dtype not in ("float32", "float64"):
        raise Unsupported("an epsilon of the dtype")
    square = _mean(r, f.power(x.form, 2), [a for d in dims for a in x.dims[d]])
    epsilon = torch.finfo(getattr(torch, x.dtype)).eps if eps is None else eps
    scale = f.power(f.plus(square, number(float(epsilon))), -HALF)
    normal = Value(f.times(x.form, scale), x.dims, x.dtype)
    return normal if weight is None else mul(r, normal, weight)


@row("aten.layer_norm")
def layer_norm(
    r: Reader, x: Value, shape: Sequence[int], weight: Value | None = None, bias: Value | None = None,
    eps: float = 1e-05, *_: Any,
) -> Value:
    axes = [a for d in range(x.rank - len(shape), x.rank) for a in x.dims[d]]
    middle = f.minus(x.form, _mean(r, x.form, axes))
    scale = f.power(f.plus(_mean(r, f.power(middle, 2), axes), number(float(eps))), -HALF)
    normal = Value(f.times(middle, scale), x.dims, x.dtype)
    normal = normal if weight is None else mul(r, normal, weight)
    return normal if bias is None else add(r, normal, bias)


@row("aten.batch_norm")
def batch_norm(
    r: Reader, x: Value, weight: Value | None, bias: Value | None, mean: Value | None, variance: Value | None,
    training: bool, momentum: float, eps: float, *_: Any,
) -> Value:
    """By what was measured in training; each number is of a channel."""
    if training or mean is None or variance is None:
        raise Unsupported("statistics of a batch")

    def channel(value: Value) -> Value:
        return Value(value.form, (*value.dims, *[()] * (x.rank - 2)), value.dtype)

    scale = r.pointwise(lambda v: f.power(f.plus(v, number(float(eps))), -HALF), channel(variance))
    normal = mul(r, sub(r, x, channel(mean)), scale)
    normal = normal if weight is None else mul(r, normal, channel(weight))
    return normal if bias is None else add(r, normal, channel(bias))


# ------------------------------------------------------------------------------------------------ contractions


@row("aten.linear")
def linear(r: Reader, x: Value, w: Value, bias: Value | None = None) -> Value:
    batch = [("b", d) for d in range(x.rank - 1)]
    product = r.contracted((x, w), ([*batch, "k"], ["n", "k"]), [*batch, "n"])
    return product if bias is None else add(r, product, bias)


@row("aten.matmul", "aten.mm", "aten.bmm", "aten.mv", "aten.dot")
def matmul(r: Reader, x: Value, y: Value) -> Value:
    rows, columns = (["m"] if x.rank > 1 else []), (["n"] if y.rank > 1 else [])
    batches = [[("b", k - z.rank) for k in range(z.rank - 2)] for z in (x, y)]
    out = max(batches, key=len)
    inner = [*columns, "k"][::-1] if columns else ["k"]
    labels = [*batches[0], *rows, "k"], [*batches[1], *inner]
    return r.contracted((x, y), labels, [*out, *rows, *columns])


@row("aten.addmm", "aten.baddbmm", "aten.addmv")
def addmm(r: Reader, x: Value, a: Value, b: Value, *, beta: float = 1, alpha: float = 1) -> Value:
    product = mul(r, matmul(r, a, b), alpha) if alpha != 1 else matmul(r, a, b)
    return add(r, product, mul(r, x, beta) if beta != 1 else x)


@row("aten.einsum")
def einsum(r: Reader, equation: str, operands: Sequence[Value], *_: Any, **__: Any) -> Value:
    inputs, arrow, out = equation.replace(" ", "").partition("->")
    labels = inputs.split(",")
    if "." in equation or not arrow or any(len(set(own)) < len(own) for own in labels):
        raise Unsupported("an einsum with an ellipsis or a diagonal")
    return r.contracted(operands, labels, out)


@row("aten.scaled_dot_product_attention")
def attention(
    r: Reader, q: Value, k: Value, v: Value, mask: Value | None = None, dropout: float = 0.0, causal: bool = False, *,
    scale: float | None = None, enable_gqa: bool = False,
) -> Value:
    if dropout or not q.rank == k.rank == v.rank:
        raise Unsupported("attention with dropout")
    batch = [("b", d) for d in range(q.rank - 2)]
    grouped = enable_gqa and r.size(q.dims[-3]) != r.size(k.dims[-3])
    if grouped and mask is not None:
        raise Unsupported("a mask for groups of heads")
    shape = r.shape(q)
    rows = [*batch, "g"] if grouped else batch             # each head of keys serves a run of heads of queries
    if grouped:
        heads = r.size(k.dims[-3])
        q = reshape(r, q, (*shape[:-3], heads, shape[-3] // heads, *shape[-2:]))
    product = r.contracted((q, k), ([*rows, "t", "e"], [*batch, "s", "e"]), [*rows, "t", "s"])
    size = f.power(f.extent(*q.dims[-1]), -HALF) if scale is None else number(float(scale))
    scores = r.pointwise(lambda x: f.times(size, x), product)
    if causal:
        (t,), (s,) = scores.dims[-2:]
        seen = f.compare("≤", f.position(s), f.position(t))
        scores = Value(f.where(seen, scores.form, f.number(f.Infinity)), scores.dims, scores.dtype)
    if mask is not None:
        boolean = r.kind(mask) == "bool"
        hide = (lambda x, m: f.where(m, x, number(f.Infinity))) if boolean else f.plus
        scores = r.pointwise(hide, scores, mask)
    weights = Value(softmax_of(scores.form, scores.dims[-1]), scores.dims, scores.dtype)
    if mask is not None:                                   # a row that is hidden whole gives zeros
        hidden = f.compare("=", f.fold("max", scores.dims[-1], scores.form), number(f.Infinity))
        weights = Value(f.where(hidden, number(0), weights.form), weights.dims, weights.dtype)
    result = r.contracted((weights, v), ([*rows, "t", "s"], [*batch, "s", "v"]), [*rows, "t", "v"])
    return reshape(r, result, (*shape[:-1], r.size(v.dims[-1]))) if grouped else result


# ------------------------------------------------------------------------------------------------ views


def _moved(x: Value, dims: Sequence[tuple[str, ...]]) -> Value:
    return Value(x.form, tuple(dims), x.dtype)


@row("aten.permute")
def permute(r: Reader, x: Value, order: Sequence[int]) -> Value:
    return _moved(x, [x.dims[d] for d in order])


@row("aten.transpose.int")
def transpose(r: Reader, x: Value, a: int, b: int) -> Value:
    order = list(range(x.rank))
    order[a], order[b] = order[b], order[a]
    return permute(r, x, order)


@row("aten.t")
def t(r: Reader, x: Value) -> Value:
    return _moved(x, x.dims[::-1])


@row("aten.unsqueeze")
def unsqueeze(r: Reader, x: Value, dim: int) -> Value:
    at = dim % (x.rank + 1)
    return _moved(x, [*x.dims[:at], (), *x.dims[at:]])


@row("aten.squeeze")
def squeeze(r: Reader, x: Value, dim: Any = None) -> Value:
    gone = [d for d in _dims(x, dim) if r.size(x.dims[d]) == 1]
    places = {axis: Place() for d in gone for axis in x.dims[d]}
    return r.read_at(x, places, [axes for d, axes in enumerate(x.dims) if d not in gone])


@row("aten.expand")
def expand(r: Reader, x: Value, shape: Sequence[int], **_: Any) -> Value:
    places: dict[str, Place] = {}
    dims: list[tuple[str, ...]] = []
    for k, size in enumerate(shape):
        d = k - (len(shape) - x.rank)
        own = x.dims[d] if d >= 0 else ()
        if size in (-1, r.size(own)):
            dims.append(own)
        else:
            places.update(dict.fromkeys(own, Place()))
            dims.append((r.axis(size),))
    return r.read_at(x, places, dims)


@row("aten.reshape", "aten.view", "aten._unsafe_view", "aten.flatten.using_ints")
def reshape(r: Reader, x: Value, shape: Sequence[int], *rest: int) -> Value:
    """The same axes in other groups; an axis is split where a group ends within it."""
    if rest or not isinstance(shape, tuple):
        raise Unsupported("flatten")
    left, places, dims = [axis for dim in x.dims for axis in dim][::-1], dict[str, Place](), list[tuple[str, ...]]()
    for size in shape:
        group, have = list[str](), 1
        while left and (have < size or (size == 1 and not group and r.size([left[-1]]) == 1)):
            axis = left.pop()
            if size % (have * r.size([axis])):
                axis, rest_of_it = _split(r, axis, size // have, places)
                left.append(rest_of_it)
            group.append(axis)
            have *= r.size([axis])
        dims.append(tuple(group))
    places.update(dict.fromkeys((a for a in left if r.size([a]) == 1), Place()))
    return r.read_at(x, places, dims)


def _split(r: Reader, axis: str, outer: int, places: dict[str, Place]) -> tuple[str, str]:
    high, low = r.halves(axis, outer)
    for known, place in places.items():
        places[known] = place.put({axis: f.digits((high, low))})
    places.setdefault(axis, f.digits((high, low)))
    return high, low


@row("aten.slice.Tensor")
def cut(r: Reader, x: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Value:
    size, d = r.size(x.dims[dim]), dim % x.rank
    start, end, step = slice(start, end, step).indices(size)
    return _window(r, x, d, start, len(range(start, end, step)), step)


def _window(r: Reader, x: Value, d: int, start: int, length: int, step: int = 1) -> Value:
    """`length` elements from `start` on: along one axis, or of several whole rounds of all but the first."""
    axis, *inner = x.dims[d] or ("",)
    rounds = r.size(inner)
    if not axis or not length or (inner and (start % rounds or length % rounds or step != 1)):
        raise Unsupported("a slice of a dimension of several axes")
    part, first = r.window(axis, length // rounds, step), start // rounds
    return r.read_at(x, {axis: Place((Part(part, step),), first)}, [*x.dims[:d], (part, *inner), *x.dims[d + 1 :]])


@row("aten.select.int")
def select(r: Reader, x: Value, dim: int, index: int) -> Value:
    d, places = dim % x.rank, dict[str, Place]()
    rest = index % max(r.size(x.dims[d]), 1)
    for axis in reversed(x.dims[d]):
        rest, digit = divmod(rest, r.size([axis]))
        places[axis] = Place((), digit)
    return r.read_at(x, places, [axes for k, axes in enumerate(x.dims) if k != d])


@row("aten.unbind.int")
def unbind(r: Reader, x: Value, dim: int = 0) -> tuple[Value, ...]:
    return tuple(select(r, x, dim, index) for index in range(r.size(x.dims[dim])))


@row("aten.split.Tensor")
def split(r: Reader, x: Value, size: int, dim: int = 0) -> tuple[Value, ...]:
    d = dim % x.rank
    whole = r.size(x.dims[d])
    return tuple(_window(r, x, d, start, min(size, whole - start)) for start in range(0, whole, size))


@row("aten.split_with_sizes")
def split_with_sizes(r: Reader, x: Value, sizes: Sequence[int], dim: int = 0) -> tuple[Value, ...]:
    return tuple(_window(r, x, dim % x.rank, sum(sizes[:k]), size) for k, size in enumerate(sizes))


@row("aten.cat")
def cat(r: Reader, xs: Sequence[Value], dim: int = 0) -> Value:
    d = dim % xs[0].rank
    labels = [[("part", k) if own == d else own for own in range(x.rank)] for k, x in enumerate(xs)]
    forms, axes = r.labelled(xs, labels)
    if any(len(axes["part", k]) > 1 for k in range(len(xs))):
        raise Unsupported("a concatenation along several axes")
    parts = [axes["part", k][0] if axes["part", k] else None for k in range(len(xs))]
    whole = r.axis(sum(1 if part is None else r.size([part]) for part in parts))
    dims = tuple((whole,) if own == d else axes[own] for own in range(xs[0].rank))
    return Value(f.concat(whole, parts, forms), dims, xs[0].dtype)


@row("aten.stack")
def stack(r: Reader, xs: Sequence[Value], dim: int = 0) -> Value:
    return cat(r, [unsqueeze(r, x, dim) for x in xs], dim % (xs[0].rank + 1))


@row("aten.diag_embed")
def diagonal(r: Reader, x: Value, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Value:
    if offset or (dim1, dim2) != (-2, -1) or len(x.dims[-1]) != 1:
        raise Unsupported("a diagonal beside the main one")
    (axis,) = x.dims[-1]
    other = f.fresh(axis, [a for dim in x.dims for a in dim])
    on = f.compare("=", f.position(axis), f.position(other))
    return Value(f.where(on, x.form, number(0)), (*x.dims, (other,)), x.dtype)


@row("aten.tril")
def tril(r: Reader, x: Value, diagonal: int = 0) -> Value:
    return _triangle(x, diagonal, lambda i, j, d: f.compare("≤", f.position(j), f.plus(f.position(i), number(d))))


@row("aten.triu")
def triu(r: Reader, x: Value, diagonal: int = 0) -> Value:
    return _triangle(x, diagonal, lambda i, j, d: f.compare("≤", f.plus(f.position(i), number(d)), f.position(j)))


def _triangle(x: Value, diagonal: int, seen: Callable[[str, str, int], Form]) -> Value:
    if any(len(dim) != 1 for dim in x.dims[-2:]):
        raise Unsupported("a triangle of several axes")
    (i,), (j,) = x.dims[-2:]
    inside = seen(i, j, diagonal)
    kept = f.logic("and", inside, x.form) if x.dtype == "bool" else f.where(inside, x.form, number(0))
    return Value(kept, x.dims, x.dtype)


# ------------------------------------------------------------------------------------------------ numbers and positions


@row("aten.arange.default")
def arange(r: Reader, end: int, **_: Any) -> Value:
    axis = r.axis(end)
    return Value(f.position(along(axis)), ((axis,),), "int64")


@row("aten.arange.start")
def arange_from(r: Reader, start: int, end: int, **_: Any) -> Value:
    axis = r.axis(end - start)
    return Value(f.position(Place((Part(axis),), start)), ((axis,),), "int64")


@row("aten.full")
def full(r: Reader, shape: Sequence[int], value: Any, *, dtype: Any = None) -> Value:
    boolean = isinstance(value, bool) or (dtype is not None and dtype.name == "bool")
    form = r.lifted(value).form if not boolean else f.TRUE if value else f.logic("not", f.TRUE)
    return Value(form, tuple((r.axis(size),) for size in shape), "float32")


row("aten.zeros")(lambda r, shape, *, dtype=None: full(r, shape, 0, dtype=dtype))
row("aten.ones")(lambda r, shape, *, dtype=None: full(r, shape, 1, dtype=dtype))
row("aten.scalar_tensor")(lambda r, value, *, dtype=None: full(r, (), value, dtype=dtype))


# ------------------------------------------------------------------------------------------------ the whole graph


def read(graph: Graph, until: float = inf) -> Specification:
    """The captured graph as forms. Raises Unsupported where that takes longer than until then, on time.monotonic."""
    with deep_recursion():
        reader = Reader(graph, until)
    outputs = tuple(reader.output(name, reader.values[node]) for name, node in graph.roots)
    forms = list(walk(*(x.form for x in (*reader.arguments, *outputs))))
    used = {form.attributes[0] for form in forms if form.operator == "load"}
    names = set(reader.extents).union(*(form.axes for form in forms))
    tensors = {name: tensor for name, tensor in reader.tensors.items() if name in used or tensor.role == "input"}
    return Specification(
        graph.name, tensors, {axis: reader.extents[base(axis)] for axis in sorted(names)}, outputs,
        tuple(reader.calls), tuple(node.name for node in graph.sources("input")),
    )
