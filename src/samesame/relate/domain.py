"""The domain of a block: what its operators demand of the integer tensors they index with.

A lookup of a row demands that the row exists; outside of that the program computes nothing, and two programs are
compared only where both compute something. So an integer tensor of a block's frontier that is used as an index lies
in a range, on both sides, and the proof may use it; the report says so. Only demands on every element count: an
index that is sliced first is demanded in part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from samesame.formula.expr import Expr, Extremum, add, maximum, minimum, mul
from samesame.formula.sizes import canonical, size_text
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
    of inputs that were seen to be negative, nothing is said."""
    losses = [node for node in graph.nodes if packet(node.operator) in LOSSES and _ignored(node) <= 0]
    demands = [(node.args[1], (0, last(_classes(node)))) for node in losses]
    return _ranges((demand for demand in demands if not negative(_whole(demand[0]))), negative)


def _classes(loss: Node) -> Dim:
    """How many classes a loss tells apart."""
    shape: tuple[Dim, ...] = loss.args[0].shape
    return shape[1] if len(shape) > 1 else shape[0]


def _ignored(loss: Node) -> int:
    ignored: int = loss.args[4] if len(loss.args) > 4 else loss.kwargs.get("ignore_index", -100)
    return ignored


def _ranges(demands: Iterable[tuple[Node, Range]], negative: Callable[[Node], bool]) -> dict[str, Range]:
    """The ranges of the inputs that these demands are about, each the tightest."""
    found: dict[Node, Range] = {}
    for index, (low, high) in demands:
        source = _whole(index)
        if source.operator == "input" and is_integer(source):
            low = low if negative(source) else 0
            before = found.get(source, (low, high))
            found[source] = (_bound(maximum, low, before[0]), _bound(minimum, high, before[1]))
    return {node.name: bounds for node, bounds in found.items() if not _is_empty(bounds)}


def _bound(extremum: Callable[..., Expr], a: Dim, b: Dim) -> Dim:
    """The tighter of two bounds, which the solver can use only where it is one polynomial: else the first of them."""
    tighter = canonical(extremum(a, b))
    return a if isinstance(tighter, Extremum) else tighter


def _is_empty(bounds: Range) -> bool:
    gap = canonical(add(bounds[0], mul(-1, bounds[1])))
    return isinstance(gap, int) and gap > 0


def _whole(node: Node) -> Node:
    """The tensor of which the node holds every element, and no others."""
    while node.operator.rsplit(".", 1)[0] in KEEPING and len(node.inputs) == 1:
        node = node.inputs[0]
    return node


def sentence(bounds: Range) -> str:
    """The condition as the report states it."""
    negative = "" if bounds[0] != 0 else "; negative ones, where it takes any, are not covered"
    low, high = map(size_text, bounds)
    return f"integers that index lie in {low} … {high}, as the lookup demands{negative}"
