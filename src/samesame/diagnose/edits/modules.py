"""Edits to a whole module: one that should not be there, such as a norm of queries and keys."""

from __future__ import annotations

from collections.abc import Iterator

from samesame.diagnose.change import Change, Hints
from samesame.diagnose.edits.operators import alike, instead
from samesame.graph import Node

_OPERATORS = 30                            # a module of more is no step that someone forgets


def module_left_out(node: Node, hints: Hints) -> Iterator[Change]:
    """The module whose result this is makes, of one tensor, another like it, and should not be there."""
    module = node.origin.module
    first = entry(node)
    if first is None or not alike(first, node) or _read_inside(node, hints):
        return
    yield Change(
        node,
        f"the module {module.rpartition('.')[2] or module} is left out",
        1,
        lambda n: [instead(n, entry(hints.graph[n.name]))],
    )


def entry(node: Node) -> Node | None:
    """The one tensor, weights and constants apart, that a module makes this result of, in more than one step."""
    module, found, seen = node.origin.module, set(), {node}
    stack = list(node.inputs)
    while stack and module:
        above = stack.pop()
        if above in seen or above.is_source:
            continue
        if not _within(above, module):
            found.add(above)
            continue
        seen.add(above)
        stack.extend(above.inputs)
    return next(iter(found)) if len(found) == 1 and 1 < len(seen) <= _OPERATORS else None


def _within(node: Node, module: str) -> bool:
    return node.origin.module == module or node.origin.module.startswith(f"{module}.")


def _read_inside(node: Node, hints: Hints) -> bool:
    return any(node in other.inputs and _within(other, node.origin.module) for other in hints.graph.nodes)
