"""What becomes of chosen rows that are not computed row by row any more.

They are added to rows of another tensor, written over them, summed, averaged: each entry here says it in plain torch
over all rows, of which those that are not chosen are replaced first, by 0 where rows are added up. `where` replaces
them: a factor of 0 would let a NaN through.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from samesame.capture.rows.carried import Mixes, Selection, letters

if TYPE_CHECKING:
    from samesame.capture.rows.chosen import Rows

Tensor = torch.Tensor
TOGETHER = "puts rows that data chose together with tensors of all rows"
Ending = Callable[["Rows", Any, dict[str, Any]], Any]


def ends(rows: Rows, x: Tensor, dims: Iterable[int]) -> list[int]:
    """Those of the dimensions that run over chosen rows."""
    axes = rows.axes(x)
    return [d % len(axes) for d in dims if axes and axes[d] is not None]


def named_dims(given: dict[str, Any], name: str, rank: int) -> list[int]:
    dims = given.get(name)
    if dims is None or dims == []:
        return list(range(rank))
    return [d % max(rank, 1) for d in (dims if isinstance(dims, list | tuple) else [dims])]


def lowest(x: Tensor) -> float | int | bool:
    return -math.inf if x.dtype.is_floating_point else False if x.dtype == torch.bool else torch.iinfo(x.dtype).min


def highest(x: Tensor) -> float | int | bool:
    return math.inf if x.dtype.is_floating_point else True if x.dtype == torch.bool else torch.iinfo(x.dtype).max


# ----------------------------------------------------------------------------------------------------------- reductions


def reduction(fill: Callable[[Tensor], float | int | bool]) -> Ending:
    """A reduction over all rows in which those not chosen hold what changes nothing."""
    def ending(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
        x = given["self"]
        dims = ends(rows, x, named_dims(given, "dim", x.dim()))
        if not dims:
            return NotImplemented
        return operation(**given | {"self": rows.blank(x, dims, fill(x))})

    return ending


def mean(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
    """The sum over chosen rows, divided by their number."""
    x = given["self"]
    dims = named_dims(given, "dim", x.dim())
    over = ends(rows, x, dims)
    if not over:
        return NotImplemented
    axes = rows.axes(x)
    total = torch.sum(rows.blank(x, over, 0), dims, keepdim=given.get("keepdim", False), dtype=given.get("dtype"))
    number: Any = math.prod(x.shape[d] for d in dims if d not in over)
    for axis in (axes[d] for d in over):
        assert axis is not None
        number = number * axis.mask.sum()
    return total / number


def position_kept(fill: Callable[[Tensor], float | int | bool], default: int = -1) -> Ending:
    """A softmax over chosen rows, or their running sum: there is one result for each of them."""
    def ending(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
        x = given["self"]
        axes, dims = rows.axes(x), ends(rows, x, [given.get("dim", default)])
        if not dims:
            return NotImplemented
        return rows.mark(operation(**given | {"self": rows.blank(x, dims, fill(x))}), axes)

    return ending


def nothing(x: Tensor) -> int:
    return 0


def of_losses(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
    """A loss that is computed element by element, and then reduced."""
    way = given.get("reduction", 1)
    if way == 0:
        return NotImplemented
    each = operation(**given | {"reduction": 0})
    return each.mean() if way == 1 else each.sum()


def nll_loss(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
    """Rows that are not chosen are ignored, as those are that `ignore_index` names."""
    scores, target, ignored = given["self"], given["target"], given["ignore_index"]
    dims = ends(rows, target, range(target.dim()))
    if not dims:
        return NotImplemented
    if rows.axes(scores)[:1] != rows.axes(target)[:1]:
        raise Mixes(TOGETHER)
    axes, kept = rows.axes(target), given["reduction"] == 0
    found = operation(**given | {"self": rows.blank(scores, dims, 0), "target": rows.blank(target, dims, ignored)})
    return (rows.mark(found[0], axes), found[1]) if kept else found


# --------------------------------------------------------------------------------------------------------- contractions


def contraction(left: str, right: str, of_left: int, of_right: int) -> Ending:
    """A product that sums over chosen rows: on both sides they are 0 where they are not chosen."""
    def ending(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
        a, b = given[left], given[right]
        down, across = ends(rows, a, [of_left]), ends(rows, b, [of_right if b.dim() > 1 else -1])
        if not down and not across:
            return NotImplemented
        if not (down and across) or rows.axes(a)[down[0]] is not rows.axes(b)[across[0]]:
            raise Mixes(TOGETHER)
        return operation(**given | {left: rows.blank(a, down, 0), right: rows.blank(b, across, 0)})

    return ending


def einsum(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
    operands = list(given["tensors"])
    parts, result = letters(given["equation"], [])
    summed = False
    for k, (part, x) in enumerate(zip(parts, operands, strict=True)):
        dims = [d for d in ends(rows, x, range(x.dim())) if part[d] not in result]
        if dims:
            operands[k], summed = rows.blank(x, dims, 0), True
    return operation(given["equation"], operands) if summed else NotImplemented


# ------------------------------------------------------------------------------------------------- rows put into others


def index_add(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
    """Rows are added to others at their positions."""
    out, index, source = given["self"], given["index"], given["source"]
    dim = given["dim"] % max(out.dim(), 1)
    selection = rows.of(index, 0)
    if selection is None or rows.of(source, dim) is not selection:
        raise Mixes("adds to others, at places that are not those of,")
    blank = rows.blank(source, [dim], 0)
    places = rows.places([index])
    scale = given.get("alpha", 1)
    if places is not None and dim == 0 and out.shape[0] == selection.shape[places[1][0]]:
        added = summed(blank, selection, places[1])
        added = added if scale == 1 else added * scale
        return out.add_(added) if in_place(operation) else out + added
    return rows.plainly(operation, given | {"index": rows.lookup(index), "source": blank}, "index")


def summed(x: Tensor, selection: Selection, dims: Sequence[int]) -> Tensor:
    """Rows that are 0 where they are not chosen, summed over those dimensions of the mask that are not these; these
    come first, in this order."""
    whole = x.reshape(selection.shape + tuple(x.shape[1:]))
    others = [d for d in range(len(selection.shape)) if d not in dims]
    return ordered(whole.sum(others) if others else whole, dims)


def scatter_add(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
    index, source = given["index"], given["src"]
    dim = given["dim"] % max(index.dim(), 1)
    dims = ends(rows, index, [dim])
    if not dims and not ends(rows, source, [dim]):
        return NotImplemented
    if not dims or rows.of(source, dim) is not rows.of(index, dim):
        raise Mixes("adds to others, at places that are not those of,")
    return rows.plainly(operation, given | {"index": rows.lookup(index), "src": rows.blank(source, dims, 0)}, "index")


def bincount(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
    """Rows that are not chosen are zeros, which weigh nothing or are taken off again: what stands in such rows is never
    beyond what is counted."""
    counted, weights = given["self"], given.get("weights")
    selection = rows.of(counted, 0)
    if selection is None or (weights is not None and rows.of(weights, 0) is not selection):
        raise Mixes(TOGETHER)
    index = rows.blank(counted, [0], 0)
    if weights is not None:
        return operation(**given | {"self": index, "weights": rows.blank(weights, [0], 0)})
    found, others = operation(**given | {"self": index}), selection.mask.logical_not().sum()
    return found - others * (torch.arange(len(found), device=found.device) == 0)


def index_put(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
    """Rows are written over others, or added to them, at the positions of their own mask."""
    out, values = given["self"], given["values"]
    target = rows.places(rows.positions(given["indices"]) or [])
    if target is None:
        raise Mixes("writes to other places than their own")
    selection, dims = target
    if any(rows.axes(out)) or tuple(out.shape[: len(dims)]) != tuple(selection.shape[d] for d in dims):
        raise Mixes("writes to other places than their own")
    others = [d for d in range(len(selection.shape)) if d not in dims]
    once, of_rows = not others or rows.at_most_one(selection, others), rows.of(values, 0) is selection
    adds = given.get("accumulate", False)
    summand = None if adds or not once else rows.summand(out, values, target)
    total = summed(rows.zeroed(values if summand is None else summand, selection, out.shape[len(dims) :]),
                   selection, dims)
    if adds or summand is not None:
        return out.add_(total) if in_place(operation) else out + total
    if not once and of_rows:
        raise Mixes("writes to places that may repeat, of which the last one wins,")
    hit = broad(selection.mask.reshape(selection.shape), len(selection.shape))
    for d in reversed(others):
        hit = hit.any(d)
    hit = broad(ordered(hit, dims), out.dim())
    new = torch.where(hit, total if of_rows else values.to(out.dtype), out)
    return out.copy_(new) if in_place(operation) else new


def in_place(operation: Any) -> bool:
    return str(operation._opname).endswith("_")


def ordered(x: Tensor, dims: Sequence[int]) -> Tensor:
    """The first dimensions of a tensor, which are these of the mask from the lowest on, in the order given."""
    order = [sorted(dims).index(d) for d in dims]
    return x if order == sorted(order) else x.permute(*order, *range(len(order), x.dim()))


def broad(mask: Tensor, rank: int) -> Tensor:
    """A mask over the first dimensions of a tensor of this rank."""
    return mask.reshape(tuple(mask.shape) + (1,) * (rank - mask.dim()))


def index_copy(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
    if given["dim"] % max(given["self"].dim(), 1) != 0:
        raise Mixes("copies elsewhere")
    put = torch.ops.aten.index_put_.default if in_place(operation) else torch.ops.aten.index_put.default
    return index_put(rows, put, {"self": given["self"], "indices": [given["index"]], "values": given["source"]})


# -------------------------------------------------------------------------------------------------------------- lookups


def lookup(name: str) -> Ending:
    """Indices of rows that are not chosen may be none: they are 0."""
    def ending(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
        index = rows.lookup(given[name])
        return NotImplemented if index is given[name] else operation(**given | {name: index})

    return ending


def index(rows: Rows, operation: Any, given: dict[str, Any]) -> Any:
    """Rows of a tensor at positions: those of the mask itself are the tensor's own rows, in its order."""
    x, before = given["self"], list(given["indices"])
    positions = rows.positions(before)
    found = None if positions is None or any(rows.axes(x)) else rows.own(x, positions)
    if found is None:
        found = rows.at_numbers(x, before)
    if found is not None:
        return found
    after = [None if i is None else rows.lookup(i) for i in rows.opened(before)]
    same = len(after) == len(before) and all(a is b for a, b in zip(after, before, strict=True))
    return NotImplemented if same else torch.ops.aten.index.Tensor(x, after)


ENDINGS: dict[str, Ending] = {
    "sum": reduction(nothing),
    "mean": mean,
    "prod": reduction(lambda x: 1),
    "amax": reduction(lowest),
    "amin": reduction(highest),
    "max": reduction(lowest),
    "min": reduction(highest),
    "any": reduction(lambda x: 0),
    "all": reduction(lambda x: 1),
    "count_nonzero": reduction(nothing),
    "logsumexp": reduction(lowest),
    "linalg_vector_norm": reduction(nothing),
    "softmax": position_kept(lowest),
    "_softmax": position_kept(lowest),
    "log_softmax": position_kept(lowest),
    "_log_softmax": position_kept(lowest),
    "cumsum": position_kept(nothing),
    "mse_loss": of_losses,
    "smooth_l1_loss": of_losses,
    "huber_loss": of_losses,
    "binary_cross_entropy": of_losses,
    "binary_cross_entropy_with_logits": of_losses,
    "nll_loss_forward": nll_loss,
    "matmul": contraction("self", "other", -1, -2),
    "mm": contraction("self", "mat2", -1, -2),
    "bmm": contraction("self", "mat2", -1, -2),
    "einsum": einsum,
    "index_add": index_add,
    "scatter_add": scatter_add,
    "bincount": bincount,
    "index_put": index_put,
    "_index_put_impl": index_put,
    "index_copy": index_copy,
    "index": index,
    "embedding": lookup("indices"),
    "index_select": lookup("index"),
    "gather": lookup("index"),
    "one_hot": lookup("self"),
}
