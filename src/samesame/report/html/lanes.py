"""Lanes: the sequential program's tensors as rows, a lane for each rank, and in each lane how the rank has the tensor.

Layers that repeat are one row, as long as every rank has them alike. A cell is coloured by the rung of its relation,
and says the layout with a dot for the sequential tensor; what a rank has no relation to stays empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from samesame.evidence import Collective, Refinement, Relation
from samesame.report.html.drawing import ANSWERS
from samesame.report.repetition import inline
from samesame.report.words import place_in_words

WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Cell:
    """How one rank has a tensor: the layouts, and the kind of their weakest rung; empty where it has none."""

    words: str = ""
    kind: str = ""
    rung: str = ""


@dataclass(slots=True)
class Row:
    """One tensor of the sequential program, or the same in several layers: a cell for each rank."""

    place: str
    name: str
    source: str
    cells: tuple[Cell, ...]
    members: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Meeting:
    """A collective: its kind, the line, how often it took place, and which ranks meet."""

    kind: str
    source: str
    times: int
    ranks: tuple[bool, ...]


def rows_of(verdict: Refinement, relations: Sequence[Relation]) -> list[Row]:
    """The tensors that these relations speak of, in their order."""
    of_tensor: dict[tuple[str, ...], list[Relation]] = {}
    for relation in relations:
        of_tensor.setdefault(relation.left, []).append(relation)
    places = inline(_place(members[0]) for members in of_tensor.values())
    times = Counter[str]()
    rows: dict[tuple[object, ...], Row] = {}
    for left, members in of_tensor.items():
        concrete = _place(members[0])
        times[concrete] += 1
        cells = tuple(_cell(left, members, rank) for rank in range(verdict.world_size))
        key = places[concrete], times[concrete], cells
        if key not in rows:
            name = members[0].left_origin.parameter or ", ".join(left)
            rows[key] = Row(places[concrete], name, place_in_words(members[0].left_origin), cells)
        rows[key].members.append(", ".join(left))
    return list(rows.values())


def _place(relation: Relation) -> str:
    origin = relation.left_origin
    return origin.parameter or origin.module or origin.function or relation.left[0]


def _cell(left: tuple[str, ...], members: Iterable[Relation], rank: int) -> Cell:
    own = [relation for relation in members if relation.right.startswith(f"r{rank}.")]
    if not own:
        return Cell()
    words = dict.fromkeys(_layout(left, relation.layout) for relation in own)
    weakest = min(relation.evidence.rung for relation in own)
    return Cell("; ".join(words), ANSWERS[weakest], str(weakest))


def _layout(left: tuple[str, ...], layout: str) -> str:
    if layout in left:
        return WHOLE
    for name in left if len(left) == 1 else ():
        layout = layout.replace(name, "·")
    return layout


def meetings(verdict: Refinement) -> list[Meeting]:
    """The collectives, those of one line and group as one."""
    def key(found: Collective) -> tuple[str, str, tuple[int, ...]]:
        return found.kind, place_in_words(found.origin), found.group

    counts = Counter(map(key, verdict.collectives))
    return [
        Meeting(kind, source, times, tuple(rank in group for rank in range(verdict.world_size)))
        for (kind, source, group), times in counts.items()
    ]
