"""Positions: on which conditions the integers that a program makes of its sizes are what its formulas say.

`arange(T)` counts on for ever as a formula. As a tensor it stops being exact at the end of its dtype (bfloat16 at 256,
int8 at 127), and a table that is looked up with it ends where it ends. Both bound the sizes: the greatest value that
such a tensor holds is a size itself (formula/extent.py), and is compared with the end as it is at the example.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from samesame.formula.equal import Budget, Proved, prove_tensors_equal
from samesame.formula.expr import FALSE, TRUE, Expr, Unsupported
from samesame.formula.extent import Ends, extent
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.graph import Graph, Node
from samesame.operators.demands import demands
from samesame.operators.explain import explain
from samesame.operators.shapes import deciding, never_above
from samesame.operators.sizing import Sizing, is_sized

# The greatest integer up to which a dtype holds every integer.
EXACT = {
    "bool": 1, "int8": 127, "uint8": 255, "int16": 32_767, "uint16": 65_535, "int32": (1 << 31) - 1,
    "float8_e5m2": 8, "float8_e4m3fn": 16, "bfloat16": 1 << 8, "float16": 1 << 11, "float32": 1 << 24,
}
SETTLING = Budget(seconds=0.5)                             # to prove that a truth does not depend on sizes
WIDE = ("int32", "float32")                                # an unknown range is taken to end before these do


def made_of_sizes(graph: Graph) -> dict[Node, Any]:
    """The formulas of the tensors that depend on no input and no weight, those that nobody reads included."""
    made: dict[Node, Any] = {}
    for node in (*graph.nodes, *graph.unread):
        if not node.is_source and all(part in made for part in node.inputs):
            with suppress(Unsupported):                    # what has no formula holds no positions
                made[node] = explain(node, made.__getitem__)
    return made


def positions(graph: Graph, made: Mapping[Node, Any], example: Mapping[str, int]) -> Sizing:
    """On which conditions the integers made of sizes alone are exact, and exist in the tables they are looked up in;
    `made` are their formulas."""
    found = Sizing()
    for node in graph.nodes:
        if node in made:
            _exact(node, made[node], example, found)
        _looked_up(node, made, example, found)
    return found


def is_settled(value: Any) -> bool:
    """Whether a truth made of sizes alone is the same at all sizes."""
    if not isinstance(value, Tensor) or value.shape or value.kind != "bool":
        return False
    answers = (prove_tensors_equal(value, tensor((), lambda t=t: t, "bool"), budget=SETTLING) for t in (TRUE, FALSE))
    return any(isinstance(answer, Proved) and answer.unconditional() for answer in answers)


def _exact(node: Node, result: Any, example: Mapping[str, int], found: Sizing) -> None:
    """Its dtype must hold every value."""
    if isinstance(result, tuple) or node.type.dtype not in EXACT or not is_sized(node):    # type: ignore[union-attr]
        return
    limit = EXACT[node.type.dtype]                         # type: ignore[union-attr]
    formula = result.element()[1]
    if formula.kind != "int":
        return
    ends = extent(formula)
    if ends is not None:
        _within(node, ends, (-limit, limit), example, found)
    elif node.type.dtype not in WIDE:                      # type: ignore[union-attr]
        found.unknown.append(node)


def _looked_up(node: Node, made: Mapping[Node, Any], example: Mapping[str, int], found: Sizing) -> None:
    """What is looked up must be there."""
    for index, limits in demands(node):
        values = made.get(index)
        if not isinstance(values, Tensor) or not (is_sized(index) or is_sized(node)):
            continue
        ends = extent(values.element()[1])
        if ends is None:
            found.unknown.append(node)
        else:
            _within(node, ends, limits, example, found)


def _within(node: Node, ends: Ends, limits: tuple[Dim, Dim], example: Mapping[str, int], found: Sizing) -> None:
    if not any(isinstance(n, Expr) for n in (*ends, *limits)):
        return
    with deciding(example) as decisions:
        inside = never_above(ends[1], limits[1]) and (never_above(limits[0], ends[0]) or never_above(0, ends[0]))
    if not inside:
        found.unknown.append(node)
    for condition in decisions.conditions:
        found.conditions.setdefault(condition, node)
