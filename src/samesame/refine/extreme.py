"""Extreme: draws that hold what is no number, where an operator asks for that; and integers over their range.

As in `check` (relate/extremes.py), with the ranks' inputs as pieces of the sequential ones. Only outputs that are whole
or in pieces are looked at: of a sum that nobody took, NaN and infinities tell nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch

from samesame.refine.asked import answered_alike
from samesame.refine.outputs import CLEAN, Found
from samesame.refine.sides import Sides
from samesame.refine.uneven import inputs_of_ranks
from samesame.relate.draws import Draw, Run, extreme_runs
from samesame.relate.propose import Values


def extreme_outputs(
    sides: Sides, outputs: Mapping[str, Found], taken: list[Draw], values: tuple[Values, Values], seed: int
) -> Iterator[tuple[Draw, tuple[Run, Run], dict[str, Found]]]:
    """The draws on which outputs that are where they should be are so no longer: with both sides' values, and how these
    outputs lie there."""
    def theirs(mine: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return inputs_of_ranks(sides.sources, sides.relation.layouts, {**taken[0].left, **mine}, taken[0].right)

    right = [name for name, lies in outputs.items() if lies.kind in CLEAN and sides.due[name].holds(lies)]
    for draw, runs in extreme_runs((sides.left, sides.right), taken[0], values, seed, theirs):
        if not answered_alike(sides, runs):
            continue
        lying = sides.lying(([*values[0], runs[0]], [*values[1], runs[1]]))
        wrong = {name: replace(lying[name], words=f"{lying[name].words}, on the example with {draw.label}")
                 for name in right if not sides.due[name].holds(lying[name])}
        if wrong:
            yield draw, runs, wrong
