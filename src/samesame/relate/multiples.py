"""Multiples side by side: a stored tensor whose rows are those of the other program's, each run of them times a number.

A scale of scores is folded into the queries' third of a fused matrix, adapters are stacked with the scale of each. So
each row is looked for among the rows of the other's tensors by its direction; where one is found, the rows after it
are taken as long as they follow there, too, at the same ratio. The elements of a vector have no direction; there a
whole vector of the other's must follow, at one ratio.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch

NEAR = 1e-5                 # of the largest magnitude: as far as what is stored may be off
RUNS = 64                   # of which a tensor may be made
STARTS = 8                  # rows in one direction, at which one may begin
ELEMENTS = 1 << 22


@dataclass(frozen=True, slots=True)
class Run:
    """The rows `start` … `stop` − 1 of a tensor, times a number."""

    name: str
    start: int
    stop: int
    factor: float


def runs(value: torch.Tensor, held: Mapping[str, torch.Tensor]) -> list[Run] | None:
    """The runs that make the rows of a tensor, over all of its dimensions but the last; None where nothing does, or
    where all are as they are held."""
    if not value.is_floating_point() or not 1 < value.numel() <= ELEMENTS:
        return None
    wide = value.shape[-1] if value.dim() > 1 else 1
    rows = value.double().reshape(-1, wide)
    theirs = {name: other.double().reshape(-1, wide) for name, other in held.items()
              if other.is_floating_point() and other.numel() > 1 and (other.dim() > 1) == (value.dim() > 1)
              and (other.shape[-1] == wide or other.dim() == 1)}
    found, at = list[Run](), 0
    while at < len(rows):
        starts = _whole(rows, at, theirs) if wide == 1 else _in_direction(rows, at, theirs)
        run = max(starts, key=lambda run: run.stop - run.start, default=None)
        if run is None or len(found) == RUNS:
            return None
        found.append(run)
        at += run.stop - run.start
    return found if any(run.factor != 1 for run in found) else None


def _in_direction(rows: torch.Tensor, at: int, theirs: Mapping[str, torch.Tensor]) -> Iterator[Run]:
    """The runs that begin with a row."""
    row = rows[at]
    length = row.norm()
    for name, other in theirs.items():
        across = (other @ row).abs() >= (1 - NEAR) * other.norm(dim=1) * length
        able = (across & (other.norm(dim=1) > 0)).nonzero().flatten().tolist() if length > 0 else []
        for start in able[:STARTS]:
            many = min(len(other) - start, len(rows) - at)
            factor = _ratio(other[start], row)
            apart = (rows[at : at + many] - factor * other[start : start + many]).abs().amax(1)
            same = apart <= NEAR * rows[at : at + many].abs().amax(1)
            stop = start + (many if bool(same.all()) else int((~same).nonzero()[0]))
            if stop > start:
                yield Run(name, start, stop, factor)


def _whole(rows: torch.Tensor, at: int, theirs: Mapping[str, torch.Tensor]) -> Iterator[Run]:
    """The whole vectors that stand at a place."""
    for name, other in theirs.items():
        mine = rows[at : at + len(other)]
        if len(mine) == len(other) and bool(other.any()) and bool((other != other[0]).any()):
            factor = _ratio(other, mine)
            if float((mine - factor * other).abs().max()) <= NEAR * float(mine.abs().max()):
                yield Run(name, 0, len(other), factor)


def _ratio(other: torch.Tensor, mine: torch.Tensor) -> float:
    """The number times which the one is next to the other; 1 where they are as near as that."""
    factor = float((other * mine).sum() / (other * other).sum())
    return 1.0 if abs(factor - 1) <= NEAR / 100 else factor
