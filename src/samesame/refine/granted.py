"""Granted: what an example fulfils by chance, and a verdict must not take for the rule.

Ranks that take means of their own parts agree with the mean of the whole if all parts are equally large; weights and
labels that hold one number throughout do not tell which piece of them a rank has. Where a refinement stands on that,
its headline says so, unless the job can be run on unequal parts, and agrees there too (unequal.py). What the example
itself does not fulfil is never taken for granted: that is drawn (uneven.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from samesame.capture.ranks.record import AFTER
from samesame.graph import Graph
from samesame.refine.due import GRADIENT
from samesame.refine.outputs import Found
from samesame.refine.placement import Mesh, Placement, piece
from samesame.refine.sides import Sides
from samesame.refine.sources import COTANGENT, Source
from samesame.relate.counted import taken_for_granted as counted_enough
from samesame.relate.layout import Layout, Whole, wholes

_SHOWN = 3
ADDING = ("collective.all_reduce", "collective.reduce_scatter", "collective.reduce")


def evenly_cut(sides: Sides, mesh: Mesh) -> dict[str, str]:
    """The inputs of which every rank has equally much and none has all, where ranks add something up; each with the
    placement that cuts it so, nothing where no word says it."""
    if not any(meeting.operator in ADDING for meeting in sides.met.meetings):
        return {}
    cut: dict[str, dict[int, Layout]] = {}
    sizes: dict[str, set[int]] = {}
    for source, title, layout in _placed(sides):
        if source.node.operator == "input" and not isinstance(layout, Whole):
            cut.setdefault(title, {})[source.rank] = layout
            sizes.setdefault(title, set()).add(sides.right.tensors[source.node.name].numel())
    return {title: _word(sides.left, own, mesh) for title, own in cut.items() if len(sizes[title]) == 1}


def equally_much(even: Iterable[str]) -> str:
    """The condition that these inputs are cut evenly."""
    return f"every rank has equally much of {_listed(list(even))}"


def taken_for_granted(sides: Sides, even: Mapping[str, str], stated: Mapping[str, str]) -> list[str]:
    """What the example fulfils and the answer stands on, each the end of a sentence with `if`: that these inputs are
    cut `even`ly, and that pieces which nothing tells apart are where they should be, unless that is `stated`."""
    silent: dict[str, None] = {}
    for source, title, _ in _placed(sides):
        held = sides.right.tensors[source.node.name]
        if title not in stated and held.numel() > 1 and bool((held == held.flatten()[0]).all()):
            silent[title] = None
    granted = [equally_much(even)] if even else []
    if silent:
        granted.append(f"the pieces of {_listed(list(silent))} are in rank order, which one number throughout hides")
    if sides.relation.by_name:
        names = dict.fromkeys(_title(sides.left, sides.relation.layouts[name]) for name in sides.relation.by_name)
        granted.append(f"{_listed(list(names))}, which hold equal numbers, are meant as they are named")
    counted = (told for graph in (sides.left, *sides.ranks) for told in counted_enough(graph))
    return [*granted, *dict.fromkeys(counted)]


def nobody_reads(aside: Mapping[str, Found]) -> list[str]:
    """The condition that gradients which are left elsewhere than the weights are not read after the call."""
    told = {words: [name.removeprefix(GRADIENT).removesuffix(AFTER) for name, lies in aside.items()
                    if lies.words == words] for words in dict.fromkeys(lies.words for lies in aside.values())}
    return [f"nobody reads the gradients left at {_listed(names)} ({words})" for words, names in told.items()]


def _placed(sides: Sides) -> Iterator[tuple[Source, str, Layout]]:
    """Inputs and weights of ranks that are not whole the sequential one of their name: with that one's title."""
    for source in sides.sources:
        layout = sides.relation.layouts[source.node.name]
        title = _title(sides.left, layout)
        if not (isinstance(layout, Whole) and title == source.name) and not source.name.startswith(COTANGENT):
            yield source, title, layout


def _word(left: Graph, own: Mapping[int, Layout], mesh: Mesh) -> str:
    """The placement by which ranks hold these pieces of one input, if a word says it."""
    node = left[wholes(next(iter(own.values())))[0]]
    for axis in ("", *(mesh if len(mesh) > 1 else ())):
        for dim in range(len(node.shape)):
            told = Placement("sharded", dim, axis=axis)
            if all(piece(node.name, node.shape, [told], rank, mesh)[0] == layout for rank, layout in own.items()):
                return str(told)
    return ""


def _title(left: Graph, layout: Layout) -> str:
    node = left[wholes(layout)[0]]
    return node.origin.parameter or node.name


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
