"""Vanishing outputs: those that are zero, but for rounding.

The gradient of a bias before a norm is zero, for the norm takes every shift out again; so is Σ(x − mean x). What a
program computes of it is rounding and nothing else, and no number in it says anything: two spellings of it are as far
apart as they are large. An output that is no larger than what rounding of its inputs moves it by is read as zero:
values then neither tell nor refute anything about it, and only a proof does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from samesame.graph import Graph, Node
from samesame.operators.execute import execute
from samesame.operators.kept import Over
from samesame.relate.propose import Values, agree
from samesame.relate.roots import AGREES

Run = Mapping[str, Any]
SMALL = 1e-9                # of the largest operand: only then is it asked how far rounding goes
STEPS = 8.0                 # units in the last place by which inputs move
MOVES = 4                   # times that they move: by chance one leaves the rounding as it was
ROOM = 100.0                # times as far may an output be that is zero


@dataclass(frozen=True, slots=True)
class Total:
    """A tensor that a graph has, or that is the sum of several."""

    parts: tuple[str, ...]

    def of(self, run: Run) -> torch.Tensor:
        return torch.stack([run[name].double() for name in self.parts]).sum(0)


def vanishing(graph: Graph, totals: Mapping[str, Sequence[Total]], runs: Values) -> frozenset[str]:
    """The outputs all of whose tensors are zero, on every draw."""
    small = {name for name, own in totals.items() if own and all(_is_small(graph, x, run) for x in own for run in runs)}
    for run in runs if small else ():
        moves: dict[Total, float] = {}
        for seed in range(MOVES):
            moved: Run = execute(graph, {n.name: _moved(run[n.name], seed) for n in graph.nodes if n.is_source})
            for total in (total for name in small for total in totals[name]):
                moves[total] = max(moves.get(total, 0.0), _largest(total.of(run) - total.of(moved)))
        small = {name for name in small if all(_largest(x.of(run)) <= ROOM * moves[x] for x in totals[name])}
    return frozenset(small)


def without_noise(graphs: tuple[Graph, Graph], values: tuple[Values, Values]) -> tuple[Values, Values]:
    """The values of both programs with zeros for the outputs that differ and are zero in both."""
    names: tuple[list[str], list[str]] = [], []
    for (_, left), (_, right) in zip(graphs[0].roots, graphs[1].roots, strict=True):
        both = zip(*values, strict=True)
        if left.type != right.type or all(agree(x[left.name], y[right.name], AGREES) for x, y in both):
            continue
        if all(_is_zero(graph, root, runs) for graph, root, runs in zip(graphs, (left, right), values, strict=True)):
            names[0].append(left.name)
            names[1].append(right.name)
    return with_zeros(values[0], names[0]), with_zeros(values[1], names[1])


def _is_zero(graph: Graph, root: Node, runs: Values) -> bool:
    if all(isinstance(run[root.name], torch.Tensor) and not bool(run[root.name].any()) for run in runs):
        return True
    return bool(vanishing(graph, {root.name: [Total((root.name,))]}, runs))


def with_zeros(runs: Values, names: Collection[str]) -> Values:
    """The values of each draw with zeros for these nodes."""
    return [Over({name: torch.zeros_like(run[name]) for name in names}, run) for run in runs] if names else runs


def _is_small(graph: Graph, total: Total, run: Run) -> bool:
    first = run[total.parts[0]]
    if not isinstance(first, torch.Tensor) or not first.is_floating_point() or graph[total.parts[0]].is_source:
        return False
    operands = [run[part.name] for name in total.parts for part in _behind(graph[name])]
    scale = max((_largest(x) for x in operands if isinstance(x, torch.Tensor)), default=0.0)
    return _largest(total.of(run)) < SMALL * scale


def _behind(node: Node, steps: int = 3) -> set[Node]:
    """A node, what it reads, and what that was made of, some steps back: a sum may be moved before it is returned."""
    found = last = {node}
    for _ in range(steps):
        last = {part for one in last for part in one.inputs} - found
        found = found | last
    return found


def _largest(value: torch.Tensor) -> float:
    return float(value.double().abs().max()) if value.numel() and not value.is_complex() else 0.0


def _moved(value: torch.Tensor, seed: int) -> torch.Tensor:
    if not value.is_floating_point():
        return value
    dice = torch.Generator().manual_seed(seed * MOVES + value.numel())
    signs = torch.rand(value.shape, generator=dice, dtype=torch.float64) * 2 - 1
    return (value.double() * (1 + STEPS * torch.finfo(torch.float64).eps * signs)).to(value.dtype)
