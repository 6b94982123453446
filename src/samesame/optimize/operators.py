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

from samesame.formula.expr import Unsupported
from samesame.graph import Dtype
from samesame.operators.contraction import letters_of
from samesame.operators.positions import EXACT
from samesame.optimize import forms as f
from samesame.optimize.counted import COUNTED
from samesame.optimize.forms import Form, Part, Place, number
from samesame.optimize.pointwise import HALF, add, mul, real, scaled, sub, to
from samesame.optimize.reading import Reader, Value, row

# ------------------------------------------------------------------------------------------------ folds


def dims_of(x: Value, dim: Any) -> list[int]:
    """Dimensions as numbers from 0 on; all of them where none is named."""
    listed = list(range(x.rank)) if dim is None or dim == () else [dim] if isinstance(dim, int) else list(dim)
    return [d % x.rank for d in listed] if x.rank else []           # a number has a dimension to torch, which is none


def axes_of(x: Value, dim: Any) -> list[str]:
    """The axes of these dimensions."""
    return [axis for d in dims_of(x, dim) for axis in x.dims[d]]


@row("aten.sum.dim_IntList", "aten.sum.default")
def total(r: Reader, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    """Truths are counted, in float32: no more than that has whole numbers."""
    x = real(r, _as(r, x, dtype))
    if r.kind(x) == "bool":
        if dtype is not None or r.size(axes_of(x, dim)) > COUNTED:
            raise Unsupported("a truth of truths, or a count beyond 2²⁴")
        x = to(r, x, Dtype("int64"))
    return Value(r.summed(axes_of(x, dim), x.form), r.reduced(x, dims_of(x, dim), keepdim), x.dtype)


@row("aten.mean.dim", "aten.mean.default")
def mean(r: Reader, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    x = _as(r, x, dtype)
    return Value(mean_of(r, x.form, axes_of(x, dim)), r.reduced(x, dims_of(x, dim), keepdim), x.dtype)


def mean_of(r: Reader, x: Form, axes: Sequence[str]) -> Form:
    """1/|k| · Σ_k x."""
    return f.times(f.power(f.extent(*axes), -1), r.summed(axes, x))


def _as(r: Reader, x: Value, dtype: Any) -> Value:
    return x if dtype is None else to(r, x, dtype)


@row("aten.amax")
def amax(r: Reader, x: Value, dim: Any = (), keepdim: bool = False) -> Value:
    """In kernels it is kept as a real, in which large integers are one."""
    if r.kind(x) != "real":
        raise Unsupported("the largest of integers or booleans")
    return Value(f.fold("max", axes_of(x, dim), x.form), r.reduced(x, dims_of(x, dim), keepdim), x.dtype)


@row("aten.amin")
def amin(r: Reader, x: Value, dim: Any = (), keepdim: bool = False) -> Value:
    """−max −x: sums and maxima are all that kernels fold."""
    negated = partial(scaled, factor=-1)
    return r.pointwise(negated, amax(r, r.pointwise(negated, x), dim, keepdim))


def largest(r: Reader, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, None]:
    """Of a dimension; where it stands is not expressed."""
    return amax(r, x, dim, keepdim), None


def smallest(r: Reader, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, None]:
    """Of a dimension; where it stands is not expressed."""
    return amin(r, x, dim, keepdim), None


def _real(r: Reader, x: Value) -> Value:
    if r.kind(x) != "real":
        raise Unsupported("the largest of integers or booleans")
    return x


row("aten.max.dim")(largest)
row("aten.min.dim")(smallest)


@row("aten.aminmax")
def ends(r: Reader, x: Value, *, dim: int | None = None, keepdim: bool = False) -> tuple[Value, Value]:
    every = () if dim is None else dim
    return amin(r, x, every, keepdim), amax(r, x, every, keepdim)


@row("aten.linalg_vector_norm")
def norm(r: Reader, x: Value, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    if ord not in (1, 2, inf) or dtype is not None:
        raise Unsupported("a norm of another power")
    if ord != 2:
        return (total if ord == 1 else amax)(r, r.pointwise(partial(f.fn, "abs"), x), dim or (), keepdim)
    squares = total(r, r.pointwise(lambda a: f.power(a, 2), x), dim, keepdim)
    return r.pointwise(lambda a: f.power(a, HALF), squares)


@row("aten.norm.ScalarOpt_dim", "aten.norm.Scalar")
def old_norm(r: Reader, x: Value, ord: Any, dim: Any = None, keepdim: bool = False) -> Value:
    return norm(r, x, 2 if ord is None else ord, dim, keepdim)


@row("aten.logsumexp")
def logsumexp(r: Reader, x: Value, dim: Any, keepdim: bool = False) -> Value:
    """The maximum, and the logarithm of what is left."""
    dims, axes = dims_of(x, dim), axes_of(x, dim)
    most = f.fold("max", axes, x.form)
    rest = f.fn("log", f.fold("sum", axes, f.fn("exp", f.minus(x.form, most))))
    return Value(f.plus(most, rest), r.reduced(x, dims, keepdim), x.dtype)


@row("aten.var.correction")
def var(r: Reader, x: Value, dim: Any = None, *, correction: float | None = None, keepdim: bool = False) -> Value:
    """The mean of the squares of differences from the mean: two passes."""
    dims, axes = dims_of(x, dim), axes_of(x, dim)
    squares = r.summed(axes, f.power(f.minus(x.form, mean_of(r, x.form, axes)), 2))
    less = 1 if correction is None else correction
    if less > r.size(axes):
        raise Unsupported("a variance of fewer numbers than are taken off")
    count = f.extent(*axes) if not less else f.minus(f.extent(*axes), number(less))
    return Value(f.times(squares, f.power(count, -1)), r.reduced(x, dims, keepdim), x.dtype)


@row("aten.std.correction")
def std(r: Reader, x: Value, dim: Any = None, *, correction: float | None = None, keepdim: bool = False) -> Value:
    return r.pointwise(lambda v: f.power(v, HALF), var(r, x, dim, correction=correction, keepdim=keepdim))


@row("aten.var_mean.correction")
def var_mean(r: Reader, x: Value, dim: Any = None, **settings: Any) -> tuple[Value, Value]:
    return var(r, x, dim, **settings), mean(r, x, dim, settings.get("keepdim", False))


@row("aten.std_mean.correction")
def std_mean(r: Reader, x: Value, dim: Any = None, **settings: Any) -> tuple[Value, Value]:
    return std(r, x, dim, **settings), mean(r, x, dim, settings.get("keepdim", False))


row("aten.max.default")(lambda r, x: amax(r, x))
row("aten.min.default")(lambda r, x: amin(r, x))


def softmax_of(x: Form, axes: Sequence[str]) -> Form:
    """exp(x − max x) / Σ exp(x − max x)."""
    raised = f.fn("exp", f.minus(x, f.fold("max", axes, x)))
    return f.times(raised, f.power(f.fold("sum", axes, raised), -1))


@row("aten.softmax.int", "aten._softmax", "aten.special_softmax")
def softmax(r: Reader, x: Value, dim: int, dtype: Any = None) -> Value:
    x = _as(r, x, dtype if not isinstance(dtype, bool) else None)
    return Value(softmax_of(x.form, axes_of(x, dim)), x.dims, x.dtype)


@row("aten.log_softmax.int", "aten._log_softmax")
def log_softmax(r: Reader, x: Value, dim: int, dtype: Any = None) -> Value:
    x = _as(r, x, dtype if not isinstance(dtype, bool) else None)
    axes = axes_of(x, dim)
    lowered = f.minus(x.form, f.fold("max", axes, x.form))
    return Value(f.minus(lowered, f.fn("log", f.fold("sum", axes, f.fn("exp", lowered)))), x.dims, x.dtype)


# ------------------------------------------------------------------------------------------------ contractions


@row("aten.linear")
def linear(r: Reader, x: Value, w: Value, bias: Value | None = None) -> Value:
    batch, rows = [("b", d) for d in range(x.rank - 1)], ["n"] if w.rank == 2 else []
    product = r.contracted((x, w), ([*batch, "k"], [*rows, "k"]), [*batch, *rows])
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
    """Nothing of the first, a NaN neither, where beta is 0."""
    product = mul(r, matmul(r, a, b), alpha) if alpha != 1 else matmul(r, a, b)
    return add(r, product, mul(r, x, beta) if beta != 1 else x) if beta else product


@row("aten.einsum")
def einsum(r: Reader, equation: str, operands: Sequence[Value], *_: Any, **__: Any) -> Value:
    """What has a letter twice is read along its diagonal."""
    return r.contracted(operands, *letters_of(equation, [x.rank for x in operands]))


@row("aten._trilinear")
def trilinear(
    r: Reader, x: Value, w: Value, y: Value, new_x: Sequence[int], new_w: Sequence[int], new_y: Sequence[int],
    summed: Sequence[int], *_: Any,
) -> Value:
    """The product of three tensors, which get new dimensions first, summed over some."""
    rank = x.rank + len(new_x)
    labels = [[d for d in range(rank) if d not in new] for new in (new_x, new_w, new_y)]
    return r.contracted((x, w, y), labels, [d for d in range(rank) if d not in summed])


@row("aten.linalg_cross")
def cross(r: Reader, x: Value, y: Value, *, dim: int = -1) -> Value:
    """x_{j+1}·y_{j+2} − x_{j+2}·y_{j+1}, counted around three."""
    xs, ys = unbind(r, _real(r, x), dim), unbind(r, _real(r, y), dim)
    return stack(r, [sub(r, mul(r, xs[(j + 1) % 3], ys[(j + 2) % 3]), mul(r, xs[(j + 2) % 3], ys[(j + 1) % 3]))
                     for j in range(3)], dim % max(x.rank, y.rank))


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
    for own, other in zip(dims_of(x, a), dims_of(x, b), strict=True):
        order[own], order[other] = other, own
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
    gone = [d for d in dims_of(x, dim) if r.size(x.dims[d]) == 1]
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
                axis, rest_of_it = _split(r, x, axis, size // have, places)
                left.append(rest_of_it)
            group.append(axis)
            have *= r.size([axis])
        dims.append(tuple(group))
    places.update(dict.fromkeys((a for a in left if r.size([a]) == 1), Place()))
    return r.read_at(x, places, dims)


def _split(r: Reader, x: Value, axis: str, outer: int, places: dict[str, Place]) -> tuple[str, str]:
    high, low = r.apart(r.halves(axis, outer), x, places)
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
    (part,), first = r.apart([r.window(axis, length // rounds, step)], x), start // rounds
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


@row("aten.split.Tensor", "aten.unsafe_split.Tensor")
def split(r: Reader, x: Value, size: int, dim: int = 0) -> tuple[Value, ...]:
    d = dim % x.rank
    whole = r.size(x.dims[d])
    return tuple(_window(r, x, d, start, min(size, whole - start)) for start in range(0, whole, size))


@row("aten.split_with_sizes", "aten.unsafe_split_with_sizes", "aten.split.sizes")
def split_with_sizes(r: Reader, x: Value, sizes: Sequence[int], dim: int = 0) -> tuple[Value, ...]:
    return tuple(_window(r, x, dim % x.rank, sum(sizes[:k]), size) for k, size in enumerate(sizes))


@row("aten.cat")
def cat(r: Reader, xs: Sequence[Value], dim: int = 0) -> Value:
    if len(xs) == 1:
        return xs[0]
    d, xs = dim % xs[0].rank, [of_one_axis(r, x, dim) for x in xs]
    labels = [[("part", k) if own == d else own for own in range(x.rank)] for k, x in enumerate(xs)]
    forms, axes = r.labelled(xs, labels)
    if any(len(axes["part", k]) > 1 for k in range(len(xs))):
        raise Unsupported("a concatenation along several axes")
    parts = [axes["part", k][0] if axes["part", k] else None for k in range(len(xs))]
    whole = r.axis(sum(1 if part is None else r.size([part]) for part in parts))
    dims = tuple((whole,) if own == d else axes[own] for own in range(xs[0].rank))
    return Value(f.concat(whole, parts, forms), dims, xs[0].dtype)


def of_one_axis(r: Reader, x: Value, dim: int) -> Value:
    """Without axes of one element in a dimension of several."""
    d = dim % x.rank
    many = tuple(axis for axis in x.dims[d] if r.size([axis]) != 1)
    if len(x.dims[d]) < 2 or not many:
        return x
    gone = {axis: Place() for axis in x.dims[d] if axis not in many}
    return r.read_at(x, gone, (*x.dims[:d], many, *x.dims[d + 1 :]))


@row("aten.stack")
def stack(r: Reader, xs: Sequence[Value], dim: int = 0) -> Value:
    return cat(r, [unsqueeze(r, x, dim) for x in xs], dim % (xs[0].rank + 1))


@row("aten.slice_scatter")
def slice_scatter(
    r: Reader, x: Value, own: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Value:
    """What lies before it, it, what lies behind."""
    d, size = dim % x.rank, r.size(x.dims[dim])
    start, end, step = slice(start, end, step).indices(size)
    if step != 1:
        raise Unsupported("a tensor in every second place")
    end = max(start, end)
    parts = [cut(r, x, d, 0, start)] if start else []
    parts += [own] if end > start else []
    return cat(r, [*parts, cut(r, x, d, end)] if end < size else parts, d)


@row("aten.select_scatter")
def select_scatter(r: Reader, x: Value, own: Value, dim: int, index: int) -> Value:
    at = index % r.size(x.dims[dim])
    return slice_scatter(r, x, unsqueeze(r, own, dim % x.rank), dim, at, at + 1)


@row("aten.repeat")
def repeat(r: Reader, x: Value, times: Sequence[int]) -> Value:
    own = (*[()] * (len(times) - x.rank), *x.dims)
    return _moved(x, [dim if n == 1 else (r.axis(n), *dim) for n, dim in zip(times, own, strict=True)])


@row("aten.repeat_interleave.self_int")
def repeat_interleave(r: Reader, x: Value, times: int, dim: int | None = None, **_: Any) -> Value:
    if dim is None:
        raise Unsupported("elements of a tensor that is flattened")
    return _moved(x, [(*own, r.axis(times)) if d == dim % x.rank else own for d, own in enumerate(x.dims)])


@row("aten.roll")
def roll(r: Reader, x: Value, shifts: Sequence[int], dims: Sequence[int] = ()) -> Value:
    """The last become the first, in one dimension after the other."""
    if not dims:
        raise Unsupported("a roll of a tensor that is flattened")
    for shift, d in zip(shifts, dims, strict=True):
        size = r.size(x.dims[d])
        if size and shift % size:
            x = cat(r, [cut(r, x, d, size - shift % size), cut(r, x, d, 0, size - shift % size)], d)
    return x


@row("aten.constant_pad_nd")
def pad(r: Reader, x: Value, widths: Sequence[int], value: Any = 0) -> Value:
    """The last dimension's widths come first; one below zero takes away."""
    if r.kind(value) != r.kind(x) and r.kind(x) != "real":
        raise Unsupported("a border of another kind")
    for k, (before, behind) in enumerate(zip(widths[::2], widths[1::2], strict=True)):
        d = x.rank - 1 - k
        x = cut(r, x, d, max(-before, 0), r.size(x.dims[d]) - max(-behind, 0))
        borders = [full(r, [n if own == d else r.size(dim) for own, dim in enumerate(x.dims)], value)
                   for n in (max(before, 0), max(behind, 0))]
        x = cat(r, [part for part in (borders[0], x, borders[1]) if r.size(part.dims[d])], d)
    return x


@row("aten.glu")
def glu(r: Reader, x: Value, dim: int = -1) -> Value:
    a, b = split(r, x, r.size(x.dims[dim]) // 2, dim)
    return mul(r, a, r.pointwise(partial(f.fn, "sigmoid"), b))


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


@row("aten.arange.start", "aten.arange.start_step")
def arange(r: Reader, start: float, end: float, step: float = 1, *, dtype: Any = None, **_: Any) -> Value:
    if not all(isinstance(n, int) for n in (start, end, step)):
        raise Unsupported("positions that are no integers")
    if dtype is not None and max(map(abs, (start, end))) > EXACT.get(dtype.name, inf):
        raise Unsupported("positions that their dtype has not")
    count = len(range(int(start), int(end), int(step)))
    axis = r.axis(count)
    return Value(f.position(Place((Part(axis, int(step)),), int(start))), ((axis,),), "int64")


row("aten.arange.default")(lambda r, end, **settings: arange(r, 0, end, **settings))


@row("aten.eye.default", "aten.eye.m")
def eye(r: Reader, rows: int, columns: int | None = None, *, dtype: Any = None) -> Value:
    i, j = r.axis(rows), r.axis(rows if columns is None else columns)
    on = f.compare("=", f.position(i), f.position(j))
    return Value(on if dtype is not None and dtype.name == "bool" else f.where(on, number(1), number(0)),
                 ((i,), (j,)), "float32")


@row("aten.linspace.default")
def linspace(r: Reader, start: float, end: float, steps: int, *, dtype: Any = None) -> Value:
    """Even steps; what is nearer to the end is counted from there, as torch does."""
    if dtype is not None and "float" not in dtype.name:
        raise Unsupported("steps that are cut off")
    axis = r.axis(steps)
    low, high = Fraction(repr(start)), Fraction(repr(end))
    step = (high - low) / max(steps - 1, 1)
    from_start = f.plus(number(low), scaled(f.position(axis), step))
    from_end = f.minus(number(high), scaled(f.minus(number(steps - 1), f.position(axis)), step))
    near = f.compare("<", f.position(axis), number(steps // 2))
    return Value(from_start if steps == 1 else f.where(near, from_start, from_end), ((axis,),), "float32")


@row("aten.full")
def full(r: Reader, shape: Sequence[int], value: Any, *, dtype: Any = None) -> Value:
    boolean = isinstance(value, bool) if dtype is None else dtype.name == "bool"
    if dtype is not None and "int" in dtype.name and value != int(value):
        raise Unsupported("a number that is cut off")
    form = r.lifted(value).form if not boolean else f.TRUE if value else f.logic("not", f.TRUE)
    return Value(form, tuple((r.axis(size),) for size in shape), "float32")


def full_like(r: Reader, x: Value, value: Any, shape: Any = None, *, dtype: Any = None) -> Value:
    """One value everywhere, of the tensor's shape and dtype unless others are asked for."""
    shape = r.shape(x) if shape is None else shape
    if not isinstance(value, Value):
        return full(r, shape, value, dtype=dtype or Dtype(x.dtype))
    if r.kind(value) != r.kind(x):
        raise Unsupported("a number of another kind")
    return Value(value.form, tuple((r.axis(size),) for size in shape), x.dtype)


row("aten.full_like", "aten.fill")(full_like)
row("aten.new_full")(lambda r, x, shape, value, *, dtype=None: full_like(r, x, value, shape, dtype=dtype))
for _name, _number in (("zeros", 0), ("ones", 1)):
    row(f"aten.{_name}")(lambda r, shape, *, dtype=None, n=_number: full(r, shape, n, dtype=dtype))
    row(f"aten.new_{_name}")(lambda r, x, shape, *, dtype=None, n=_number: full_like(r, x, n, shape, dtype=dtype))
    row(f"aten.{_name}_like")(lambda r, x, *, dtype=None, n=_number: full_like(r, x, n, dtype=dtype))
row("aten.scalar_tensor")(lambda r, value, *, dtype=None: full(r, (), value, dtype=dtype))
