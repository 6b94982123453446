"""Wider draws: larger numbers than the example has.

Draws of inputs have the example's spread, and a clamp, a maximum or a case that only larger numbers reach shows on none
of them: boxes of a narrow example all overlap. Where no proof was found, both programs ran on such numbers, too, and a
difference there is one, as proofs are about all reals; rounding must not explain it, and both sides must be finite.
Numbers that all lie between 0 and 1 stay as they are: probabilities and shares are no others, and neither are masks.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from samesame.evidence import SamesameError
from samesame.graph import Graph
from samesame.operators.kept import Over
from samesame.relate.draws import Draw, Run, agree_at_roots, run_both
from samesame.relate.flags import is_flag
from samesame.relate.noise import rounding_decides
from samesame.relate.propose import reals

TIMES = (4.0, 16.0)                # as large as the example's numbers


def parted_by_larger(
    graphs: tuple[Graph, Graph], example: Draw, seed: int
) -> tuple[Draw, tuple[Run, Run]] | None:
    """A draw of larger numbers on which the programs part, and every node's value on it; the inputs are the left's on
    both sides, in order. None if there is none."""
    for fresh in _drawn(graphs, example, seed):
        try:
            runs = run_both(graphs, fresh)
        except SamesameError:              # a number is no index, say
            continue
        if runs is None or not _finite(graphs, runs) or agree_at_roots(graphs, runs):
            continue
        if not rounding_decides(graphs, (fresh.left, fresh.right), runs):
            return fresh, runs
    return None


def _drawn(graphs: tuple[Graph, Graph], example: Draw, seed: int) -> Iterator[Draw]:
    generator = torch.Generator().manual_seed(seed)
    names = [[node.name for node in graph.sources("input")] for graph in graphs]
    for times in TIMES:
        wide = [_larger(example.left[name], times, generator) for name in names[0]]
        if all(value is None for value in wide):
            return
        mine, yours = ({name: value for name, value in zip(own, wide, strict=True) if value is not None}
                       for own in names)
        told = f"numbers {times:g} times as large"
        yield Draw(told, Over(mine, example.left), Over(yours, example.right))


def _larger(value: torch.Tensor, times: float, generator: torch.Generator) -> torch.Tensor | None:
    """New numbers of the same signs, where all have one; None for what stays as it is."""
    if not value.dtype.is_floating_point or value.numel() == 0 or is_flag(value) or not bool(value.isfinite().all()):
        return None
    low, high = float(value.min()), float(value.max())
    if low >= 0 and high <= 1:
        return None
    noise = torch.randn(value.shape, generator=generator, dtype=torch.float64) * times
    spread = float(value.double().pow(2).mean().sqrt())
    return ((noise.abs() if low >= 0 else noise) * spread).to(value.dtype)


def _finite(graphs: tuple[Graph, Graph], runs: tuple[Run, Run]) -> bool:
    values = (run[root.name] for graph, run in zip(graphs, runs, strict=True) for _, root in graph.roots)
    return all(bool(reals(value, value)[0].isfinite().all()) for value in values if isinstance(value, torch.Tensor))
