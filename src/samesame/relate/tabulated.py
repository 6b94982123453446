"""Tabulated: constants that are made for a size, as the first rows of one table.

One program computes the cosines of positions 0 … T − 1 anew at every length T, the other reads rows of a table that it
made once, for 32 positions. At each length the two are compared by what they hold; but over a symbol T the first is a
formula in cosines and the second a table of numbers. So where T is bounded (the table says by what), the first is
worked out for the greatest T, as the program writes it, and stands for its first T rows. That is right where an
element's formula does not hang on T, which is looked at over symbols. And a slice `table[:T]`, which takes all there
is where that is less, takes T rows then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import torch

from samesame.capture.sizes.family import Family
from samesame.evidence import Refused
from samesame.formula.expr import Expr, Opaque, Size, Unsupported, walk
from samesame.formula.sizes import symbols
from samesame.formula.tensor import Dim, leaf
from samesame.graph import Dtype, Graph, Node, TensorType, at, rewritten, with_roots
from samesame.operators import explain
from samesame.operators.execute import closed, execute
from samesame.operators.table import movements, packet
from samesame.relate.joint import is_table
from samesame.relate.kinds import kind_of, widened

ELEMENTS = 1 << 24                                         # of a table that is worked out


def tabulated(found: Family) -> Family | None:
    """The family with tables for what its programs compute of one bounded size alone, and slices that end where they
    say; None where there is nothing of the kind."""
    left, right = (_with_tables(graph, found) for graph in found.graphs)
    if left is None and right is None:
        return None
    return replace(found, graphs=(left or found.graphs[0], right or found.graphs[1]))


def _with_tables(graph: Graph, found: Family) -> Graph | None:
    worked_out = ((node, _table(graph, node, symbol, found)) for node, symbol in _constants(graph))
    tables = {node: table for node, table in worked_out if table is not None}
    slices = {node for node in graph.nodes if _ends_inside(node, found)}
    if not tables and not slices:
        return None
    names = {node: f"table of {node.name}" for node in tables}

    def make(node: Node, now: Node) -> Sequence[Node]:
        if node in tables:
            whole = Node(names[node], "constant", (), {}, _type(node, tuple(tables[node].shape)), node.origin)
            return [whole, *_rows(node, whole, [d for d, n in enumerate(node.shape) if isinstance(n, Expr)])]
        return list(_rows(node, now.inputs[0], [node.args[1]])) if node in slices else [now]

    held = {names[node]: table for node, table in tables.items()}
    return replace(rewritten(graph, make), tensors=graph.tensors | held)


def _rows(node: Node, part: Node, dims: Sequence[int]) -> Iterator[Node]:
    """The first rows of `part` along these dimensions, as many as the node has; the last has the node's name."""
    for d in dims:
        rows = Node(f"rows of {node.name} along {d}", "aten.arange.default", (node.shape[d],),
                    {"dtype": Dtype("int64")}, TensorType((node.shape[d],), "int64"), node.origin)
        yield rows
        name = node.name if d == dims[-1] else f"{node.name} along {d}"
        type_ = _type(node, (*part.shape[:d], node.shape[d], *part.shape[d + 1 :]))
        part = Node(name, "aten.index_select.default", (part, d, rows), {}, type_, node.origin)
        yield part


def _type(node: Node, shape: tuple[Dim, ...]) -> TensorType:
    assert isinstance(node.type, TensorType)
    return TensorType(shape, node.type.dtype)  # type: ignore[arg-type]


def _ends_inside(node: Node, found: Family) -> bool:
    """Is it a slice of the first T, of no less than T can be?"""
    if node.operator != "aten.slice.Tensor" or len(node.args) != 4 or node.kwargs:
        return False
    part, d, start, end = node.args
    whole = part.shape[d]
    most = found.region.bounds.get(end.name, (0, None))[1] if isinstance(end, Size) else None
    return start == 0 and isinstance(whole, int) and most is not None and most <= whole and node.shape[d] == end


def _constants(graph: Graph) -> Iterator[tuple[Node, Size]]:
    """What is computed, in real numbers, of one size symbol alone, and read by what is not; with the symbol. What only
    moves it stays."""
    constant, hang = closed(graph), dict[Node, frozenset[Size]]()
    for node in graph.nodes:
        own = _symbols((node.args, tuple(node.kwargs.values()), node.type))
        hang[node] = own.union(*(hang[part] for part in node.inputs))

    alone = {node for node in graph.nodes if node.name in constant and len(hang[node]) == 1}
    read = {root for _, root in graph.roots}
    read.update(part for node in graph.nodes if node not in alone for part in node.inputs)
    for node in reversed(graph.nodes):
        if node in read & alone and packet(node.operator) in movements():
            read.update(node.inputs)
        elif node in read & alone and _is_real(node) and all(isinstance(n, int | Size) for n in node.shape):
            (symbol,) = hang[node]
            yield node, symbol


def _is_real(node: Node) -> bool:
    return isinstance(node.type, TensorType) and kind_of(node.type.dtype) == "real" and not node.is_source


def _symbols(argument: Any) -> frozenset[Size]:
    match argument:
        case Expr():
            return symbols(argument)
        case tuple():
            return frozenset[Size]().union(*map(_symbols, argument))
        case TensorType():
            return _symbols(argument.shape)
    return frozenset()


def _table(graph: Graph, node: Node, symbol: Size, found: Family) -> torch.Tensor | None:
    """What the constant holds at the greatest size, if at each size it holds the first rows of that."""
    most = found.region.bounds.get(symbol.name, (0, None))[1]
    if most is None or prod(most if isinstance(n, Size) else n for n in node.shape) > ELEMENTS:
        return None
    part = replace(with_roots(graph, [("table", node)]), unread=())
    part = replace(part, nodes=tuple(n for n in part.nodes if n.operator != "input"))
    if not _is_of_place(part, node, symbol):
        return None
    whole, here = (_value(at(part, {symbol.name: n}), node.name) for n in (most, found.example[symbol.name]))
    if whole is None or here is None or not is_table(widened(whole)):
        return None
    rows = whole[tuple(map(slice, here.shape))]
    return whole if torch.equal(rows, here) else None


def _value(graph: Graph, name: str) -> torch.Tensor | None:
    try:
        value = execute(graph, graph.tensors, precision="own", keep=False)[name]
    except Refused:
        return None
    return value if isinstance(value, torch.Tensor) else None


def _is_of_place(graph: Graph, node: Node, symbol: Size) -> bool:
    """Whether an element is a function of its place alone: its formula does not name the size, and nothing in it is
    unknown."""
    known: dict[Node, Any] = {}
    try:
        for part in graph.nodes:
            if part.operator == "constant":
                known[part] = leaf(part.name, part.shape, kind_of(part.type.dtype))  # type: ignore[union-attr]
            else:
                known[part] = explain(part, known.__getitem__)
        element = known[node][tuple(Size(f"place {d}", 0) for d in range(len(node.shape)))]
    except Unsupported:
        return False
    return not any(isinstance(e, Opaque) or (isinstance(e, Size) and e.name == symbol.name) for e in walk(element))
