"""A change to a program in one place, and what makes one: numbers read and replaced, operators put after another.

`edits` lists the changes that people's mistakes call for; `diagnose` tries them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from samesame.graph import Graph, Node

Made = list[Node]


@dataclass(frozen=True, slots=True)
class Change:
    """Replace `node` by `make(node)`, whose last node stands for it, and each of its `twins` in the same way.

    A change that is `alone` makes sense at this operator only. `taken[name]` is the node of the other side whose value
    an input made here takes on each draw.
    """

    node: Node
    description: str
    cost: int
    make: Callable[[Node], Made]
    counterpart: Node | None = None
    taken: Mapping[str, Node] = field(default_factory=dict)
    twins: tuple[Node, ...] = ()
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Hints:
    """What a generator may look at: its own side, and the other side's divergent region with the values of one
    draw.
    """

    graph: Graph
    values: Mapping[str, Any]
    agreeing: Sequence[Node]
    others: Sequence[Node]
    other_graph: Graph
    other_values: Mapping[str, Any]


def packet(node: Node) -> str:
    """The operator without its overload: `aten.add`."""
    return node.operator.rsplit(".", 1)[0]


def argument_name(node: Node, position: int) -> str:
    """The name of a positional argument, from the operator's schema."""
    namespace, name, overload = node.operator.split(".")
    operator = getattr(getattr(getattr(torch.ops, namespace), name), overload)
    return str(operator._schema.arguments[position].name)


def is_optional(node: Node, position: int) -> bool:
    """Whether the operator's schema lets a positional argument be absent."""
    namespace, name, overload = node.operator.split(".")
    operator = getattr(getattr(getattr(torch.ops, namespace), name), overload)
    return isinstance(operator._schema.arguments[position].type, torch.OptionalType)


def numbers(node: Node) -> Iterator[tuple[str, int | str, int | float]]:
    """The plain numbers among a node's arguments: shown name, position or keyword, value."""
    if node.is_source or node.operator == "getitem":
        return
    for position, value in enumerate(node.args):
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield argument_name(node, position), position, value
    for name, value in node.kwargs.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield name, name, value


def with_argument(node: Node, place: int | str, value: Any) -> Node:
    """The node with one argument replaced."""
    if isinstance(place, str):
        return replace(node, kwargs={**node.kwargs, place: value})
    return replace(node, args=(*node.args[:place], value, *node.args[place + 1 :]))


def after(node: Node, *steps: tuple[str, tuple[Any, ...]]) -> Made:
    """The node followed by operators, each taking the previous result as its first argument."""
    made = [replace(node, name=f"{node.name}_before")]
    for k, (operator, rest) in enumerate(steps):
        name = node.name if k == len(steps) - 1 else f"{node.name}_{k}"
        made.append(Node(name, operator, (made[-1], *rest), {}, node.type, node.origin))
    return made


def shown(value: float) -> str:
    """A number as the report says it: in as many digits as tell it from its neighbours."""
    short = f"{value:.6g}"
    return short if math.isclose(float(short), value, rel_tol=1e-9) else f"{value:.10g}"


def floats(values: Mapping[str, Any], node: Node) -> torch.Tensor | None:
    """The node's value, if it is one tensor of floating-point numbers."""
    value = values.get(node.name)
    return value if isinstance(value, torch.Tensor) and value.dtype.is_floating_point else None
