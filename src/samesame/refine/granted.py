"""Granted: what an example fulfils by chance, and a verdict must not take for the rule.

Ranks that take means of their own parts agree with the mean of the whole if all parts are equally large; weights and
labels that hold one number throughout do not tell which piece of them a rank has. Where a refinement stands on that,
its headline says so. What the example itself does not fulfil is never taken for granted: that is drawn (uneven.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from samesame.capture.world import Meeting
from samesame.graph import Graph
from samesame.refine.sources import COTANGENT, Source
from samesame.relate.layout import Layout, Whole, wholes
from samesame.relate.parameters import InputRelation

_SHOWN = 3
ADDING = ("collective.all_reduce", "collective.reduce_scatter", "collective.reduce")


def taken_for_granted(
    left: Graph,
    right: Graph,
    sources: Sequence[Source],
    relation: InputRelation,
    stated: Mapping[str, str],
    meetings: Sequence[Meeting],
) -> list[str]:
    """What the example fulfils and the answer stands on, each the end of a sentence with `if`."""
    cut: dict[str, set[int]] = {}
    silent: dict[str, None] = {}
    for source in sources:
        layout, held = relation.layouts[source.node.name], right.tensors[source.node.name]
        title = _title(left, layout)
        if (isinstance(layout, Whole) and title == source.name) or source.name.startswith(COTANGENT):
            continue
        if source.node.operator == "input":
            cut.setdefault(title, set()).add(held.numel())
        if title not in stated and held.numel() > 1 and bool((held == held.flatten()[0]).all()):
            silent[title] = None
    granted = []
    even = [name for name, numbers in cut.items() if len(numbers) == 1]
    if even and any(meeting.operator in ADDING for meeting in meetings):
        granted.append(f"every rank has equally much of {_listed(even)}")
    if silent:
        granted.append(f"the pieces of {_listed(list(silent))} are in rank order, which one number throughout hides")
    if relation.by_name:
        names = dict.fromkeys(_title(left, relation.layouts[name]) for name in relation.by_name)
        granted.append(f"{_listed(list(names))}, which hold equal numbers, are meant as they are named")
    return granted


def _title(left: Graph, layout: Layout) -> str:
    node = left[wholes(layout)[0]]
    return node.origin.parameter or node.name


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
