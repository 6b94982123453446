"""Infinities: which tensors of a program may hold −∞ or ∞, whatever numbers it is given and whatever it hides.

A program makes infinities of numbers where it writes one (a fill, a constant, a table with one in it) or takes a
logarithm of 0, and they flow: exp(−∞) is 0, a product with −∞ has the sign of the other factor, a maximum with a number
is a number. So each tensor is followed through the formula of the operator that makes it, from the spans in which its
arguments may lie to those in which it may lie itself. Integers that look something up lie where the lookup demands, as
in proofs. Which way a condition turns out is never asked (a mask may hide all, nothing, or anything between), only what
a comparison says of what it chooses. What an operator without a formula makes of an infinity may be one; of numbers it
makes numbers, as far as is known.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import torch

from samesame.formula.expr import Opaque, Unsupported, walk
from samesame.formula.spans import FINITE, INFINITE, OF_KIND, Places, Spans
from samesame.formula.tensor import Tensor, leaf
from samesame.graph import Graph, Node, TensorType, map_nodes
from samesame.operators import explain
from samesame.operators.demands import demands, is_integer
from samesame.operators.execute import closed, is_finite, pieces
from samesame.operators.numbers import literally
from samesame.operators.table import movements, packet
from samesame.relate.domain import row_of, whole
from samesame.relate.joint import IDENTITIES
from samesame.relate.kinds import kind_of

# A difference is told from the formulas of its sides, as far as these say what is never below what, and a choice from
# what is compared.
LOOKED_THROUGH = frozenset(f"aten.{name}" for name in ("sub", "rsub", "add", "where"))
COMPARISONS = frozenset(f"aten.{name}" for name in ("lt", "le", "gt", "ge", "eq", "ne"))
BOUNDS = frozenset(f"aten.{name}" for name in (
    "amax", "max", "maximum", "logsumexp", "logaddexp", "neg", "scatter_reduce", "gather", "index", "_unsafe_index",
    "index_select", "take_along_dim", "embedding"))
OPENED = BOUNDS | COMPARISONS | IDENTITIES
POINTS = torch.tensor([-math.inf, -1, 0, 1, math.inf], dtype=torch.float64)       # among the spans


def spans_of(
    graph: Graph, run: Mapping[str, Any], fed: Mapping[str, Collection[str]] = MappingProxyType({})
) -> dict[Node, Spans]:
    """In which spans the elements of each tensor may lie. An input or a weight may be any number, and infinite where it
    is so in this run; so may a constant of the program, as a division by 0 makes it. An input that is `fed` by roots,
    as what is carried from round to round is, may be infinite where they may be."""
    given = closed(graph) | {node.name for node in graph.nodes if node.is_source}
    seen = {name: lying(value) & INFINITE for name in given
            if isinstance(value := run.get(name), torch.Tensor) and not is_finite(value)}
    roots, carried = dict(graph.roots), dict.fromkeys(fed, frozenset[int]())
    while True:
        found = _Found(graph, ChainMap(carried, seen))
        with literally():
            for node in graph.nodes:
                found.enter(node)
        back = {name: frozenset[int]().union(seen.get(name, ()), *(found.spans[roots[root].name] & INFINITE
                                                                   for root in feeding if root in roots))
                for name, feeding in fed.items()}
        if back == carried:
            return {node: found.spans[node.name] for node in graph.nodes if isinstance(node.type, TensorType)}
        carried = back


class _Found:
    """The spans of tensors so far, by name; these are `infinite` besides. The formula of an operator is asked for once
    for all calls that are alike."""

    def __init__(self, graph: Graph, infinite: Mapping[str, Spans]) -> None:
        self.graph, self.infinite = graph, infinite
        self.spans = dict[str, Spans]()
        self.alike = dict[str, tuple[Spans, ...]]()
        self.formulas = dict[Node, Any]()
        self.places = _places(graph)

    def results(self, node: Node) -> Iterator[tuple[str, Spans]]:
        return ((name, self.spans[name]) for name, _ in _results(node))

    def enter(self, node: Node) -> None:
        if node.operator == "constant":
            found: tuple[Spans, ...] = (lying(self.graph.tensors[node.name]),)
        elif node.is_source:
            found = tuple(_of_type(type_) for _, type_ in _results(node))
        elif node.operator == "getitem":
            found = (self.spans[_results(node.args[0])[node.args[1]][0]],)
        elif packet(node.operator) in LOOKED_THROUGH:
            found = self.made(node, self.looked_through)
        else:
            key = self.key(node)
            found = self.alike[key] if key in self.alike else self.made(node, _variable)
            self.alike[key] = found
        self.spans.update(zip((name for name, _ in _results(node)), found, strict=True))
        if node.name in self.infinite:
            self.spans[node.name] |= self.infinite[node.name]

    def key(self, node: Node) -> str:
        """What the spans of a call hang on."""
        read = {part: (place, part.type, *self.results(part)) for place, part in enumerate(dict.fromkeys(node.inputs))}
        told = (map_nodes(read.__getitem__, part) for part in (node.args, tuple(node.kwargs.items())))
        return repr((node.operator, *told, node.type))

    def made(self, node: Node, lookup: Callable[[Node], Any]) -> tuple[Spans, ...]:
        """The spans of a call's results, of formulas of what it reads."""
        types = [type_ for _, type_ in _results(node)]
        infinite = _writes_infinity(node) or any(spans & INFINITE for n in node.inputs for _, spans in self.results(n))
        unknown = [_of_type(type_) | (INFINITE if infinite and _is_of_reals(type_) else frozenset()) for type_ in types]
        try:
            formulas = explain(node, lookup)
        except Unsupported:
            return tuple(unknown)
        except RecursionError:                       # nobody looked whether it makes an infinity of numbers
            return tuple(spans | INFINITE for spans in unknown)
        several = formulas if isinstance(formulas, tuple) else (formulas,)
        return tuple(self.of(node, *result) for result in zip(several, types, unknown, strict=True))

    def of(self, node: Node, formula: Tensor, type_: TensorType, unknown: Spans) -> Spans:
        if type_.dtype == "bool":
            return unknown
        try:
            element = formula.element()[1]
            found = Places(self.spans).of(element)
        except Unsupported:
            return unknown
        except RecursionError:
            return unknown | INFINITE
        if _writes_infinity(node) and any(isinstance(part, Opaque) for part in walk(element)):
            found |= unknown                         # of what it writes the formula does not tell
        return found if _is_of_reals(type_) else found & unknown

    def looked_through(self, node: Node) -> Any:
        """A tensor as a variable; one that is only moved, or bounds what it is made of, as its formula of these."""
        if node not in self.formulas and (place := self.places.get(row_of(node))) is not None:
            self.formulas[node] = place
        elif node not in self.formulas:
            opened = packet(node.operator) in OPENED | movements() or node.operator == "getitem"
            try:
                self.formulas[node] = explain(node, self.looked_through) if opened else _variable(node)
            except Unsupported:
                self.formulas[node] = _variable(node)
        return self.formulas[node]


def _places(graph: Graph) -> dict[tuple[Node, tuple[int, int] | None], Tensor]:
    """Integers that something is looked up at where a negative one is an error, each as a variable that is none:
    tensors, and rows of tensors."""
    demanded = ((whole(index), bounds) for node in graph.nodes for index, bounds in demands(node) if bounds[0] == 0)
    return {row_of(node): leaf(node.name, node.shape, "int", bounds) for node, bounds in demanded if is_integer(node)}


def _results(node: Node) -> list[tuple[str, TensorType]]:
    """The names of a node's results, and their types."""
    if isinstance(node.type, TensorType):
        return [(node.name, node.type)]
    return [(f"{node.name}[{k}]", type_) for k, type_ in enumerate(node.type)]


def _variable(node: Node) -> Any:
    """A tensor, or each of several, as formulas do not look into it."""
    found = tuple(_leaf(*result) for result in _results(node))
    return found if isinstance(node.type, tuple) else found[0]


def _leaf(name: str, type_: TensorType) -> Tensor:
    kind = kind_of(type_.dtype)
    return leaf(name, (*type_.shape, 2) if kind == "complex" else type_.shape, kind)


def _writes_infinity(node: Node) -> bool:
    waiting = [*node.args, *node.kwargs.values()]
    for part in waiting:
        waiting += part if isinstance(part, tuple) else ()
    return any(isinstance(part, float) and math.isinf(part) for part in waiting)


def _is_of_reals(type_: TensorType) -> bool:
    return kind_of(type_.dtype) in ("real", "complex")


def _of_type(type_: TensorType) -> Spans:
    return OF_KIND.get(kind_of(type_.dtype), FINITE)


def lying(value: torch.Tensor) -> Spans:
    """The spans in which elements of a tensor lie; none of what is no number."""
    plain = torch.view_as_real(value) if value.is_complex() else value
    found = set[int]()
    for piece in pieces(plain):
        numbers = piece[~piece.isnan()].double()
        below, reached = (torch.searchsorted(POINTS, numbers, right=right) for right in (False, True))
        found.update(torch.unique(below + reached - 1).tolist())
    return frozenset(found)
