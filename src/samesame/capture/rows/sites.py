"""Where masks come from, and what a program may ask of them: whether anything is chosen.

`mask.any()` and `mask.sum() > 0` are true where something is chosen, and what a program then does is recorded. Behind
such a question, and behind every mask whose positions are taken, stands an operator that made truths, or zeros and
ones: its `makers`. With other results of theirs the program runs another way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from samesame.graph import Node, Origin, nodes_in


@dataclass(frozen=True, slots=True)
class Site:
    """Where a program takes the positions of a mask, or asks about one, and what it is told if anything is chosen."""

    origin: Origin
    says: bool = True


# The same elements in another order, some of them, or under another dtype.
MOVES = frozenset("aten." + name for name in (
    "reshape", "expand", "permute", "transpose", "t", "unsqueeze", "squeeze", "select", "slice", "_to_copy", "clone",
    "unbind", "split", "flip", "index",
))
# None of the elements is true exactly where the result is not.
COUNTS = frozenset(("aten.any", "aten.sum", "aten.count_nonzero"))
# Comparisons of a number of true elements, and what they say where there are some.
SAYS = {
    ("aten.gt", 0): True, ("aten.ne", 0): True, ("aten.ge", 1): True,
    ("aten.eq", 0): False, ("aten.lt", 1): False, ("aten.le", 0): False,
}
NOT = frozenset(("aten.logical_not", "aten.bitwise_not"))
ONE_HOT = "aten.one_hot"


def family(node: Node) -> str:
    return node.operator.rpartition(".")[0]


def compared(node: Node) -> bool | None:
    """What a comparison of a number of true elements says where there are some."""
    number = node.args[1] if len(node.args) > 1 else None
    return SAYS.get((family(node), int(number))) if number in (0, 1) else None


def tells(node: Node) -> bool | None:
    """The answer to a question of one element, where something is chosen; None where it is no such question."""
    if family(node) in NOT:
        inner = tells(node.args[0])
        return None if inner is None else not inner
    if compared(node) is not None:
        return compared(node) if is_count(node.args[0]) else None
    return True if node.type.dtype == "bool" and is_count(node) else None      # type: ignore[union-attr]


def is_count(node: Node) -> bool:
    """Whether an element says of some truths whether, or how often, they are true."""
    if family(node) in COUNTS:
        return counted(node.args[0])
    return (node.operator == "getitem" or family(node) in MOVES) and is_count(node.args[0])


def counted(node: Node) -> bool:
    """Whether a tensor holds truths, or what is zero exactly where none of some truths is one."""
    if node.operator == "getitem":
        return counted(node.args[0])
    if isinstance(node.type, tuple):
        return family(node) in MOVES and counted(node.args[0])
    if node.type.dtype == "bool" or family(node) == ONE_HOT:
        return True
    return family(node) in MOVES | COUNTS and counted(node.args[0])


def makers(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes that made what these masks and questions are made of: the first ones that do more than move, count or
    compare with zero."""
    stack, seen = list(nodes), set[Node]()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        inside = node.args[0] if node.args and isinstance(node.args[0], Node) else None
        passes = node.operator == "getitem" or family(node) in MOVES | COUNTS | NOT or compared(node) is not None
        if passes and inside is not None and counted(inside):
            stack += nodes_in((inside,))
        else:
            yield node
