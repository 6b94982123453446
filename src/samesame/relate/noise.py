"""Noise: draws on which rounding decides.

A draw may lead a program to where it is ill-conditioned: e to the power of what is 10⁵ and should be negative, a
difference of large numbers. What two spellings of it compute there is as far apart as rounding makes them, and refutes
nothing. How far that is shows when the program runs again, each result that is no short number off by a unit in the
last place, up or down by chance (Monte Carlo arithmetic; D. S. Parker, 1997). Where the programs are no further apart
than either is from itself, the draw tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from samesame.graph import Graph, Node
from samesame.operators.execute import execute
from samesame.relate.propose import TOLERANCE, difference

RUNS = 4
ROOM = 16.0                 # times as far as a program is from itself may two be apart
FAR = 1e4                   # times as far, and one run tells that they differ
SHORT = 2.0**10             # of which multiples of the inverse are exact: masks, positions, counts
Run = Mapping[str, Any]


def rounding_decides(graphs: tuple[Graph, Graph], sources: tuple[Run, Run], runs: tuple[Run, Run]) -> bool:
    """Whether rounding explains all by which the outputs of two programs differ on these values of their sources; not
    where they do not differ."""
    names = [tuple(root.name for root in pair) for pair in zip(*([node for _, node in g.roots] for g in graphs),
                                                               strict=True)]
    gaps = {pair: gap for pair in names if (gap := difference(runs[0][pair[0]], runs[1][pair[1]])) > TOLERANCE}
    moved = dict.fromkeys(gaps, 0.0)
    for seed in range(RUNS if gaps else 0):
        for side, graph in enumerate(graphs):
            noisy = execute(graph, sources[side], keep=False, changed=Noise(2 * seed + side))
            for pair in gaps:
                moved[pair] = max(moved[pair], difference(runs[side][pair[side]], noisy[pair[side]]))  # type: ignore[arg-type]
        if any(gap > FAR * moved[pair] for pair, gap in gaps.items()):
            return False
    return bool(gaps) and all(gap <= ROOM * moved[pair] for pair, gap in gaps.items())


class Noise:
    """Changes what operators give by a unit in the last place, but what is exact."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, node: Node, value: Any) -> Any:
        if isinstance(value, tuple | list):
            return tuple(self(node, part) for part in value)
        if not isinstance(value, torch.Tensor) or not value.dtype.is_floating_point:
            return value
        sign = torch.randint(-1, 2, value.shape, generator=self.generator, dtype=value.dtype)
        rounded = (value * SHORT).frac() != 0
        return torch.where(rounded, value * (1 + sign * torch.finfo(value.dtype).eps), value)
