"""Indexing by tensors: which element is read, or written, depends on the elements of an integer tensor.

Reading is substitution: the index is an element of another tensor. Writing turns it round: an element of the result
asks which of the written ones have its own position, and sums over them. Where two may have the same position and
the order of writing would decide, there is no formula. Indices are taken to be in range, as torch requires;
`index`, `index_put`, `index_fill`, `take` and `take_along_dim` alone count negative ones from the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from samesame.formula.binders import put
from samesame.formula.binders import replaced as replaced_in
from samesame.formula.expr import (
    NEG_INF,
    And,
    Compare,
    Expr,
    Opaque,
    Unsupported,
    Where,
    add,
    and_,
    const,
    eq,
    index,
    lt,
    maximum,
    mul,
    not_,
    numeric,
    where,
)
from samesame.formula.selected import read_at
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.movement import moved, ravel, replaced, reshape
from samesame.operators.numbers import constant
from samesame.operators.one_to_one import but_for_one, distinct, never_below_zero, repeated_in
from samesame.operators.pointwise import cast_like, times
from samesame.operators.shapes import (
    agreeing,
    as_tensor,
    at,
    broadcast,
    dimension,
    fits,
    folded,
    not_above,
    plain,
    same_size,
)
from samesame.operators.table import meaning

Indices = Sequence[Tensor | None]


# ------------------------------------------------------------------------------------------------------------- reading


@meaning("aten.embedding.default")
def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    return tensor((*indices.shape, *weight.shape[1:]), lambda *i: weight[(indices[i[: indices.rank]],
                                                                          *i[indices.rank :])], weight.kind)


@meaning("aten.index_select.default")
def index_select(x: Tensor, dim: int, index: Tensor) -> Tensor:
    if not x.rank:
        return x
    d, chosen = dimension(dim, x.rank), ravel(index)
    return tensor(replaced(x.shape, d, chosen.shape[0]),
                  lambda *i: read_at(chosen[i[d]], lambda at: x[replaced(i, d, at)]), x.kind)


@meaning("aten.gather.default")
def gather(x: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """out[.., j, ..] = x[.., index[.., j, ..], ..], at the same place in all other dimensions."""
    if not x.rank or not index.rank:
        return reshape(gather(vector(x), dim, vector(index)), index.shape)
    if x.rank != index.rank:
        raise Unsupported(f"an index of rank {index.rank} into a tensor of rank {x.rank}")
    d = dimension(dim, x.rank)
    _covered(index, x, d)
    return tensor(index.shape, lambda *i: read_at(index[i], lambda at: x[replaced(i, d, at)]), x.kind)


def _covered(index: Tensor, x: Tensor, *but: int) -> None:
    """Refuse an index that may reach beyond x in some other dimension than these."""
    if index.rank != x.rank:
        raise Unsupported(f"an index of rank {index.rank} beside a tensor of rank {x.rank}")
    for d in range(x.rank):
        if d not in but:
            not_above(index.shape[d], x.shape[d], "an index beside the tensor")


def vector(x: Tensor) -> Tensor:
    """A number as a vector of one; torch takes one for the other where a dimension is named."""
    return x if x.rank else reshape(x, (1,))


@meaning("aten.take.default")
def take(x: Tensor, index: Tensor) -> Tensor:
    flat = ravel(x)
    return moved(flat, index.shape, lambda *i: (wrapped(index[i], flat.shape[0]),))


@meaning("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index_(x: Tensor, indices: Indices) -> Tensor:
    """Advanced indexing: index tensors broadcast to one block of dimensions, None keeps a dimension.

    The block stands where the first index tensor stood if they are neighbours, and in front otherwise.
    """
    place = _Places(x, indices)

    def element(*i: Expr) -> Expr:
        source = place.source(*i)
        chosen = [d for d in place.at if isinstance(source[d], Opaque)]
        if len(chosen) != 1:
            return x[tuple(source)]
        return read_at(source[chosen[0]], lambda at: x[replaced(source, chosen[0], at)])

    return tensor(tuple(place.shape), element, x.kind)


@meaning("aten.take_along_dim.default")
def take_along_dim(x: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """gather along one dimension, with all others broadcast."""
    if dim is None:
        return take_along_dim(ravel(x), ravel(indices), 0)
    d = dimension(dim, x.rank)
    shape = broadcast(replaced(x.shape, d, 1), replaced(indices.shape, d, 1))

    def element(*i: Expr) -> Expr:
        return read_at(wrapped(at(indices, i), x.shape[d]), lambda place: at(x, replaced(i, d, place)))

    return tensor(replaced(shape, d, indices.shape[d]), element, x.kind)


class _Places:
    """Which element of x each element of `x[indices]` is."""

    def __init__(self, x: Tensor, indices: Indices) -> None:
        if any(t is not None and t.kind == "bool" for t in indices):
            raise Unsupported("a boolean mask as an index: how many it selects depends on data")
        given: list[Tensor | None] = [*indices, *[None] * (x.rank - len(indices))]
        self.x, self.indices = x, given
        self.at = [d for d, t in enumerate(given) if t is not None]
        self.block = broadcast(*(t.shape for t in given if t is not None))
        neighbours = bool(self.at) and self.at == list(range(self.at[0], self.at[-1] + 1))
        self.start = self.at[0] if neighbours else 0
        self.kept = [d for d in range(x.rank) if given[d] is None]
        sizes = [x.shape[d] for d in self.kept]
        self.shape = (*sizes[: self.start], *self.block, *sizes[self.start :])

    def source(self, *i: Expr) -> list[Expr]:
        end = self.start + len(self.block)
        own = dict(zip(self.kept, (*i[: self.start], *i[end:]), strict=True))
        block = i[self.start : end]
        return [own[d] if t is None else wrapped(at(t, block), self.x.shape[d]) for d, t in enumerate(self.indices)]


def wrapped(i: Expr, size: Dim) -> Expr:
    """An index that counts from the end where it is negative."""
    return i if never_below_zero(i) else where(lt(i, 0), add(i, size), i)


def places_before(mask: Tensor, shape: Sequence[Dim], i: Sequence[Expr]) -> Expr:
    """How many places before i are true, of a mask that broadcasts to a shape: those in earlier rows, and those earlier
    in the same row."""

    def along(d: int) -> Expr:
        def true(*k: Expr) -> Expr:
            return where(and_(lt(k[0], i[d]), at(mask, (*i[:d], *k))), 1, 0)

        return folded("sum", shape[d:], true)

    return add(0, *map(along, range(len(shape))))


@meaning("aten.masked_scatter.default")
def masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """x with the elements of `source`, one after the other, where the mask is true; row by row, if rows of x are masked
    as a whole and those of `source` are as long."""
    shape, given = broadcast(x.shape, mask.shape), cast_like(source, x)
    wide = tensor(shape, lambda *i: at(mask, i), "bool")
    row = source.rank - 1 if 0 < source.rank <= len(shape) else 0
    indices, masked = wide.element()
    kept, inner = shape[: len(shape) - row], shape[len(shape) - row :]
    fits_rows = all(same_size((n,), (m,)) for n, m in zip(inner, source.shape[1:], strict=False))
    if row and fits_rows and not masked.free & frozenset(indices[len(kept) :]):
        rows = tensor(kept, lambda *i: wide[(*i, *(0 for _ in inner))], "bool")
    else:
        rows, inner, given = wide, (), ravel(given)
    return _rows_put(tensor(shape, lambda *i: at(x, i), x.kind), rows, given)


def _rows_put(x: Tensor, mask: Tensor, values: Tensor) -> Tensor:
    """x with the rows of `values`, one after the other, where a mask over its first dimensions is true."""

    def element(*i: Expr) -> Expr:
        place, rest = i[: mask.rank], i[mask.rank :]
        return where(mask[place], values[(places_before(mask, mask.shape, place), *rest)], x[i])

    return tensor(x.shape, element, x.kind)


@meaning("aten.one_hot.default")
def one_hot(x: Tensor, num_classes: Dim = -1) -> Tensor:
    if num_classes == -1:
        raise Unsupported("one_hot without a number of classes: its shape depends on data")
    not_above(1, num_classes, "a number of classes")
    return tensor((*x.shape, plain(num_classes)), lambda *i: where(eq(x[i[:-1]], i[-1]), 1, 0), "int")


@meaning("aten.bincount.default")
def bincount(x: Tensor, weights: Tensor | None = None, minlength: Dim = 0) -> Tensor:
    """How often each integer below `minlength` occurs, or the sum of its weights. More is counted where x holds larger
    integers: that it does not is what captured graphs take for granted, and what the verdict says."""
    if plain(minlength) == 0 or x.rank != 1:
        raise Unsupported("counts of which no number is given: how many there are depends on data")
    if weights is not None:
        agreeing(weights.shape, x.shape, "a weight for each integer")

    def element(i: Expr) -> Expr:
        return folded("sum", x.shape, lambda s: where(eq(x[s], i), 1 if weights is None else weights[s], 0))

    return tensor((plain(minlength),), element, "int" if weights is None else "real")


# ------------------------------------------------------------------------------------------------------------- writing


def written(
    x: Tensor,
    extents: Sequence[Dim],
    hits: Callable[..., Callable[..., Expr]],
    value: Callable[..., Callable[..., Expr]],
    add_to: bool,
) -> Tensor:
    """x with values written into it: element i receives value(*i)(*s) for every s within extents where hits(*i)(*s).

    With `add_to` they are added to what was there; otherwise they replace it, and at most one s may hit.
    """

    if add_to and x.kind == "bool":
        raise Unsupported("a sum of booleans")

    def element(*i: Expr) -> Expr:
        hit, new = hits(*i), value(*i)
        if not add_to and x.kind != "bool":
            hit, new = where_it_changes(hit, new, x[i])
            s = [index(n) for n in extents]
            if (same := new(*s)).free.isdisjoint(s):       # for every s, so whether any hits says it all
                return where(folded("any", extents, hit), same, x[i])
        total = folded("sum", extents, lambda *s: where(hit(*s), numeric(new(*s)), 0))
        if add_to:
            return add(x[i], total)
        if x.kind == "bool":
            total = folded("any", extents, lambda *s: and_(hit(*s), new(*s)))
        elif x[i] is const(0):
            return total                                   # which is 0 where nothing hits
        return where(folded("any", extents, hit), total, x[i])

    return tensor(x.shape, element, x.kind)


Of = Callable[..., Expr]  # what something is for each s


def where_it_changes(hit: Of, new: Of, old: Expr) -> tuple[Of, Of]:
    """What hits an element and the value that it then has, without what only gives the element its old value back: rows
    that are read where they are written again, some of their elements changed. At most one s may hit."""

    def kept(*s: Expr) -> tuple[Expr, Expr]:
        at, value = hit(*s), numeric(new(*s))
        told = {part.left: part.right for part in parts_of(at) if isinstance(part, Compare) and part.op == "="}
        while isinstance(value, Where):
            if replaced_in(value.otherwise, told) is old:
                at, value = and_(at, value.condition), value.then
            elif replaced_in(value.then, told) is old:
                at, value = and_(at, not_(value.condition)), value.otherwise
            else:
                break
        return at, value

    return lambda *s: kept(*s)[0], lambda *s: kept(*s)[1]


def parts_of(condition: Expr) -> tuple[Expr, ...]:
    return condition.arguments if isinstance(condition, And) else (condition,)


REPEATED = "a write whose positions may repeat: the last one would win"


def overwritten(
    x: Tensor,
    extents: Sequence[Dim],
    positions: Callable[..., Callable[..., Sequence[tuple[Expr, Expr]]]],
    value: Callable[..., Callable[..., Expr]],
    inside: Callable[..., Expr] = lambda *i: const(True),
) -> Tensor:
    """x with values written at positions that may repeat, where a value hangs on its position alone: then it does not
    matter which of them wins. `positions(*i)(*s)` pairs each position of s with where it would have to be to hit i, and
    nothing hits what is not `inside`. A penalty on the tokens that occurred is written so."""

    def element(*i: Expr) -> Expr:
        s = [const(0) if plain(n) == 1 else index(n) for n in extents]
        here = dict(positions(*i)(*s))
        new = put(value(*i)(*s), here.get)
        if new.free & frozenset(s):
            raise Unsupported(REPEATED)
        hit = folded("any", extents, lambda *s: and_(*(eq(place, own) for place, own in positions(*i)(*s))))
        return where(and_(inside(*i), hit), new, x[i])

    return tensor(x.shape, element, x.kind)


@meaning("aten.index_put.default", "aten._unsafe_index_put.default")
def index_put(x: Tensor, indices: Indices, values: Tensor, accumulate: bool = False) -> Tensor:
    """x with x[indices] = values, or += if `accumulate`."""
    if len(indices) == 1 and indices[0] is not None and indices[0].kind == "bool" and not accumulate:
        return _masked(x, indices[0], values)
    place = _Places(x, indices)
    given = cast_like(values, x)
    end = place.start + len(place.block)
    fits(given.shape, place.shape, "values are written at indices")

    def full(i: Sequence[Expr], s: Sequence[Expr]) -> tuple[Expr, ...]:
        own = [i[d] for d in place.kept]                   # a kept dimension is written at its own index only
        return (*own[: place.start], *s, *own[place.start :])

    def hits(*i: Expr) -> Callable[..., Expr]:
        def hit(*s: Expr) -> Expr:
            source = place.source(*full(i, s))
            return and_(*(eq(i[d], source[d]) for d in place.at))

        return hit

    assert len(place.shape) - len(place.kept) == end - place.start
    whole = written(x, place.block, hits, lambda *i: lambda *s: at(given, full(i, s)), accumulate)
    if accumulate or distinct(place.source, place.shape):
        return whole

    def positions(*i: Expr) -> Callable[..., list[tuple[Expr, Expr]]]:
        return lambda *s: [(place.source(*full(i, s))[d], i[d]) for d in place.at]

    last = overwritten(x, place.block, positions, lambda *i: lambda *s: at(given, full(i, s)))
    repeated = repeated_in(place.source, place.shape)
    if repeated is None or is_told(last):
        return last
    return but_for_one(whole, repeated, x, given, place.source, place.shape)


def is_told(x: Tensor) -> bool:
    """Whether its elements have a formula."""
    try:
        return bool(x.element())
    except Unsupported:
        return False


def _masked(x: Tensor, mask: Tensor, values: Tensor) -> Tensor:
    """x[mask] = one row for all, or as many rows as the mask is true: as torch demands, and nothing else runs."""
    agreeing(mask.shape, x.shape[: mask.rank], "a mask over a tensor")
    row, given = x.shape[mask.rank :], cast_like(values, x)
    if given.rank == len(row) + 1 and plain(given.shape[0]) != 1:
        fits(given.shape[1:], row, "rows are written through a mask")
        wide = tensor((given.shape[0], *row), lambda n, *i: at(given, (n, *i)), x.kind)
        return _rows_put(x, mask, wide)
    one = reshape(given, given.shape[1:]) if given.rank > len(row) else given
    fits(one.shape, row, "a row is written through a mask")
    return tensor(x.shape, lambda *i: where(mask[i[: mask.rank]], at(one, i[mask.rank :]), x[i]), x.kind)


@meaning("aten.index_add.default")
def index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float | Expr = 1) -> Tensor:
    if not x.rank or not source.rank:
        return reshape(index_add(vector(x), dim, index, vector(source), alpha=alpha), x.shape)
    d, factor, where_to = dimension(dim, x.rank), constant(alpha), vector(index)
    agreeing(source.shape, replaced(x.shape, d, where_to.shape[0]), "rows are added at indices")
    return written(
        x,
        where_to.shape,
        lambda *i: lambda s: eq(where_to[s], i[d]),
        lambda *i: lambda s: factor * source[replaced(i, d, s)],
        add_to=True,
    )


@meaning("aten.index_copy.default")
def index_copy(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    if not x.rank or not source.rank:
        return reshape(index_copy(vector(x), dim, index, vector(source)), x.shape)
    d, where_to = dimension(dim, x.rank), vector(index)
    agreeing(source.shape, replaced(x.shape, d, where_to.shape[0]), "rows are written at indices")
    whole = written(
        x,
        where_to.shape,
        lambda *i: lambda s: eq(where_to[s], i[d]),
        lambda *i: lambda s: source[replaced(i, d, s)],
        add_to=False,
    )

    def places(*s: Expr) -> list[Expr]:
        return [where_to[s]]

    if distinct(places, where_to.shape):
        return whole
    repeated = repeated_in(places, where_to.shape)
    if repeated is None:
        raise Unsupported(REPEATED)
    return but_for_one(whole, (d, repeated[1]), x, source, places, where_to.shape)


@meaning("aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor")
def index_fill(x: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """x with one value at the indices along a dimension; negative ones count from its end, unlike in `index_copy`."""
    d, where_to = dimension(dim, x.rank), ravel(index)
    new, size = cast_like(as_tensor(value), x)[()], x.shape[d] if x.rank else 1

    def element(*i: Expr) -> Expr:
        own = i[d] if x.rank else const(0)
        return where(folded("any", where_to.shape, lambda s: eq(wrapped(where_to[s], size), own)), new, x[i])

    return tensor(x.shape, element, x.kind)


def _scattered(x: Tensor, dim: int, index: Tensor, value: Callable[..., Expr], add_to: bool) -> Tensor:
    """x[.., index[.., s, ..], ..] = value at [.., s, ..]; index may be smaller than x in the other dimensions."""
    d = dimension(dim, x.rank)
    _covered(index, x, d)

    def hits(*i: Expr) -> Callable[..., Expr]:
        return lambda s: and_(*_beside(index, x, d, i), eq(index[replaced(i, d, s)], i[d]))

    return written(x, (index.shape[d],), hits, lambda *i: lambda s: value(*replaced(i, d, s)), add_to)


def _beside(index: Tensor, x: Tensor, d: int, i: Sequence[Expr]) -> list[Expr]:
    """That i lies beside the index, which may be smaller than x in all dimensions but d."""
    return [lt(i[k], n) for k, n in enumerate(index.shape) if k != d and not same_size((n,), (x.shape[k],))]


def _needs_vectors(*tensors: Tensor) -> bool:
    return not all(x.rank for x in tensors)


@meaning("aten.scatter.src")
def scatter(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    if _needs_vectors(x, index, src):
        return reshape(scatter(vector(x), dim, vector(index), vector(src)), x.shape)
    d = dimension(dim, x.rank)
    _covered(index, src)
    if distinct(lambda *s: [index[s], *replaced(s, d)], index.shape):
        return _scattered(x, dim, index, lambda *i: src[i], add_to=False)
    _covered(index, x, d)
    return overwritten(
        x,
        (index.shape[d],),
        lambda *i: lambda s: [(index[replaced(i, d, s)], i[d])],
        lambda *i: lambda s: src[replaced(i, d, s)],
        lambda *i: and_(*_beside(index, x, d, i)),
    )


@meaning("aten.scatter_add.default")
def scatter_add(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    if _needs_vectors(x, index, src):
        return reshape(scatter_add(vector(x), dim, vector(index), vector(src)), x.shape)
    _covered(index, src)
    return _scattered(x, dim, index, lambda *i: src[i], add_to=True)


@meaning("aten.scatter.value")
def scatter_value(x: Tensor, dim: int, index: Tensor, value: float | Expr) -> Tensor:
    """One value at every position: it does not matter how often."""
    if _needs_vectors(x, index):
        return reshape(scatter_value(vector(x), dim, vector(index), value), x.shape)
    d = dimension(dim, x.rank)
    _covered(index, x, d)
    new = cast_like(as_tensor(value), x)[()]

    def element(*i: Expr) -> Expr:
        hit = folded("any", [index.shape[d]], lambda s: eq(index[replaced(i, d, s)], i[d]))
        return where(and_(*_beside(index, x, d, i), hit), new, x[i])

    return tensor(x.shape, element, x.kind)


@meaning("aten.scatter_reduce.two")
def scatter_reduce(
    x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """x[.., index[.., s, ..], ..] reduced with src at [.., s, ..], and with what was there if `include_self`. Where
    nothing arrives, x stays."""
    if _needs_vectors(x, index, src):
        flat = scatter_reduce(vector(x), dim, vector(index), vector(src), reduce, include_self=include_self)
        return reshape(flat, x.shape)
    if reduce == "amin":
        return times(scatter_reduce(times(x, -1), dim, index, times(src, -1), "amax", include_self=include_self), -1)
    d = dimension(dim, x.rank)
    _covered(index, src)
    _covered(index, x, d)
    if x.kind != "real" or reduce not in ARRIVING:
        raise Unsupported(f"{reduce} of {x.kind} tensors at indices")
    monoid, nothing, combine = ARRIVING[reduce]

    def element(*i: Expr) -> Expr:
        def over(monoid: str, value: Callable[[Any], Any], nothing: Any) -> Expr:
            def arriving(s: Expr) -> Expr:
                at = replaced(i, d, s)
                return where(and_(*_beside(index, x, d, i), eq(index[at], i[d])), value(at), nothing)

            return folded(monoid, (index.shape[d],), arriving)

        new = over(monoid, lambda at: numeric(src[at]), nothing)
        new = combine(x[i], new) if include_self else new
        if reduce == "mean":
            new = new / add(over("sum", lambda at: 1, 0), int(include_self))
        return new if include_self else where(over("any", lambda at: True, False), new, x[i])

    return tensor(x.shape, element)


# What `scatter_reduce` folds with, what counts for nothing there, and how what was there is joined.
ARRIVING: dict[str, tuple[str, Expr | int, Callable[..., Expr]]] = {
    "sum": ("sum", 0, add),
    "mean": ("sum", 0, add),
    "prod": ("prod", 1, mul),
    "amax": ("max", NEG_INF, maximum),
}
