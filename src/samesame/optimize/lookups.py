"""Look-ups: operators that read, or choose, elements at integers which data holds, as forms.

An embedding, a mixture's experts, blocks of a cache, the element of each row that a loss is about: `x[ids]` is the form
x with the integers `ids` in the place of an axis. Of `x[i, j]` all index tensors have one block of axes. What torch
counts from the end (indices in brackets alone) is counted so here. Integers that are positions
along an axis are no look-up but a view.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from samesame.formula.expr import Unsupported
from samesame.optimize import forms as f
from samesame.optimize.forms import Form, Place, made, number, walk
from samesame.optimize.reading import INDEXED, Reader, Value, row
from samesame.optimize.specification import are_places

LOOK_UPS = frozenset({"aten.embedding", "aten.index_select", "aten.gather", "aten.index.Tensor",
                      "aten._unsafe_index.Tensor", "aten.one_hot", "aten.scatter.value", "aten.scatter.src",
                      "aten.nll_loss_forward", "aten.nll_loss2d_forward"})
INDEXED.update(LOOK_UPS)
# What an index may be computed with: exact arithmetic, element by element.
INTEGERS = frozenset({"load", "number", "position", "plus", "minus", "times", "extremum", "compare", "not", "and", "or",
                      "where", "lookup"})
# What is looked up as a whole tensor; anything else is computed of the elements that are looked up.
WHOLE = frozenset({"load", "fold", "concat", "position", "lookup"})
Looked = Mapping[Hashable, tuple[Value, Sequence[Hashable]]]   # by label, integers and the labels of their dimensions
GIVEN = frozenset({"load", "position", "lookup"})          # of these, what is not kept for it


@row("aten.embedding")
def embedding(r: Reader, weight: Value, ids: Value, *_: Any, **__: Any) -> Value:
    rows, inner = [("row", d) for d in range(ids.rank)], [("column", d) for d in range(1, weight.rank)]
    return looked_up(r, weight, ["at", *inner], {"at": (ids, rows)}, [*rows, *inner])


@row("aten.index_select")
def index_select(r: Reader, x: Value, dim: int, ids: Value) -> Value:
    if not x.rank:
        raise Unsupported("a number as a tensor to look up in")
    labels = [("own", d) if d != dim % x.rank else "at" for d in range(x.rank)]
    chosen: list[Hashable] = ["row"] if ids.rank else [()]
    out = [chosen[0] if label == "at" else label for label in labels]
    ids = ids if ids.rank else Value(ids.form, ((),), ids.dtype)
    return looked_up(r, x, labels, {"at": (ids, chosen)}, out)


@row("aten.gather")
def gather(r: Reader, x: Value, dim: int, ids: Value, *, sparse_grad: bool = False) -> Value:
    """Each element of the index is at the same place in all other dimensions."""
    if not x.rank or x.rank != ids.rank:
        raise Unsupported("a number as a tensor to look up in")
    d = dim % x.rank
    x = _shortened(r, x, [n if k != d else r.size(x.dims[d]) for k, n in enumerate(r.shape(ids))])
    own = [k if k != d else "row" for k in range(x.rank)]
    return looked_up(r, x, [k if k != d else "at" for k in range(x.rank)], {"at": (ids, own)}, own)


def _shortened(r: Reader, x: Value, shape: Sequence[int]) -> Value:
    """The first elements of each dimension."""
    places, dims = dict[str, Place](), list(x.dims)
    for d, (dim, size) in enumerate(zip(x.dims, shape, strict=True)):
        if r.size(dim) != size:
            if len(dim) != 1 or not size:
                raise Unsupported("a part of a dimension of several axes")
            dims[d] = tuple(r.apart([r.window(dim[0], size, 1)], x, places))
            places[dim[0]] = f.along(*dims[d])
    return r.read_at(x, places, dims)


@row("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index(r: Reader, x: Value, indices: Sequence[Value | None]) -> Value:
    """The block stands where the first index is if they are neighbours, and in front otherwise."""
    given = {d: ids for d, ids in enumerate(indices) if ids is not None}
    if not given:
        raise Unsupported("no index")
    rank = max(ids.rank for ids in given.values())
    labels: list[Hashable] = [("at", d) if d in given else ("own", d) for d in range(x.rank)]
    places = {labels[d]: (ids, [("row", k + rank - ids.rank) for k in range(ids.rank)]) for d, ids in given.items()}
    kept = [labels[d] for d in range(x.rank) if d not in given]
    start = min(given) if max(given) - min(given) + 1 == len(given) else 0
    block = [("row", k) for k in range(rank)]
    return looked_up(r, x, labels, places, [*kept[:start], *block, *kept[start:]], from_the_end=True)


@row("aten.one_hot")
def one_hot(r: Reader, x: Value, classes: int = -1) -> Value:
    """Nothing is looked up, but torch raises the same error for an integer that is none of the classes."""
    if classes < 1 or any(y.operator not in INTEGERS for y in walk(x.form)):
        raise Unsupported("as many classes as the largest says, or integers that are folded")
    c = r.axis(classes)
    r.looked.append((x.form, c))
    return Value(f.where(f.compare("=", x.form, f.position(c)), number(1), number(0)), (*x.dims, (c,)), "int64")


@row("aten.scatter.value", "aten.scatter.src")
def scatter(r: Reader, x: Value, dim: int, ids: Value, value: Any) -> Value:
    """One element of each row along the dimension is another."""
    if not x.rank:
        raise Unsupported("a number as a tensor to write into")
    d, source = dim % x.rank, r.lifted(value)
    shape = tuple(n if k != d else 1 for k, n in enumerate(r.shape(x)))
    if r.kind(x) != "real" or r.shape(ids) != shape or (source.rank and r.shape(source) != shape):
        raise Unsupported("a scatter of several elements, of integers, or into a part")
    own = list(range(x.rank))
    (form, i, new), axes = r.labelled([x, ids, source], [own, own, own[:source.rank]])
    if len(axes[d]) != 1 or any(y.operator not in INTEGERS for y in walk(i)):
        raise Unsupported("a dimension of several axes, or integers that are folded")
    (axis,) = axes[d]
    r.looked.append((i, axis))
    return Value(f.where(f.compare("=", i, f.position(axis)), new, form), tuple(axes[k] for k in own), x.dtype)


def looked_up(
    r: Reader, x: Value, labels: Sequence[Hashable], places: Looked,
    out: Sequence[Hashable], from_the_end: bool = False,
) -> Value:
    """x, whose dimensions have labels, with integers in the place of some of them."""
    if any(ids.dtype not in ("int32", "int64") for ids, _ in places.values()):
        raise Unsupported("an index of another kind than int32 and int64")
    values = [x, *(ids for ids, _ in places.values())]
    (form, *indices), axes = r.labelled(values, [labels, *(own for _, own in places.values())])
    looked = list[tuple[Form, str]]()
    for label, i in reversed([*zip(places, indices, strict=True)]):     # rows last: columns are made of tables first
        if len(axes[label]) != 1 or r.size(axes[label]) == 0 or any(y.operator not in INTEGERS for y in walk(i)):
            raise Unsupported("a look-up along several axes, or at integers that are folded")
        (axis,) = axes[label]
        if (place := _place_of(r, i, r.size([axis]))) is not None:
            form = r.put(r.in_numbers(form, frozenset({axis})), {axis: place})
            continue
        if are_places(i, r.size([axis]), r.tensors):
            form = _at(r, form, axis, i)
            continue
        if from_the_end:
            i = f.where(f.compare("<", i, number(0)), f.plus(i, f.extent(axis)), i)
        looked.append((i, axis))
        form = _at(r, form, axis, i)
    if x.dtype in ("int32", "int64") and any(y.operator == "lookup" and y.arguments[0].operator not in GIVEN
                                             for y in walk(form)):
        raise Unsupported("a look-up in integers that are computed, which kernels would keep as reals")
    r.looked += looked
    return Value(form, tuple(axes[label] for label in out), x.dtype)


def _place_of(r: Reader, i: Form, size: int) -> Place | None:
    """The place that an index is, where it is positions in range; None where it is not."""
    if i.operator not in ("position", "number") or (i.operator == "number" and i.attributes[1]):
        return None
    place = i.attributes[0] if i.operator == "position" else Place((), int(i.attributes[0]))
    first = place.start(lambda axis: r.size([axis]))
    ends = [part.factor * r.size(part.over) * (r.size([part.axis]) - 1) for part in place.parts]
    low, high = first + sum(min(end, 0) for end in ends), first + sum(max(end, 0) for end in ends)
    return place if low >= 0 and high < size else None


def _at(r: Reader, x: Form, axis: str, i: Form) -> Form:
    """The form with the integer in the place of the axis: of what is computed element by element only the elements that
    are looked up are computed, unless these are more than there are."""
    if r.size({*x.axes} - {axis} | {*i.axes}) > r.size(x.axes):
        return f.lookup(axis, x, i)
    memo: dict[Form, Form] = {}
    for y in walk(x, arguments=lambda y: () if y.operator in WHOLE or axis not in y.axes else y.arguments):
        inside = y.operator in WHOLE or axis not in y.axes
        memo[y] = f.lookup(axis, y, i) if inside else made(
            y.operator, y.attributes, tuple(memo[z] for z in y.arguments))
    return memo[x]
