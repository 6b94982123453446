"""Movements: operators that only carry elements elsewhere.

The meaning of a movement is where each element of the result comes from, as index arithmetic; in a normal form
nothing else is left of it. Slices, concatenations and reshapes take any size that their arithmetic allows, symbolic
ones included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from samesame.formula.expr import (
    ZERO,
    Expr,
    Unsupported,
    add,
    and_,
    const,
    eq,
    floordiv,
    le,
    lt,
    mod,
    mul,
    numeric,
    where,
)
from samesame.formula.sizes import size_text
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.shapes import (
    agreeing,
    at,
    broadcast,
    count,
    difference,
    dimension,
    dimensions,
    divided,
    fits,
    greatest_of,
    joined,
    least_of,
    never_above,
    not_above,
    plain,
    same_size,
    shape_text,
    static,
    total,
    typical,
)
from samesame.operators.table import movement

Indices = Sequence[Expr]


def moved(x: Tensor, shape: Sequence[Dim], source: Callable[..., Sequence[Expr | int]]) -> Tensor:
    """The tensor of this shape whose element at i is x's element at source(*i)."""
    return tensor(tuple(shape), lambda *i: x[tuple(source(*i))], x.kind)


def replaced(i: Sequence[Any], d: int, *value: Any) -> tuple[Any, ...]:
    """The same sequence with other entries in place of the d-th."""
    return (*i[:d], *value, *i[d + 1 :])


@movement(
    "aten.alias.default",
    "aten.clone.default",
    "aten.contiguous.default",
    "aten.detach.default",
    "aten.lift.default",
    "aten.lift_fresh.default",
    "aten.lift_fresh_copy.default",
    "aten.positive.default",
    "aten.resolve_neg.default",
)
def identity(x: Tensor) -> Tensor:
    return x


# ------------------------------------------------------------------------------------------------------------- reshape


@movement("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default", "aten.view_copy.default",
          "aten._reshape_alias.default")
def reshape(x: Tensor, shape: Sequence[Dim], stride: Any = None) -> Tensor:
    """Elements in the same order under another shape.

    Dimensions are grouped so that each group of the result holds as many elements as its group of x: only inside a
    group are indices merged or split, so that `[B, T, H·D] → [B, T, H, D]` leaves b and t alone.
    """
    target = _completed(x, shape)
    runs = groups(x.shape, target)

    def source(*i: Expr) -> list[Expr]:
        found: list[Expr] = [ZERO] * x.rank
        for own, new in runs:
            place = _flat([i[k] for k in new], [target[k] for k in new])
            for n, k in enumerate(own):
                within = place // const(count(x.shape[m] for m in own[n + 1 :]))
                found[k] = within if n == 0 else mod(within, const(x.shape[k]))
        return found

    return moved(x, target, source)


def _completed(x: Tensor, shape: Sequence[Dim]) -> tuple[Dim, ...]:
    """The shape with the number in place of -1."""
    sizes = [plain(size) for size in shape]
    if -1 in sizes:
        k = sizes.index(-1)
        not_above(1, count(sizes[:k] + sizes[k + 1 :]), "the sizes beside -1, of which none is 0")
        sizes[k] = divided(x.shape, sizes[:k] + sizes[k + 1 :])
    if not same_size(x.shape, sizes):
        raise Unsupported(f"{shape_text(x.shape)} does not reshape to {shape_text(sizes)}")
    return tuple(sizes)


def _flat(i: Sequence[Expr], sizes: Sequence[Dim]) -> Expr:
    """The position of an index in row-major order."""
    place = i[0]
    for index, size in zip(i[1:], sizes[1:], strict=True):
        place = add(mul(place, const(size)), index)
    return place


def groups(a: Sequence[Dim], b: Sequence[Dim]) -> list[tuple[list[int], list[int]]]:
    """Runs of dimensions of a and of b, in order, that hold equally many elements; sizes of one belong to none."""
    own = [k for k, size in enumerate(a) if plain(size) != 1]
    new = [k for k, size in enumerate(b) if plain(size) != 1]
    if plain(count(a)) == 0:
        return []                                          # no element to find
    found: list[tuple[list[int], list[int]]] = []
    while own:
        lengths = sorted(((n, m) for n in range(1, len(own) + 1) for m in range(1, len(new) + 1)), key=sum)
        fitting = ((n, m) for n, m in lengths if same_size((a[k] for k in own[:n]), (b[k] for k in new[:m])))
        n, m = next(fitting, (len(own), len(new)))         # what is left is as many, if the whole is
        found.append((own[:n], new[:m]))
        own, new = own[n:], new[m:]
    return found


@movement("aten.flatten.using_ints")
def flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    first, last = dimension(start_dim, x.rank), dimension(end_dim, x.rank)
    return reshape(x, (*x.shape[:first], count(x.shape[first : last + 1]), *x.shape[last + 1 :]))


@movement("aten.unflatten.int")
def unflatten(x: Tensor, dim: int, sizes: Sequence[Dim]) -> Tensor:
    d = dimension(dim, x.rank)
    part = _completed(tensor((x.shape[d],), lambda i: x[replaced((ZERO,) * x.rank, d, i)]), sizes)
    return reshape(x, replaced(x.shape, d, *part))


@movement("aten.ravel.default")
def ravel(x: Tensor) -> Tensor:
    return reshape(x, (count(x.shape),))


@movement("aten.view_as.default", "aten.reshape_as.default")
def reshape_as(x: Tensor, other: Tensor) -> Tensor:
    return reshape(x, other.shape)


# -------------------------------------------------------------------------------------------- dimensions come and go


@movement("aten.permute.default", "aten.permute_copy.default")
def permute(x: Tensor, dims: Sequence[int]) -> Tensor:
    order = [dimension(d, x.rank) for d in dims]
    return moved(x, [x.shape[d] for d in order], lambda *i: [i[order.index(d)] for d in range(x.rank)])


@movement("aten.transpose.int", "aten.swapaxes.default", "aten.swapdims.default", "aten.transpose_copy.int")
def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    order = list(range(max(x.rank, 1)))
    a, b = dimension(dim0, x.rank), dimension(dim1, x.rank)
    order[a], order[b] = b, a
    return permute(x, order[: x.rank])


@movement("aten.t.default", "aten.numpy_T.default", "aten.t_copy.default")
def reverse_dimensions(x: Tensor) -> Tensor:
    return permute(x, range(x.rank)[::-1])


@movement("aten.mT.default")
def transpose_matrix(x: Tensor) -> Tensor:
    return transpose(x, -2, -1)


@movement("aten.movedim.int", "aten.moveaxis.int", "aten.movedim.intlist", "aten.moveaxis.intlist")
def movedim(x: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    start = [dimension(d, x.rank) for d in ((source,) if isinstance(source, int) else source)]
    end = [dimension(d, x.rank) for d in ((destination,) if isinstance(destination, int) else destination)]
    placed = dict(zip(end, start, strict=True))
    others = iter(d for d in range(x.rank) if d not in start)
    return permute(x, [placed[d] if d in placed else next(others) for d in range(x.rank)])


@movement("aten.unsqueeze.default", "aten.unsqueeze_copy.default")
def unsqueeze(x: Tensor, dim: int) -> Tensor:
    d = dimension(dim, x.rank + 1)
    return moved(x, (*x.shape[:d], 1, *x.shape[d:]), lambda *i: (*i[:d], *i[d + 1 :]))


@movement("aten.squeeze.default", "aten.squeeze_copy.default")
def squeeze_all(x: Tensor) -> Tensor:
    return squeeze(x, tuple(range(x.rank)))


@movement("aten.squeeze.dim", "aten.squeeze.dims", "aten.squeeze_copy.dim", "aten.squeeze_copy.dims")
def squeeze(x: Tensor, dim: int | Sequence[int]) -> Tensor:
    chosen = [dimension(d, x.rank) for d in ((dim,) if isinstance(dim, int) else dim) if x.rank]
    for d in chosen:
        not_above(2, x.shape[d], "a dimension vanishes if its size is 1")
    gone = [d for d in range(x.rank) if d in chosen and plain(x.shape[d]) == 1]
    kept = [d for d in range(x.rank) if d not in gone]

    def source(*i: Expr) -> list[Expr]:
        given = dict(zip(kept, i, strict=True))
        return [given.get(d, ZERO) for d in range(x.rank)]

    return moved(x, [x.shape[d] for d in kept], source)


@movement("aten.expand.default", "aten.broadcast_to.default", "aten.expand_copy.default")
def expand(x: Tensor, size: Sequence[Dim], *, implicit: bool = False) -> Tensor:
    new = len(size) - x.rank
    shape = tuple(plain(x.shape[k - new] if plain(n) == -1 else n) for k, n in enumerate(size))
    fits(x.shape, shape, "a tensor is expanded")
    return tensor(shape, lambda *i: at(x, i), x.kind)


@movement("aten.expand_as.default")
def expand_as(x: Tensor, other: Tensor) -> Tensor:
    return expand(x, other.shape)


@movement("aten.broadcast_tensors.default")
def broadcast_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    shape = broadcast(*(x.shape for x in tensors))
    return tuple(expand(x, shape) for x in tensors)


@movement("aten.diagonal.default", "aten.diagonal_copy.default")
def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    a, b = dimension(dim1, x.rank), dimension(dim2, x.rank)
    down, right = max(-offset, 0), max(offset, 0)
    length = greatest_of(least_of(difference(x.shape[a], down), difference(x.shape[b], right)), 0)
    rest = [d for d in range(x.rank) if d not in (a, b)]

    def source(*i: Expr) -> list[Expr]:
        given = dict(zip(rest, i, strict=False)) | {a: add(i[-1], down), b: add(i[-1], right)}
        return [given[d] for d in range(x.rank)]

    return moved(x, [*(x.shape[d] for d in rest), length], source)


# -------------------------------------------------------------------------------------------------------- pieces of one


@movement("aten.slice.Tensor", "aten.slice_copy.Tensor")
def slice_(x: Tensor, dim: int = 0, start: Dim | None = None, end: Dim | None = None, step: Dim = 1) -> Tensor:
    d = dimension(dim, x.rank)
    low, high = bounds_of_slice(x.shape[d], start, end)
    length = rounded_up(difference(high, low), positive(step, "the step of a slice"))
    return moved(x, replaced(x.shape, d, length), lambda *i: replaced(i, d, add(low, mul(step, i[d]))))


def bounds_of_slice(size: Dim, start: Dim | None, end: Dim | None) -> tuple[Dim, Dim]:
    """First index and end of a slice, both inside the dimension, and the end not before the first.

    With a = start, b = end, both counted from the front, the length is max(0, min(b − a, b, n − a, n)), so far as these
    are not ruled out: it is written so, and not as the difference of two clamped bounds, because then `x[:5]` and
    `x[-5:]` of a dimension of size T have the same length: min(T, 5).
    """
    n = plain(size)
    low, high = _from_front(n, 0 if start is None else start), _from_front(n, n if end is None else end)
    first = greatest_of(low, 0)
    length = least_of(*(difference(b, a) for a in (low, 0) for b in (high, n) if a == 0 or not never_above(a, 0)))
    return first, total(first, greatest_of(length, 0))


def _from_front(n: Dim, position: Dim) -> Dim:
    """A position of a slice, counted from the end if negative; far beyond the end is the end."""
    p = plain(position)
    if isinstance(p, int) and p >= 2**62:
        return n
    if never_above(0, p):
        return p
    if never_above(p, -1):
        return total(n, p)
    raise Unsupported(f"a slice at {size_text(p)}, which may count from either end")


def positive(size: Dim, what: str) -> Dim:
    """The size, which must be at least 1 whatever the symbols are."""
    if not never_above(1, size):
        raise Unsupported(f"{what} is {size_text(plain(size))}, which may not be positive")
    return plain(size)


def rounded_up(size: Dim, step: Dim) -> Dim:
    """size / step, rounded up; the step is positive."""
    return plain(floordiv(total(size, step, -1), step))


@movement("aten.select.int", "aten.select_copy.int")
def select(x: Tensor, dim: int, index: Dim) -> Tensor:
    d = dimension(dim, x.rank)
    position = const(inside(index, x.shape[d]))
    return moved(x, replaced(x.shape, d), lambda *i: (*i[:d], position, *i[d:]))


def inside(index: Dim, size: Dim) -> Dim:
    """An index that must be within a dimension, counted from the front."""
    position = _from_front(size, index)
    for low, high in ((0, position), (total(position, 1), size)):
        not_above(low, high, f"the index {size_text(plain(index))} of a dimension of size {size_text(plain(size))}")
    return position


@movement("aten.narrow.default")
def narrow(x: Tensor, dim: int, start: Dim, length: Dim) -> Tensor:
    d = dimension(dim, x.rank)
    first = _from_front(x.shape[d], start)
    for low, high in ((0, first), (0, length), (total(first, length), x.shape[d])):
        not_above(low, high, "a piece of a dimension")
    return _piece(x, d, first, length)


def _piece(x: Tensor, d: int, start: Dim, length: Dim) -> Tensor:
    """The elements of a dimension from `start` on, which must be inside."""
    return moved(x, replaced(x.shape, d, length), lambda *i: replaced(i, d, add(start, i[d])))


@movement("aten.split_with_sizes.default", "aten.split.sizes", "aten.unsafe_split_with_sizes.default",
          "aten.split_with_sizes_copy.default")
def split_with_sizes(x: Tensor, split_sizes: Sequence[Dim], dim: int = 0) -> tuple[Tensor, ...]:
    d = dimension(dim, x.rank)
    agreeing((total(*split_sizes),), (x.shape[d],), "the pieces of a dimension do not add up to it")
    for size in split_sizes:
        not_above(0, size, "a piece of a dimension")
    return tuple(_piece(x, d, total(*split_sizes[:k]), plain(size)) for k, size in enumerate(split_sizes))


@movement("aten.split.Tensor", "aten.unsafe_split.Tensor", "aten.split_copy.Tensor")
def split(x: Tensor, split_size: Dim, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of this size; the last one is what is left."""
    n = plain(x.shape[dimension(dim, x.rank)])
    if split_size == 0:
        return (x,)
    pieces = how_many(n, positive(split_size, "the size of pieces"))
    return split_with_sizes(x, [split_size] * (pieces - 1) + [difference(n, count((pieces - 1, split_size)))], dim)


def how_many(n: Dim, size: Dim) -> int:
    """n / size rounded up, and 1 where n is 0; refused where it depends on symbols."""
    if isinstance(n, int) and isinstance(size, int):
        return max(-(-n // size), 1)
    found = max(-(-typical(n, LARGE) // typical(size, LARGE)), 1)
    more_than_fewer = found == 1 or never_above(total(count((found - 1, size)), 1), n)
    if found > MOST_PIECES or not (more_than_fewer and never_above(n, count((found, size)))):
        raise Unsupported(f"how many pieces of {size_text(plain(size))} are in {size_text(n)} depends on the sizes")
    return found


MOST_PIECES = 1 << 12                                      # no operator has as many results
LARGE = 1 << 20                                            # a size at which the number of pieces is what it stays


@movement("aten.chunk.default", "aten.unsafe_chunk.default")
def chunk(x: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As many equal pieces as asked for, or fewer, of which the last may be smaller.

    In pieces of ⌈n/c⌉ there are c whenever n > (c − 1)².
    """
    n = plain(x.shape[dimension(dim, x.rank)])
    if isinstance(n, int):
        return tuple(x for _ in range(chunks)) if n == 0 else split(x, -(-n // chunks), dim)
    size = rounded_up(n, chunks)
    if count((chunks, size)) != n and not never_above((chunks - 1) ** 2 + 1, n):
        raise Unsupported(f"whether {size_text(n)} makes {chunks} pieces depends on the size")
    return split_with_sizes(x, [size] * (chunks - 1) + [difference(n, count((chunks - 1, size)))], dim)


@movement("aten.tensor_split.sections")
def tensor_split(x: Tensor, sections: Dim, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of which the first n mod c are longer by one: all are ⌊n/c⌋ or ⌈n/c⌉ long."""
    d, c = dimension(dim, x.rank), static(sections)
    n = const(x.shape[d])
    starts = [total(count((k, n // const(c))), least_of(k, plain(mod(n, c)))) for k in range(c)]
    lengths = [plain((n + (c - 1 - k)) // const(c)) for k in range(c)]
    return tuple(_piece(x, d, start, length) for start, length in zip(starts, lengths, strict=True))


@movement("aten.unbind.int", "aten.unbind_copy.int")
def unbind(x: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    return tuple(select(x, dim, k) for k in range(static(x.shape[dimension(dim, x.rank)])))


@movement("aten.unfold.default")
def unfold(x: Tensor, dimension: int, size: Dim, step: Dim) -> Tensor:
    """Windows over one dimension; the place within the window is a new last dimension."""
    d = dimension % max(x.rank, 1)
    if x.rank == 0:
        return moved(x, (size,), lambda i: ())
    not_above(size, x.shape[d], "a window over a dimension")
    windows = total(floordiv(difference(x.shape[d], size), positive(step, "the step of windows")), 1)
    return moved(x, (*replaced(x.shape, d, windows), size), lambda *i: replaced(i[:-1], d, add(mul(step, i[d]), i[-1])))


# ---------------------------------------------------------------------------------------------------------- one of many


@movement("aten.cat.default", "aten.concat.default", "aten.concatenate.default")
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    rank = max(x.rank for x in tensors)
    parts = [x for x in tensors if x.rank == rank]         # an empty vector may stand beside tensors of any rank
    d = dimension(dim, rank)
    for x in parts:
        agreeing(replaced(x.shape, d, 0), replaced(parts[0].shape, d, 0), "tensors are joined")
    ends = [const(total(*(x.shape[d] for x in parts[: k + 1]))) for k in range(len(parts))]
    kind = joined(*(x.kind for x in parts))

    def element(*i: Expr) -> Expr:
        found = _shifted(parts[-1], i, d, ends[-2] if len(parts) > 1 else ZERO)
        for k in reversed(range(len(parts) - 1)):
            start = ends[k - 1] if k else ZERO
            found = where(lt(i[d], ends[k]), _shifted(parts[k], i, d, start), found)
        return found if kind == "bool" else numeric(found)

    return tensor(replaced(parts[0].shape, d, plain(ends[-1])), element, kind)


def _shifted(x: Tensor, i: Indices, d: int, start: Expr) -> Expr:
    return x[replaced(i, d, add(i[d], mul(-1, start)))]


@movement("aten.stack.default")
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    return cat([unsqueeze(x, dim) for x in tensors], dimension(dim, tensors[0].rank + 1))


@movement("aten.hstack.default")
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    return cat([x if x.rank else reshape(x, (1,)) for x in tensors], 0 if tensors[0].rank <= 1 else 1)


@movement("aten.vstack.default")
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    return cat([x if x.rank > 1 else reshape(x, (1, -1)) for x in tensors], 0)


@movement("aten.meshgrid.default", "aten.meshgrid.indexing")
def meshgrid(tensors: Sequence[Tensor], *, indexing: str = "ij") -> tuple[Tensor, ...]:
    vectors = [reshape(x, (1,)) if x.rank == 0 else x for x in tensors]
    shape = [x.shape[0] for x in vectors]
    grids = tuple(moved(x, shape, lambda *i, k=k: (i[k],)) for k, x in enumerate(vectors))
    return tuple(transpose(g, 0, 1) for g in grids) if indexing == "xy" and len(grids) > 1 else grids


# ---------------------------------------------------------------------------------------------------- repeat and turn


@movement("aten.repeat.default")
def repeat(x: Tensor, repeats: Sequence[Dim]) -> Tensor:
    own = (*(1,) * (len(repeats) - x.rank), *x.shape)
    shape = [count((n, size)) for n, size in zip(repeats, own, strict=True)]
    for n in repeats:
        not_above(0, n, "a tensor is repeated")

    def source(*i: Expr) -> list[Expr]:
        tail = list(zip(i, repeats, own, strict=True))[len(own) - x.rank :]
        return [j if plain(n) == 1 else mod(j, const(size)) for j, n, size in tail]

    return moved(x, shape, source)


@movement("aten.tile.default")
def tile(x: Tensor, dims: Sequence[Dim]) -> Tensor:
    return repeat(x, (*(1,) * (x.rank - len(dims)), *dims))


@movement("aten.repeat_interleave.self_int")
def repeat_interleave(x: Tensor, repeats: Dim, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
    if dim is None:
        return repeat_interleave(ravel(x), repeats, 0)
    d = dimension(dim, x.rank)
    not_above(0, repeats, "a tensor is repeated")
    return moved(x, replaced(x.shape, d, count((x.shape[d], repeats))),
                 lambda *i: replaced(i, d, i[d] // const(repeats)))


@movement("aten.flip.default")
def flip(x: Tensor, dims: Sequence[int]) -> Tensor:
    chosen = dimensions(dims, x.rank) if dims else ()
    return moved(x, x.shape, lambda *i: [
        add(x.shape[d], -1, mul(-1, j)) if d in chosen else j for d, j in enumerate(i)
    ])


@movement("aten.flipud.default")
def flip_rows(x: Tensor) -> Tensor:
    return flip(x, (0,))


@movement("aten.fliplr.default")
def flip_columns(x: Tensor) -> Tensor:
    return flip(x, (1,))


@movement("aten.roll.default")
def roll(x: Tensor, shifts: Dim | Sequence[Dim], dims: int | Sequence[int] = ()) -> Tensor:
    steps = [shifts] if isinstance(shifts, int | Expr) else list(shifts)
    chosen = [dims] if isinstance(dims, int) else list(dims)
    if not chosen:
        return reshape(roll(ravel(x), steps, [0]), x.shape)
    result = x
    for step, dim in zip(steps, chosen, strict=True):
        result = _rolled(result, step, dimension(dim, x.rank))
    return result


def _rolled(x: Tensor, step: Dim, d: int) -> Tensor:
    """Two pieces change places, if it is known where they meet; otherwise indices are counted round."""
    size = plain(x.shape[d]) if x.rank else 1
    if size == 0 or not x.rank:
        return x
    shift = plain(mod(const(step), const(size)))
    for near in (plain(step), total(size, step)):
        if never_above(0, near) and never_above(total(near, 1), size):
            shift = near
    if shift == 0:
        return x
    if not never_above(shift, size):
        return moved(x, x.shape, lambda *i: replaced(i, d, mod(add(i[d], mul(-1, const(step))), const(size))))
    cut = difference(size, shift)
    return cat([_piece(x, d, cut, shift), _piece(x, d, 0, cut)], d)


# ------------------------------------------------------------------------------------- one tensor written into another


@movement("aten.copy.default")
def copy(x: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """What is left of an in-place copy once writes are results: src, in the shape of x."""
    if ("bool" in (x.kind, src.kind) and x.kind != src.kind) or (x.kind, src.kind) == ("int", "real"):
        raise Unsupported("a copy that changes the kind of its elements")
    fits(src.shape, x.shape, "a copy into a tensor")
    return tensor(x.shape, lambda *i: at(src, i), x.kind)


@movement("aten.slice_scatter.default")
def slice_scatter(
    x: Tensor, src: Tensor, dim: int = 0, start: Dim | None = None, end: Dim | None = None, step: Dim = 1
) -> Tensor:
    d = dimension(dim, x.rank)
    low, high = bounds_of_slice(x.shape[d], start, end)
    length = rounded_up(difference(high, low), positive(step, "the step of a slice"))
    agreeing(src.shape, replaced(x.shape, d, length), "a tensor is written into a slice")

    def element(*i: Expr) -> Expr:
        beyond = add(i[d], mul(-1, const(low)))
        on_step = le(mod(beyond, step), 0) if step != 1 else True
        written = and_(le(low, i[d]), lt(i[d], high), on_step)
        return where(written, src[replaced(i, d, floordiv(beyond, step))], x[i])

    return tensor(x.shape, element, x.kind)


@movement("aten.select_scatter.default")
def select_scatter(x: Tensor, src: Tensor, dim: int, index: Dim) -> Tensor:
    d = dimension(dim, x.rank)
    position = inside(index, x.shape[d])
    return slice_scatter(x, unsqueeze(src, d), d, position, total(position, 1))


@movement("aten.diagonal_scatter.default")
def diagonal_scatter(x: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    a, b = dimension(dim1, x.rank), dimension(dim2, x.rank)
    agreeing(src.shape, diagonal(x, offset, dim1, dim2).shape, "a tensor is written into a diagonal")
    down, rest = max(-offset, 0), [d for d in range(x.rank) if d not in (a, b)]

    def element(*i: Expr) -> Expr:
        return where(eq(add(i[a], offset), i[b]), src[(*(i[d] for d in rest), add(i[a], -down))], x[i])

    return tensor(x.shape, element, x.kind)
