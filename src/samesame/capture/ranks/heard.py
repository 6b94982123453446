"""Hearing: what a rank is told by others while it is recorded, where it asks.

What a collective brings is not known while one rank is recorded alone, and most programs never look. Some do: they tell
each other sizes before they exchange tensors, send objects as bytes, or stop unless all agree. A rank that comes to
such a place stops there. Then all ranks meet as far as they have come, what each of them takes is worked out on the
example, and who has stopped is recorded anew, this time with what it hears. That is repeated until all come to their
end; where nobody hears anything new, the program would hang there.

What is heard and hangs on no input and no weight of any rank is a constant of the program, and may decide what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from samesame.capture.course import Departs
from samesame.capture.ranks.graphs import RankGraph
from samesame.capture.ranks.world import meeting_so_far
from samesame.graph import Graph, Origin
from samesame.operators.execute import closed, execute


@dataclass(frozen=True, slots=True)
class Heard:
    """What a collective brings on the example, and whether it would bring the same on any inputs and weights."""

    value: torch.Tensor
    closed: bool


class Unheard(Departs):
    """A rank has come to where it needs what others tell it; `graph` is what it does before."""

    def __init__(self, graph: RankGraph, origin: Origin) -> None:
        super().__init__(origin, "needs what other ranks send")
        self.graph = graph


Hearing = Mapping[str, Heard]                              # by the collective's node


def all_heard(record: Callable[[int, Hearing], RankGraph], ranks: int) -> tuple[RankGraph, ...]:
    """The graphs of all ranks; `record(rank, heard)` makes one, or raises Unheard. Raises Mismatch where ranks need to
    hear of each other what never comes."""
    whole: dict[int, RankGraph] = {}
    heard: list[Hearing] = [{} for _ in range(ranks)]
    while True:
        begun: dict[int, RankGraph] = {}
        for rank in range(ranks):
            if rank not in whole:
                try:
                    whole[rank] = record(rank, heard[rank])
                except Unheard as why:
                    begun[rank] = why.graph
        if not begun:
            return tuple(whole[rank] for rank in range(ranks))
        known = results([whole.get(rank) or begun[rank] for rank in range(ranks)], set(begun), heard)
        heard = [now if rank in begun else before for rank, (before, now) in enumerate(zip(heard, known, strict=True))]


def results(graphs: Sequence[Graph], asking: set[int], before: Sequence[Hearing]) -> list[Hearing]:
    """What the collectives that can take place bring to each rank."""
    met, brought, stuck = meeting_so_far(graphs)
    constant = closed(met)
    values: dict[str, Any] = execute(met, met.tensors, precision="own", keep=False)
    found = [{name: Heard(values[node.name], node.name in constant) for name, node in own.items()} for own in brought]
    if not any(found[rank].keys() - before[rank].keys() for rank in asking):
        raise stuck()
    return [*found]
