"""The domain of a block: what its operators demand of the integer tensors they index with.

A lookup of a row demands that the row exists; outside of that the program computes nothing, and two programs are
compared only where both compute something. So an integer tensor of a block's frontier that is used as an index lies
in a range, on both sides, and the proof may use it; the report says so. Only demands on every element count: an
index that is sliced first is demanded in part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from samesame.formula.assumptions import Assumption, Within
from samesame.formula.expr import Expr, Extremum, add, maximum, minimum, mul
from samesame.formula.sizes import canonical
from samesame.formula.tensor import Dim
from samesame.graph import Graph, Node
from samesame.operators.demands import Range, demands, is_integer, last
from samesame.operators.table import packet

# Losses of labels, their second argument: each is a class, or the number that the loss ignores (−100 if not said).
LOSSES = frozenset(
    f"aten.{name}"
    for name in [
        *("nll_loss", "nll_loss_forward", "nll_loss2d", "nll_loss2d_forward", "nll_loss_nd", "cross_entropy_loss"),
    ]
)
# Movements that keep every element, so that a demand on the result is a demand on the argument.
KEEPING = frozenset(
    f"aten.{name}"
    for name in [
        *("view", "_unsafe_view", "reshape", "permute", "transpose", "t", "unsqueeze", "squeeze", "flatten"),
        *("expand", "repeat", "_to_copy", "clone", "contiguous", "detach"),
    ]
)
# Those that keep every element, too, and the shape, with other elements where these stood.
SHIFTING = frozenset(("aten.roll", "aten.flip"))
# Movements that leave out elements, or fill up with numbers.
CUTTING = frozenset(("aten.slice", "aten.select", "aten.narrow", "aten.constant_pad_nd"))

# Operators whose integer results are positions along one dimension: which result, where that dimension is given if not
# by its name, and its default.
POSITIONS: dict[str, tuple[int | None, int, int | None]] = {
    "aten.topk": (1, 2, -1),
    "aten.sort": (1, 1, -1),
    "aten.argsort": (None, 1, -1),
    "aten.argmax": (None, 1, None),
    "aten.argmin": (None, 1, None),
}


def positions(
    operator: str, result: int | None, shape: tuple[int, ...], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> Range | None:
    """The range of an operator's integer result that is a position in its argument, of that shape, by definition."""
    which, place, default = POSITIONS.get(operator.rsplit(".", 1)[0], (-1, 0, None))
    dim = args[place] if len(args) > place else kwargs.get("dim", default)
    if which != result or not isinstance(dim, int) or not shape:
        return None
    return 0, last(shape[dim])


def demanded(graph: Graph, negative: Callable[[Node], bool]) -> dict[str, Range]:
    """The range of each integer input, by name, that the graph's own operators demand it to lie in.

    A negative index counts from the end; where none was seen (`negative` says so of an input), none is assumed.
    """
    return _ranges((demand for node in graph.nodes for demand in demands(node)), negative)


def labels(graph: Graph, negative: Callable[[Node], bool]) -> dict[str, Range]:
    """The range of each input that holds labels, by name, if none of them is the negative number that a loss ignores;
    of inputs that were seen to be negative, nothing is said. Labels may be shifted and padded before a loss has them:
    what is said is said of all that the input holds."""
    losses = [node for node in graph.nodes if packet(node.operator) in LOSSES and ignored(node) <= 0]
    held: list[tuple[Node, Range]] = [(node.args[1], (0, last(_classes(node)))) for node in losses]
    held += [(label, bounds) for node in graph.nodes for index, bounds in demands(node)
             if (label := _unless_ignored(index)) is not None]
    sources = [(source, bounds) for label, bounds in held for source in inputs_in(label) if is_integer(source)]
    return _ranges((found for found in sources if not negative(found[0])), negative)


def ignorable(graph: Graph) -> dict[str, tuple[int, Dim]]:
    """The number that a loss ignores and the last class, for each input that a loss has whole as its labels: for others
    it has no value."""
    losses = [node for node in graph.nodes if packet(node.operator) in LOSSES and ignored(node) < 0]
    held = ((whole(node.args[1]), ignored(node), last(_classes(node))) for node in losses)
    return {label.name: (number, end) for label, number, end in held if label.operator == "input"}


def _unless_ignored(index: Node) -> Node | None:
    """The labels of an index that is a label unless the loss ignores it, `where(t != -100, t, 0)`: so the gradient of a
    loss is written."""
    node = whole(index)
    if packet(node.operator) != "aten.where" or len(node.args) < 2:
        return None
    asked, label = in_order(node.args[0]), in_order(node.args[1])
    if packet(asked.operator) != "aten.ne" or not isinstance(asked.args[1], int) or asked.args[1] > 0:
        return None
    return label if in_order(asked.args[0]) is label else None


def _classes(loss: Node) -> Dim:
    """How many classes a loss tells apart."""
    shape: tuple[Dim, ...] = loss.args[0].shape
    return shape[1] if len(shape) > 1 else shape[0]


def ignored(loss: Node) -> int:
    number: int = loss.args[4] if len(loss.args) > 4 else loss.kwargs.get("ignore_index", -100)
    return number


def _ranges(demands: Iterable[tuple[Node, Range]], negative: Callable[[Node], bool]) -> dict[str, Range]:
    """The ranges of the inputs that these demands are about, each the tightest."""
    found, parts = dict[Node, Range](), dict[tuple[Node, int], dict[int, Range]]()
    for index, (low, high) in demands:
        for source, part in _held(index):
            own = parts.setdefault((source, part[0]), {}) if part is not None else found
            key: Any = source if part is None else part[1]
            bounds = low if negative(source) else 0, high
            before = own.get(key, bounds)
            own[key] = _bound(maximum, bounds[0], before[0]), _bound(minimum, bounds[1], before[1])
    for (source, dim), rows in parts.items():
        every = _of_all(list(rows.values())) if len(rows) == source.shape[dim] else None
        if every is not None:
            before = found.get(source, every)
            found[source] = _bound(maximum, every[0], before[0]), _bound(minimum, every[1], before[1])
    return {node.name: bounds for node, bounds in found.items() if not _is_empty(bounds)}


def _held(index: Node) -> Iterator[tuple[Node, tuple[int, int] | None]]:
    """The integer inputs whose elements an index holds: all of an input, or one row of it, with its dimension and its
    position there."""
    node = whole(index)
    if packet(node.operator) == "aten.cat":
        for part in node.args[0]:
            yield from _held(part)
        return
    joined, place = row_of(node)
    for source in _side_by_side(joined, place):
        if source.operator == "input" and is_integer(source) and (
                place is None or all(isinstance(number, int) for number in (*place, source.shape[place[0]]))):
            yield source, place


def _side_by_side(node: Node, place: tuple[int, Any] | None) -> list[Node]:
    """The tensors of which a row of this one holds a row each, put together along another dimension; else itself."""
    if place is None or packet(node.operator) != "aten.cat":
        return [node]
    dim = node.args[1] if len(node.args) > 1 else 0
    return [node] if dim % len(node.shape) == place[0] else list(node.args[0])


def row_of(node: Node) -> tuple[Node, tuple[int, int] | None]:
    """The tensor of which a node is one row, with its dimension and its position there; else the node itself. Both are
    counted from the start, where that dimension's size is a number."""
    if packet(node.operator) == "aten.select":
        source, dim, position = node.args
    elif node.operator == "getitem" and packet(node.args[0].operator) == "aten.unbind":
        cut = node.args[0]
        source, dim, position = cut.args[0], cut.args[1] if len(cut.args) > 1 else 0, node.args[1]
    else:
        return node, None
    dim %= len(source.shape)
    size = source.shape[dim]
    return source, (dim, position % size if isinstance(position, int) and isinstance(size, int) else position)


def _of_all(rows: list[Range]) -> Range | None:
    """A range in which the elements of all rows lie; None where it is not known which is the widest."""
    (low, high), *others = rows
    for a, b in others:
        low, high = canonical(minimum(low, a)), canonical(maximum(high, b))
    return None if isinstance(low, Extremum) or isinstance(high, Extremum) else (low, high)


def _bound(extremum: Callable[..., Expr], a: Dim, b: Dim) -> Dim:
    """The tighter of two bounds, which the solver can use only where it is one polynomial: else the first of them."""
    tighter = canonical(extremum(a, b))
    return a if isinstance(tighter, Extremum) else tighter


def _is_empty(bounds: Range) -> bool:
    gap = canonical(add(bounds[0], mul(-1, bounds[1])))
    return isinstance(gap, int) and gap > 0


def whole(node: Node) -> Node:
    """The tensor of which the node holds every element, and no others."""
    while (kept := in_order(node)) is not node or packet(node.operator) in SHIFTING:
        node = kept if kept is not node else node.args[0]
    return node


def in_order(node: Node) -> Node:
    """The same, with each element where it stood."""
    while packet(node.operator) in KEEPING and len(node.inputs) == 1:
        node = node.inputs[0]
    return node


def inputs_in(node: Node) -> Iterator[Node]:
    """The inputs of which a tensor holds elements, beside numbers that fill it up."""
    node = whole(node)
    while packet(node.operator) in CUTTING:
        node = whole(node.args[0])
    if packet(node.operator) == "aten.cat":
        for part in node.args[0]:
            yield from inputs_in(part)
    elif node.operator == "input":
        yield node


def in_range(ranges: Mapping[str, Range], classes: Collection[str] = ()) -> list[Assumption]:
    """What a proof takes for granted of integers that index, as conditions on them; those of labels say so."""
    found = (Within(name, low, high, name in classes) for name, (low, high) in ranges.items())
    return sorted(found, key=str)
