"""Noise: draws on which rounding decides.

A draw may lead a program to where it is ill-conditioned: e to the power of what is 10⁵ and should be negative, a
difference of large numbers. What two spellings of it compute there is as far apart as rounding makes them, and refutes
nothing. How far that is shows when the program runs again, each result that is no short number off by a unit in the
last place, up or down by chance (Monte Carlo arithmetic; D. S. Parker, 1997). An element tells nothing where the
programs are no further apart than either is from itself. Chance goes by the number: equal ones move alike, so that a
tie stays one, and whatever breaks ties otherwise shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from samesame.evidence import SamesameError
from samesame.graph import Graph, Node
from samesame.operators.execute import execute
from samesame.relate.propose import TOLERANCE, difference, reals

RUNS = 4
ROOM = 16.0                 # times as far as a program is from itself may two be apart
HASTE = 1e4                 # times as far anywhere, and one run is enough
BY_CHANCE = 0.1             # of the elements that are apart
SHORT, LARGE = 2.0**10, 2.0**43         # multiples of 1/SHORT are exact, but for large ones, which are all that
STEP, MIX = 0x9E3779B97F4A7D, (-7046029254386353131, -4417276706812531889)     # odd numbers that mix bits
Run = Mapping[str, Any]     # values by node name


def rounding_decides(graphs: tuple[Graph, Graph], sources: tuple[Run, Run], runs: tuple[Run, Run]) -> bool:
    """Whether rounding explains all by which the outputs of two programs differ on these values of their sources; not
    where they do not differ."""
    roots = [(a.name, b.name) for (_, a), (_, b) in zip(graphs[0].roots, graphs[1].roots, strict=True)]
    if any(runs[0][a].shape != runs[1][b].shape for a, b in roots):
        return False
    gaps = {(a, b): _gap(runs[0][a], runs[1][b]) for a, b in roots if difference(runs[0][a], runs[1][b]) > TOLERANCE}
    moved = {pair: torch.zeros_like(gap) for pair, gap in gaps.items()}
    for seed in range(RUNS if gaps else 0):
        for side, graph in enumerate(graphs):
            try:
                noisy: Run = execute(graph, sources[side], keep=False, changed=Noise(2 * seed + side))
            except SamesameError:              # an index that was 7 and is a little more
                continue
            for pair, most in moved.items():
                own = runs[side][pair[side]]
                if own.shape == noisy[pair[side]].shape:
                    moved[pair] = torch.maximum(most, _moves(own, noisy[pair[side]]))
        if any(bool(gap.max() > HASTE * moved[pair].max()) for pair, gap in gaps.items()):
            return False
    return bool(gaps) and all(_explained(gap, moved[pair]) for pair, gap in gaps.items())


def _explained(gap: torch.Tensor, moved: torch.Tensor) -> bool:
    """Whether next to all elements that are apart moved as far themselves, and the rest are as near as any moved that
    stayed a number: by chance an element stays, now and then, where two results that move alike are taken from one
    another."""
    far, most = gap > ROOM * moved, torch.where(moved.isfinite(), moved, 0.0).max()
    return bool(far.sum() <= BY_CHANCE * (gap > 0).sum()) and bool((gap[far] <= ROOM * most).all())


def _gap(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """How far elements are apart where that is more than nothing; infinite where one of them is no number."""
    x, y = reals(a, b)
    both = torch.isfinite(x) & torch.isfinite(y)
    scale = torch.maximum(x[both].abs().max(), y[both].abs().max()) if bool(both.any()) else torch.ones(())
    gap = torch.where((x == y) | (x.isnan() & y.isnan()), 0.0, torch.where(both, (x - y).abs(), torch.inf))
    return torch.where(gap <= TOLERANCE * scale, 0.0, gap)


def _moves(own: torch.Tensor, noisy: torch.Tensor) -> torch.Tensor:
    """How far elements moved; what is no number any more says nothing."""
    x, y = reals(own, noisy)
    return torch.where((x == y) | x.isnan() | y.isnan(), 0.0, (x - y).abs())


class Noise:
    """Changes what operators give in float64 by a unit in the last place, but what is exact."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, node: Node, value: Any) -> Any:
        if isinstance(value, tuple | list):
            return tuple(self(node, part) for part in value)
        if isinstance(value, torch.Tensor) and value.dtype is torch.complex128:
            return torch.view_as_complex(self(node, torch.view_as_real(value.resolve_conj()).contiguous()))
        if not isinstance(value, torch.Tensor) or value.dtype is not torch.float64:
            return value
        rounded = ((value * SHORT).frac() != 0) | (value.abs() > LARGE)
        return torch.where(rounded & value.isfinite(), value * (1 + self.sign(value) * 2.0**-52), value)

    def sign(self, value: torch.Tensor) -> torch.Tensor:
        """1 or −1, by the bits of the number."""
        bits = value.contiguous().view(torch.int64) + (self.seed + 1) * STEP
        for factor in MIX:
            bits = (bits ^ (bits >> 31)) * factor
        return ((bits >> 40) & 1).double() * 2 - 1
