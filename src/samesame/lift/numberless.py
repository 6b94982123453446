"""What is no number on the example itself: 0/0 where a mask of the reference leaves nothing.

A formula of a quotient whose divisor a mask makes 0 may lose that place: 1 / (w if c else 0) is taken for 1/w. So a
reference that is the same by its formula is run, too, on the example with other numbers: all from 1/4 to 3/4, and all
from 3/2 to 5/2, within the domain of most functions in one of these at least. An element that is NaN on both is one by
the masks and integers of the example, and of such a reference nothing is the same.
"""

from __future__ import annotations

import torch

from samesame.evidence import SamesameError
from samesame.graph import Graph
from samesame.operators.execute import execute, is_finite
from samesame.relate.flags import is_flag

SPANS = (0.25, 0.75), (1.5, 2.5)


def without_a_number(graph: Graph) -> bool:
    """Whether some element of what a graph returns is NaN whatever numbers its inputs hold, as far as two runs tell."""
    runs = []
    for low, high in SPANS:
        dice = torch.Generator().manual_seed(0)
        values = {node.name: _within(graph.tensors[node.name], low, high, dice) for node in graph.sources("input")}
        try:
            found = execute(graph, values, keep=False)
        except SamesameError:                              # these numbers are not for it: nothing is told
            return False
        runs.append([found[root.name] for _, root in graph.roots])
    return any(bool((one.isnan() & other.isnan()).any()) for one, other in zip(*runs, strict=True)
               if isinstance(one, torch.Tensor) and one.is_floating_point())


def _within(value: torch.Tensor, low: float, high: float, dice: torch.Generator) -> torch.Tensor:
    """Other numbers in the place of plain ones; masks of zeros and ones, and what holds an infinity, stay."""
    if not value.dtype.is_floating_point or not is_finite(value) or is_flag(value):
        return value
    return (low + (high - low) * torch.rand(value.shape, generator=dice, dtype=torch.float64)).to(value.dtype)
