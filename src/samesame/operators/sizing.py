"""Sizing: on which conditions the operators of a graph over size symbols give the shapes that it says.

Operators decide on sizes, too: `x[:, :4096]` is the whole of x up to 4096, `chunk` makes fewer pieces of a short
dimension, a window must fit. The shapes of a graph were read off runs; here each operator's meaning is asked what it
gives for symbolic sizes, and wherever it must know how these compare it is told how they do at the example. What it was
told is a condition. Of an operator without a meaning only the sizes that it takes over from its arguments are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from samesame.formula.expr import Expr, Unsupported
from samesame.formula.region import Condition
from samesame.formula.tensor import Tensor, leaf
from samesame.graph import Dtype, Graph, Node, TensorType, map_nodes
from samesame.operators.explain import bind
from samesame.operators.shapes import agreeing, deciding, kind_of
from samesame.operators.table import meaning_of


@dataclass(slots=True)
class Sizing:
    """Conditions with the node that asked, and nodes of whose results the sizes are not known."""

    conditions: dict[Condition, Node] = field(default_factory=dict)
    unknown: list[Node] = field(default_factory=list)


def sizing(graph: Graph, example: Mapping[str, int]) -> Sizing:
    """On which conditions the graph's shapes are right; `example` has the value of each symbol, by name."""
    found = Sizing()
    given: dict[Node, Any] = {}
    for node in graph.nodes:
        given[node] = _given(node)
        if node.is_source or node.operator == "getitem" or not is_sized(node):
            continue
        with deciding(example) as decisions:
            known = _as_said(node, given)
        if known:
            for condition in decisions.conditions:
                found.conditions.setdefault(condition, node)
        elif not _takes_over(node):
            found.unknown.append(node)
    return found


def _given(node: Node) -> Tensor | tuple[Tensor, ...]:
    kinds = node.type if isinstance(node.type, tuple) else (node.type,)
    made = tuple(_leaf(f"{node.name}.{k}", kind) for k, kind in enumerate(kinds))
    return made if isinstance(node.type, tuple) else made[0]


def _leaf(name: str, type_: TensorType) -> Tensor:
    kind = kind_of(Dtype(type_.dtype))
    return leaf(name, (*type_.shape, 2) if kind == "complex" else type_.shape, kind)


def is_sized(node: Node) -> bool:
    return any(isinstance(n, Expr) for part in (node, *node.inputs) for n in _dims(part)) or any(
        True for _ in numbers_in(node.args)
    )


def _dims(node: Node) -> Iterator[Any]:
    for kind in node.type if isinstance(node.type, tuple) else (node.type,):
        yield from kind.shape


def _as_said(node: Node, given: Mapping[Node, Any]) -> bool:
    """Whether the operator's meaning gives the shapes that the node has."""
    meaning = meaning_of(node.operator)
    if meaning is None:
        return False
    args, values = (map_nodes(given.__getitem__, part) for part in (node.args, tuple(node.kwargs.values())))
    try:
        bound, keywords = bind(node.operator, args, dict(zip(node.kwargs, values, strict=True)))
        result = meaning(*bound, **keywords)
        results = result if isinstance(result, tuple) else (result,)
        kinds = node.type if isinstance(node.type, tuple) else (node.type,)
        for x, kind in zip(results, kinds, strict=True):
            agreeing(kind.shape, x.shape[:-1] if x.kind == "complex" else x.shape, node.operator)
    except Unsupported:
        return False
    return True


def _takes_over(node: Node) -> bool:
    """Whether every symbolic size of the results is one of an argument, or is given as one."""
    own = {n for part in node.inputs for n in _dims(part)} | set(numbers_in((node.args, tuple(node.kwargs.values()))))
    return all(n in own for n in _dims(node) if isinstance(n, Expr))


def numbers_in(argument: Any) -> Iterator[Expr]:
    """The numbers among arguments that are made of symbols."""
    if isinstance(argument, tuple):
        for part in argument:
            yield from numbers_in(part)
    elif isinstance(argument, Expr):
        yield argument
