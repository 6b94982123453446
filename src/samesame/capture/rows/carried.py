"""Which dimensions of a result run over chosen rows, given those of the arguments.

A dimension runs over a selection if it holds one row for each position of a mask, in order, of which only those at true
positions mean something. An operator may take such tensors where it does the same to each row, whatever rows there are;
each entry here is one family of operators, and says which rows its result has. An operator without an entry, or that
would mix rows, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch

from samesame.graph import Node, TensorType, nodes_in
from samesame.operators.execute import bound, resolve


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The positions of a mask: its shape, its truths in one dimension as a tensor, and the node that decides."""

    shape: tuple[int, ...]
    mask: torch.Tensor
    node: Node

    @property
    def count(self) -> int:
        return prod(self.shape)


Axis = Selection | None
Axes = tuple[Axis, ...]
Known = Mapping[Node, Any]                                 # node → Axes, or a tuple of them for several results
Rule = Callable[["Given"], Any]


class Mixes(Exception):
    """An operator does something to chosen rows that depends on which rows there are: what it does, in words that
    "rows that data chose" may follow, where they do not hold it."""


@dataclass(frozen=True, slots=True)
class Given:
    """An application: its arguments by name, the type of its result, and what is known of the axes of its arguments."""

    node: Node
    named: dict[str, Any]
    known: Known

    def __getitem__(self, name: str) -> Any:
        return self.named[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self.named.get(name, default)

    def axes(self, node: Node) -> Axes:
        found: Axes = self.known.get(node) or (None,) * len(node.shape)
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        type_ = self.node.type[0] if isinstance(self.node.type, tuple) else self.node.type
        return type_.shape

    def dim(self, name: str, rank: int, default: int = 0) -> int:
        return int(self.get(name, default)) % max(rank, 1)

    def dims(self, name: str, rank: int) -> list[int]:
        """The dimensions that an argument names; all where it names none."""
        dims = self.get(name)
        if dims is None or dims == ():
            return list(range(rank))
        return [int(d) % max(rank, 1) for d in (dims if isinstance(dims, tuple) else (dims,))]


def carried(node: Node, known: Known) -> Any:
    """The axes of a node's result, or a tuple of these for several results; None if no argument has any. Raises
    Mixes."""
    if not any(part in known for part in node.inputs):
        return None
    if node.operator == "getitem":
        return known[node.args[0]][node.args[1]]
    operation = resolve(node.operator)
    given = Given(node, bound(operation, node.args, node.kwargs), known)
    rule = RULES.get(node.operator.rpartition(".")[0])
    if rule is None and torch.Tag.pointwise in operation.tags:
        rule = pointwise
    if rule is None:
        raise Mixes(f"calls {operation._opname} on")
    found = rule(given)
    if not isinstance(node.type, tuple):
        check(found, node.type)
        return found
    if not (found and isinstance(found[0], tuple)):
        found = (found,) * len(node.type)
    for axes, type_ in zip(found, node.type, strict=True):
        check(axes, type_)
    return found


def check(axes: Axes, type_: TensorType) -> None:
    """A dimension over a selection has as many rows as that has positions."""
    assert len(axes) == len(type_.shape), "a rule gives one axis to each dimension"
    assert all(axis is None or axis.count == n for axis, n in zip(axes, type_.shape, strict=True))


# ------------------------------------------------------------------------------------------------------------ alignment


def together(shape: Sequence[int], parts: Iterable[tuple[Sequence[int], Axes]]) -> Axes:
    """The axes of what tensors, of these shapes and axes, broadcast to."""
    given, found = list(parts), list[Axis]()
    for back in range(len(shape), 0, -1):
        here = [(sizes[-back], axes[-back]) for sizes, axes in given if len(sizes) >= back]
        one = {axis for _, axis in here if axis is not None}
        if len(one) > 1:
            raise Mixes("puts rows that data chose together with others")
        axis = next(iter(one), None)
        if axis is not None and any(other is None and n != 1 for n, other in here):
            raise Mixes("puts rows that data chose together with tensors of all rows")
        if axis is not None and shape[-back] != axis.count:
            raise Mixes("broadcasts")
        found.append(axis)
    return tuple(found)


def pointwise(given: Given) -> Axes:
    nodes = nodes_in((tuple(given.named.values()),))
    return together(given.shape, [(node.shape, given.axes(node)) for node in nodes])


def demand_none(axes: Axes, dims: Iterable[int], doing: str) -> None:
    if any(axes[d] is not None for d in dims):
        raise Mixes(doing)


def none_of(given: Given, *names: str) -> None:
    """These arguments have no chosen rows."""
    for node in nodes_in(tuple(given.get(name) for name in names)):
        if any(given.axes(node)):
            raise Mixes(f"calls {given.node.operator.split('.')[1]} with a {names[0]} made of")


# ------------------------------------------------------------------------------------------------------------- movement


def reshape(given: Given) -> Axes:
    """A row dimension stays one where as many elements come before it as did."""
    return regrouped(given["self"].shape, given.axes(given["self"]), given.shape)


def regrouped(before: Sequence[int], axes: Axes, after: Sequence[int]) -> Axes:
    found: list[Axis] = [None] * len(after)
    for d, axis in enumerate(axes):
        if axis is None:
            continue
        places = [e for e, n in enumerate(after)
                  if n == axis.count and found[e] is None and prod(after[:e]) == prod(before[:d])]
        if not places:
            raise Mixes("reshapes across")
        found[places[0]] = axis
    return tuple(found)


def expand(given: Given) -> Axes:
    x = given["self"]
    return together(given.shape, [(x.shape, given.axes(x))])


def permute(given: Given) -> Axes:
    axes = given.axes(given["self"])
    return tuple(axes[d] for d in given.dims("dims", len(axes)))


def transpose(given: Given) -> Axes:
    axes = list(given.axes(given["self"]))
    a, b = given.dim("dim0", len(axes)), given.dim("dim1", len(axes))
    axes[a], axes[b] = axes[b], axes[a]
    return tuple(axes)


def t(given: Given) -> Axes:
    return given.axes(given["self"])[::-1]


def unsqueeze(given: Given) -> Axes:
    axes = list(given.axes(given["self"]))
    axes.insert(int(given["dim"]) % (len(axes) + 1), None)
    return tuple(axes)


def squeeze(given: Given) -> Axes:
    """A dimension of chosen rows would go where one row is chosen, so it must not be named."""
    x = given["self"]
    axes = given.axes(x)
    if "dim" not in given.named:
        raise Mixes("squeezes, without saying which dimension,")
    dims = given.dims("dim", len(axes))
    demand_none(axes, dims, "squeezes")
    return tuple(axis for d, axis in enumerate(axes) if not (d in dims and x.shape[d] == 1))


def select(given: Given) -> Axes:
    axes = given.axes(given["self"])
    dim = given.dim("dim", len(axes))
    demand_none(axes, [dim], "takes one row by its number from")
    return axes[:dim] + axes[dim + 1 :]


def of_other_dims(name: str, doing: str, default: int = 0) -> Rule:
    """The result has the argument's dimensions, and the named ones are no rows."""
    def rule(given: Given) -> Axes:
        axes = given.axes(given["self"])
        dims = given.dims(name, len(axes)) if name in given.named else [default % max(len(axes), 1)]
        demand_none(axes, dims, doing)
        return axes

    return rule


def cat(given: Given) -> Axes:
    parts = given["tensors"]
    dim = given.dim("dim", len(parts[0].shape))
    for part in parts:
        demand_none(given.axes(part), [dim], "joins others to")
    sizes = [[1 if d == dim else n for d, n in enumerate(part.shape)] for part in parts]
    shape = [1 if d == dim else n for d, n in enumerate(given.shape)]
    return together(shape, [(n, given.axes(part)) for n, part in zip(sizes, parts, strict=True)])


def stack(given: Given) -> Axes:
    parts = given["tensors"]
    axes = list(together(parts[0].shape, [(part.shape, given.axes(part)) for part in parts]))
    axes.insert(given.dim("dim", len(axes) + 1), None)
    return tuple(axes)


def unbind(given: Given) -> Any:
    axes = given.axes(given["self"])
    dim = given.dim("dim", len(axes))
    demand_none(axes, [dim], "takes apart")
    return (axes[:dim] + axes[dim + 1 :],) * len(given.node.type)      # type: ignore[arg-type]


def put_back(given: Given) -> Axes:
    """`slice_scatter`, `select_scatter`: a part is written into the whole."""
    whole, part = given["self"], given["src"]
    axes, inner = given.axes(whole), given.axes(part)
    dim = given.dim("dim", len(axes))
    demand_none(axes, [dim], "writes some of")
    if len(inner) < len(axes):
        inner = (*inner[:dim], None, *inner[dim:])
    if axes != inner:
        raise Mixes("writes rows that data chose into others")
    return axes


# --------------------------------------------------------------------------------------------------------- contractions


def linear(given: Given) -> Axes:
    none_of(given, "weight", "bias")
    axes = given.axes(given["input"])
    demand_none(axes, [-1], "sums over")
    return (*axes[:-1], None)


def product(given: Given) -> Axes:
    """`matmul` and its like: rows of the left, columns of the right, and what is before them broadcast."""
    a, b = (given[name] for name in (("self", "mat2") if "mat2" in given.named else ("self", "other")))
    if len(a.shape) < 2 or len(b.shape) < 2:
        return of_vector(given, a, b)
    left, right = given.axes(a), given.axes(b)
    demand_none((left[-1], right[-2]), (0, 1), "sums over")
    batch = together(given.shape[:-2], [(a.shape[:-2], left[:-2]), (b.shape[:-2], right[:-2])])
    return (*batch, left[-2], right[-1])


def of_vector(given: Given, a: Node, b: Node) -> Axes:
    """A product with a vector sums over its one dimension."""
    left, right = given.axes(a), given.axes(b)
    demand_none((left[-1], right[-2] if len(right) > 1 else right[0]), (0, 1), "sums over")
    return left[:-1] if len(b.shape) == 1 else (*right[:-2], right[-1])


def bilinear(given: Given) -> Axes:
    """`addmm`, `baddbmm`: a product, and something added to it."""
    a, b = (given[name] for name in (("mat1", "mat2") if "mat1" in given.named else ("batch1", "batch2")))
    inner = Given(given.node, {"self": a, "other": b}, given.known)
    added = given["self"]
    return together(given.shape, [(given.shape, product(inner)), (added.shape, given.axes(added))])


def letters(equation: str, operands: Sequence[Node]) -> tuple[list[str], str]:
    """The letters of each operand of an einsum, and of its result. Raises Mixes where they are not all written."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    if not arrow or "." in equation:
        raise Mixes("writes an einsum without a result, or with dots, of")
    return left.split(","), right


def einsum(given: Given) -> Axes:
    operands = given["tensors"]
    parts, result = letters(given["equation"], operands)
    one: dict[str, Axis] = {}
    for part, node in zip(parts, operands, strict=True):
        for letter, axis in zip(part, given.axes(node), strict=True):
            if letter in one and one[letter] is not axis:
                raise Mixes("puts rows that data chose together with tensors of all rows")
            one[letter] = axis
    if any(axis is not None and letter not in result for letter, axis in one.items()):
        raise Mixes("sums over")
    return tuple(one[letter] for letter in result)


# ----------------------------------------------------------------------------------------------- norms and reductions


def normed(given: Given) -> Axes:
    x = given["input"]
    axes = given.axes(x)
    none_of(given, "weight", "bias")
    demand_none(axes, range(len(axes) - len(given["normalized_shape"]), len(axes)), "takes a norm over")
    return axes


def by_sample(given: Given) -> Axes:
    """The first dimension counts samples, and nothing is computed across them."""
    axes = given.axes(given["input"])
    none_of(given, *(name for name in given.named if name not in ("input", "self")))
    demand_none(axes, range(1, len(axes)), "mixes")
    if given.get("training") or given.get("use_input_stats"):
        raise Mixes("takes statistics of")
    return axes


def reduced(given: Given) -> Axes:
    """Reductions over other dimensions than that of rows."""
    x = given["self"]
    axes = given.axes(x)
    dims = given.dims("dim", len(axes))
    demand_none(axes, dims, f"takes {given.node.operator.split('.')[1]} over")
    if given.get("keepdim", False):
        return axes
    return tuple(axis for d, axis in enumerate(axes) if d not in dims)


# -------------------------------------------------------------------------------------------------------------- lookups


def index(given: Given) -> Axes:
    """The dimensions of the indices take the place of those that they index."""
    x, indices = given["self"], given["indices"]
    axes = given.axes(x)
    used = [d for d, i in enumerate(indices) if i is not None]
    parts = [indices[d] for d in used]
    if any(part.type.dtype in ("bool", "uint8") for part in parts):
        raise Mixes("indexes with a further mask among")
    demand_none(axes, used, "looks up by number among")
    rank = max(len(part.shape) for part in parts)
    start = used[0] if used == list(range(used[0], used[-1] + 1)) else 0
    block = together(given.shape[start : start + rank], [(part.shape, given.axes(part)) for part in parts])
    kept = [axis for d, axis in enumerate(axes) if d not in used]
    return (*kept[:start], *block, *kept[start:])


def index_select(given: Given) -> Axes:
    axes = list(given.axes(given["self"]))
    dim = given.dim("dim", len(axes))
    demand_none(tuple(axes), [dim], "looks up by number among")
    axes[dim] = next(iter(given.axes(given["index"])), None)
    return tuple(axes)


def gather(given: Given) -> Axes:
    """Lookups and writes along a dimension that is not that of rows, at indices of the same rows."""
    rank = len(given["self"].shape)
    dim = given.dim("dim", rank)
    parts = [node for node in nodes_in((given["self"], given["index"], given.get("src"))) if node.shape]
    for part in parts:
        demand_none(given.axes(part), [dim], "looks up by number among")
    shape = [1 if d == dim else n for d, n in enumerate(given.shape)]
    sizes = [[1 if d == dim else n for d, n in enumerate(part.shape)] for part in parts]
    return together(shape, [(n, given.axes(part)) for n, part in zip(sizes, parts, strict=True)])


def embedding(given: Given) -> Axes:
    none_of(given, "weight")
    return (*given.axes(given["indices"]), None)


def one_hot(given: Given) -> Axes:
    if given.get("num_classes", -1) < 0:
        raise Mixes("counts the classes of")
    return (*given.axes(given["self"]), None)


def loss(given: Given) -> Axes:
    """One loss for each element."""
    if given.get("reduction", 1) != 0:
        raise Mixes("takes a mean over")
    return pointwise(given)


def nll_loss(given: Given) -> Any:
    """Without a reduction: one loss for each row."""
    if given["reduction"] != 0:
        raise Mixes("takes a mean over")
    axes = given.axes(given["target"])
    if given.axes(given["self"])[: len(axes)] != axes:
        raise Mixes("puts rows that data chose together with tensors of all rows")
    return axes, ()


def _table(*rows: tuple[str, Rule]) -> Iterator[tuple[str, Rule]]:
    for names, rule in rows:
        yield from (("aten." + name, rule) for name in names.split())


RULES: dict[str, Rule] = dict(_table(
    ("_to_copy floor_divide", pointwise),
    ("reshape", reshape),
    ("expand", expand),
    ("permute", permute),
    ("transpose", transpose),
    ("t", t),
    ("unsqueeze", unsqueeze),
    ("squeeze", squeeze),
    ("select", select),
    ("slice split split_with_sizes unsafe_split unsafe_split_with_sizes", of_other_dims("dim", "cuts off some of")),
    ("unbind", unbind),
    ("flip", of_other_dims("dims", "changes the order of")),
    ("roll", of_other_dims("dims", "changes the order of")),
    ("cat", cat),
    ("stack", stack),
    ("slice_scatter select_scatter", put_back),
    ("linear", linear),
    ("matmul mm bmm", product),
    ("addmm baddbmm", bilinear),
    ("einsum", einsum),
    ("softmax _softmax log_softmax _log_softmax", of_other_dims("dim", "takes a softmax over")),
    ("cumsum cumprod logcumsumexp", of_other_dims("dim", "adds up one after the other")),
    ("sort argsort", of_other_dims("dim", "sorts", -1)),
    ("topk glu", of_other_dims("dim", "orders", -1)),
    ("layer_norm rms_norm", normed),
    ("batch_norm group_norm", by_sample),
    ("sum mean amax amin any all prod argmax argmin max min var std var_mean std_mean logsumexp linalg_vector_norm "
     "count_nonzero", reduced),
    ("index _unsafe_index", index),
    ("index_select", index_select),
    ("gather scatter scatter_add", gather),
    ("embedding", embedding),
    ("one_hot", one_hot),
    ("nll_loss_forward", nll_loss),
    ("mse_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits", loss),
))
