"""Asked: what programs ask of data and decide by, which has to be the same on all of it.

A library asserts that a mask is full, that a loss is finite, that all ranks hold as many tokens. A graph is made under
one answer and stands for data that give the same. Where an answer is another on one of the draws, data decide what the
program does, and it is refused; where it is the same on all, the verdict holds under that condition, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from samesame.capture.ranks.graphs import Answer, answers, told_by
from samesame.evidence import Refused
from samesame.refine.sides import Sides
from samesame.relate.propose import Values

Run = Mapping[str, Any]


def conditions(sides: Sides, values: tuple[Values, Values]) -> list[str]:
    """That each question is answered as on the example, as the end of a sentence with `if`. Raises Refused where it is
    not, on some draw."""
    told: dict[str, None] = {}
    for name, answer, side in _asked(sides):
        if any(told_by(run[name]) != answer.value for run in values[side]):
            raise Refused(
                f"{answer.origin.spoken} {answer.does}, so the graph depends on data; pass the value as an argument "
                "instead"
            )
        place, code = answer.origin.spoken, answer.origin.code.strip()
        line = f"`{code}` ({place})" if code else f"what {place} asks of data"
        told[f"{line} gives {', '.join(map(str, answer.value))}"] = None
    return [*told]


def answered_alike(sides: Sides, runs: tuple[Run, Run]) -> bool:
    """Whether on these values every question is answered as on the example, as far as they tell."""
    return all(name in runs[side] and told_by(runs[side][name]) == answer.value for name, answer, side in _asked(sides))


def _asked(sides: Sides) -> Iterator[tuple[str, Answer, int]]:
    """Each question: the node that holds the answer, by its name in the graph of its side, and which side that is."""
    yield from ((answer.node, answer, 0) for answer in answers(sides.left))
    for graph, places in zip(sides.ranks, sides.met.places, strict=True):
        yield from ((places[answer.node].name, answer, 1) for answer in answers(graph))
