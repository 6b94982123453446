"""Course: a rank is recorded once more, on other values, and must do the same.

A graph is made from one run, and stands for others if these take the same course. What a rank reads in a way that the
recorder does not see (a NumPy view made before, say) shows in what it does then. Its results cannot tell, as they do
for a program that runs alone (again.py): what the other ranks send is not there. So the two recordings are compared,
operator by operator (woven.py). Values on which the program fails are outside its domain, and milder ones are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TypeVar

import torch

from samesame.capture.again import TURNED, Draw, movable, put, same
from samesame.capture.ranks.graphs import answers
from samesame.capture.woven import parting
from samesame.evidence import Refused, SamesameError
from samesame.graph import Graph, Origin

G = TypeVar("G", bound=Graph)

AS_GIVEN = TURNED[-1]


class Departs(SamesameError):
    """A program has come to where it cannot go on, at `origin`; it may be where it did not come before."""

    def __init__(self, origin: Origin, why: str) -> None:
        super().__init__(f"{origin.spoken} {why}")
        self.origin = origin


def drawn(
    draw: Draw, inputs: Iterable[torch.Tensor], weights: Iterable[torch.Tensor]
) -> AbstractContextManager[object]:
    """Inside, the inputs and weights of a program hold other values."""
    changes = {tensor: draw.inputs(tensor) for tensor in inputs if draw.inputs is not same}
    changes |= {tensor: draw.weights(tensor) for tensor in movable(list(weights)) if draw.weights is not same}
    return put(changes, [], {})


def of_one_course(record: Callable[[Draw], G], again: bool, in_turn: Callable[[str], bool]) -> G:
    """The graph that `record` makes as the values are given; if `again`, once it has made the same on others, with the
    operators that come `in_turn` in the same order. Raises Refused, with the line at which the two part, where it does
    not."""
    graph = record(AS_GIVEN)
    for draw in TURNED[:-1] if again else ():
        try:
            other = record(draw)
            asked = zip(answers(graph), answers(other), strict=False)
            place = next((mine.origin for mine, yours in asked if mine.value != yours.value), None)
            place = place or parting(graph, other, in_turn)
        except Departs as why:
            place = why.origin
        except SamesameError:                              # outside of the program's domain
            continue
        if place is not None:
            where = place.spoken if place.file or place.module else graph.name
            raise Refused(
                f"{where} does something else on {draw.words}, so the graph depends on data; pass what decides as an "
                "argument, or compute with torch's operators"
            )
        break
    return graph
