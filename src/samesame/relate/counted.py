"""What programs count of integers: as many different ones as they say there are, and whether none can be beyond these.

`bincount` gives more counts than it was asked for where an integer is larger, so that what was recorded holds while
none is. Often that is seen in the program: labels that were chosen for 0 ≤ t < 4, and classes that an `argmax` gave,
make no pair 4·t + c above 15. Where it is not seen, it is a condition of the verdict.

The least and the largest that elements can be are worked out from what is known by definition. What a condition says of
a tensor holds where it is chosen by it: in `where(0 ≤ t, t, 0)` of the first t. Tensors are told apart by their
elements in order, whatever shape these have, so that a mask that was flattened still speaks of the labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from samesame.formula.expr import Expr, Extremum, add, maximum, minimum, mul
from samesame.formula.sizes import canonical, size_text
from samesame.formula.tensor import Dim
from samesame.graph import Graph, Node
from samesame.operators.demands import last
from samesame.operators.table import packet
from samesame.relate.domain import KEEPING, SHIFTING, positions, whole

End = Dim | None                                           # None: nothing is known
Ends = tuple[End, End]

UNKNOWN: Ends = (None, None)
MOST = 100                                                 # tensors on the way to what is counted
INTEGERS = frozenset(("bool", "uint8", "int8", "int16", "int32", "int64"))
EXACT = frozenset(("bool", "int64"))                       # nothing that is worked out in these wraps around
# Movements that keep every element at its place in order.
FLAT = frozenset(f"aten.{name}" for name in (
    "view", "_unsafe_view", "reshape", "flatten", "unsqueeze", "squeeze", "clone", "contiguous", "detach",
))
# Movements after which there are none but the same elements.
AMONG = KEEPING | SHIFTING | frozenset(f"aten.{name}" for name in (
    "slice", "select", "narrow", "index", "index_select", "gather",
))
BOTH = frozenset(("aten.bitwise_and", "aten.logical_and"))
# What comparisons with an integer say of the ends.
SAYS: dict[str, Callable[[int], Ends]] = {
    "aten.ge": lambda n: (n, None), "aten.gt": lambda n: (n + 1, None), "aten.le": lambda n: (None, n),
    "aten.lt": lambda n: (None, n - 1), "aten.eq": lambda n: (n, n),
}


def taken_for_granted(graph: Graph) -> Iterator[str]:
    """What a program's shapes take for granted of the integers it counts: that none is beyond those asked for."""
    for node in counts(graph):
        yield _said(node)


def counted_enough(graphs: Iterable[Graph], but: Iterable[Graph] = ()) -> list[str]:
    """The conditions that say it of graphs, as a headline does, where it is not seen in the programs; `but` for what
    they say of these, which are the same programs at the sizes of the example."""
    said = Counter(_said(node) for graph in but for node in _unknown(graph))
    more = Counter(_said(node) for graph in graphs for node in _unknown(graph)) - said
    return [f"if {sentence}" for sentence in more]


def _unknown(graph: Graph) -> list[Node]:
    return [node for node in counts(graph) if not _is_enough(node)]


def counts(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if packet(node.operator) == "aten.bincount"]


def _said(node: Node) -> str:
    return f"no element of {_subject(node)} is above {size_text(last(node.shape[0]))}"


def _subject(node: Node) -> str:
    counted = whole(node.args[0])
    return counted.name if counted.operator == "input" else f"what bincount counts at {node.origin.spoken}"


def _is_enough(node: Node) -> bool:
    """Whether what is counted can be no larger than it counts."""
    _, most = Known().ends(node.args[0])
    room = None if most is None else canonical(add(last(node.shape[0]), mul(-1, most)))
    return isinstance(room, int) and room >= 0


# ----------------------------------------------------------------------------------------------------- what can it be


@dataclass(frozen=True, slots=True)
class Known:
    """The ends between which elements lie, given those of some tensors, by their elements in order. So many tensors
    were looked at."""

    facts: Mapping[Node, Ends] = field(default_factory=dict)
    looked: list[Node] = field(default_factory=list)
    found: dict[Node, Ends] = field(default_factory=dict)

    def ends(self, node: Any) -> Ends:
        """The least and the largest that a number or an element of a tensor can be, as far as it is known."""
        if not isinstance(node, Node):
            return (int(node), int(node)) if isinstance(node, int) else UNKNOWN
        if node not in self.found:
            if len(self.looked) >= MOST:
                return UNKNOWN
            self.looked.append(node)
            self.found[node] = _inside(self.facts.get(flat(node), UNKNOWN), self._of_operator(node))
        return self.found[node]

    def beside(self, node: Node, result: Node) -> Known:
        """What is known of an argument of an operator that goes element by element: where it is as large as the result,
        its elements stand in that one's order."""
        return self if not self.facts or node.shape == result.shape else self.knowing({})

    def knowing(self, facts: Mapping[Node, Ends]) -> Known:
        """What is known where other things are given."""
        return Known(facts, self.looked)

    def _of_operator(self, node: Node) -> Ends:
        name = packet(node.operator)
        if _dtype(node) not in EXACT:
            return UNKNOWN
        if _dtype(node) == "bool" or name == "aten.one_hot":
            return 0, 1
        if name in FLAT or _is_widened(node):
            return self.ends(node.args[0])
        if name in AMONG:
            return self.knowing({}).ends(node.args[0])
        return RULES[name](self, node) if name in RULES else _position(node)


def flat(node: Node) -> Node:
    """The tensor that has the same elements in the same order, before it was given another shape."""
    while packet(node.operator) in FLAT or _is_widened(node):
        node = node.args[0]
    return node


def _is_widened(node: Node) -> bool:
    """Whether integers became larger ones, which are the same."""
    return packet(node.operator) == "aten._to_copy" and _dtype(node) == "int64" and _dtype(node.args[0]) in INTEGERS


def _dtype(node: Node) -> str:
    return "" if isinstance(node.type, tuple) else node.type.dtype


def _position(node: Node) -> Ends:
    """A position in a dimension, by definition."""
    made, result = (node.args[0], node.args[1]) if node.operator == "getitem" else (node, None)
    of = made.args[0] if made.args else None
    if not isinstance(of, Node) or isinstance(of.type, tuple):
        return UNKNOWN
    return positions(made.operator, result, of.shape, made.args, made.kwargs) or UNKNOWN


# ------------------------------------------------------------------------------------------------- element by element


def _parts(known: Known, node: Node) -> list[Ends]:
    """The ends of the two arguments of an operator."""
    return [known.beside(part, node).ends(part) if isinstance(part, Node) else known.ends(part)
            for part in node.args[:2]]


def _sum(known: Known, node: Node) -> Ends:
    (a, b), (c, d) = _parts(known, node)
    return UNKNOWN if _is_scaled(node) else (_plus(a, c), _plus(b, d))


def _difference(known: Known, node: Node) -> Ends:
    (a, b), (c, d) = _parts(known, node)
    return UNKNOWN if _is_scaled(node) else (_plus(a, _times(d, -1)), _plus(b, _times(c, -1)))


def _turned_round(known: Known, node: Node) -> Ends:
    """The second less the first."""
    low, high = _difference(known, node)
    return _times(high, -1), _times(low, -1)


def _is_scaled(node: Node) -> bool:
    """Whether a sum has a factor before its second part."""
    return node.kwargs.get("alpha", 1) != 1 or len(node.args) > 2


def _product(known: Known, node: Node) -> Ends:
    """A number of times something."""
    one, other = _parts(known, node)
    (low, high), (factor, same) = (other, one) if one[0] is not None and one[0] == one[1] else (one, other)
    if not isinstance(factor, int) or factor != same:
        return UNKNOWN
    scaled = _times(low, factor), _times(high, factor)
    return scaled if factor >= 0 else scaled[::-1]


def _choice(known: Known, node: Node) -> Ends:
    if len(node.args) < 3:
        return UNKNOWN
    condition, then, otherwise = node.args
    told = dict(known.facts)
    for part, ends in _told(condition) if condition.shape == node.shape else ():
        told[part] = _inside(told.get(part, UNKNOWN), ends)
    ways = ((known.knowing(told), then), (known, otherwise))
    return _among(way.beside(part, node).ends(part) if isinstance(part, Node) else way.ends(part) for way, part in ways)


def _told(condition: Node) -> Iterator[tuple[Node, Ends]]:
    """What holds of tensors where a condition does."""
    condition = flat(condition)
    name, args = packet(condition.operator), condition.args
    if name in BOTH:
        for part in args:
            if isinstance(part, Node) and _dtype(part) == "bool" and part.shape == condition.shape:
                yield from _told(part)
    elif name in SAYS and type(args[1]) is int and _holds(args[0], args[1]):
        yield flat(args[0]), SAYS[name](args[1])


def _holds(node: Node, number: int) -> bool:
    """Whether a tensor of integers may hold a number: torch makes another one of it before it compares, if not."""
    dtype = _dtype(node)
    if dtype not in INTEGERS or dtype == "bool":
        return dtype == "bool"
    info = torch.iinfo(getattr(torch, dtype))
    return bool(info.min <= number <= info.max)


def _clamped(known: Known, node: Node) -> Ends:
    """Between two numbers, of which one may be missing; where the second is the lesser, it is that."""
    low, high = (end if isinstance(end, int) else None for end in (*node.args[1:3], None, None)[:2])
    return (high if low is not None and high is not None and high < low else low), high


def _remainder(known: Known, node: Node) -> Ends:
    n = node.args[1]
    return (0, n - 1) if isinstance(n, int) and n > 0 else UNKNOWN


def _filled(known: Known, node: Node) -> Ends:
    return known.ends(node.args[-1])


def _joined(known: Known, node: Node) -> Ends:
    return _among(known.knowing({}).ends(part) for part in node.args[0])


RULES: dict[str, Callable[[Known, Node], Ends]] = {
    "aten.add": _sum,
    "aten.sub": _difference,
    "aten.rsub": _turned_round,
    "aten.mul": _product,
    "aten.where": _choice,
    "aten.clamp": _clamped,
    "aten.remainder": _remainder,
    "aten.full": _filled,
    "aten.scalar_tensor": _filled,
    "aten.cat": _joined,
    "aten.stack": _joined,
}


# ------------------------------------------------------------------------------------------------------------- of ends


def _plus(a: End, b: End) -> End:
    return None if a is None or b is None else canonical(add(a, b))


def _times(a: End, factor: int) -> End:
    return None if a is None else canonical(mul(factor, a))


def _inside(one: Ends, other: Ends) -> Ends:
    """Between the ends of both; of two that nobody can compare, the first."""
    return _tighter(maximum, one[0], other[0]), _tighter(minimum, one[1], other[1])


def _tighter(extremum: Callable[..., Expr], a: End, b: End) -> End:
    if a is None or b is None:
        return b if a is None else a
    found = canonical(extremum(a, b))
    return a if isinstance(found, Extremum) else found


def _among(all_of_them: Iterable[Ends]) -> Ends:
    """What lies between the ends of one of them."""
    lows, highs = zip(*all_of_them, strict=True)
    return _outermost(minimum, lows), _outermost(maximum, highs)


def _outermost(extremum: Callable[..., Expr], ends: tuple[End, ...]) -> End:
    known = [end for end in ends if end is not None]
    found = canonical(extremum(*known)) if len(known) == len(ends) else None
    return None if isinstance(found, Extremum) else found
