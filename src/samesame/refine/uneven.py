"""Uneven: one more draw, on which the ranks' parts of a batch weigh differently.

Labels that count for nothing (`ignore_index`, a comparison with a number) and masks decide how much each rank has. An
example gives every rank as much as the others more often than data do, and then a mean of the ranks' means looks like
the mean of all. So on one more draw some elements count and some do not, more in one part than in another. A program
that has a mask, that asks for such labels, or whose example has them, must cope with that. Where only a loss that it
calls would leave out labels, and the example has none of these, that there are none is a condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from samesame.evidence import SamesameError
from samesame.graph import Graph, Node
from samesame.operators.execute import execute
from samesame.refine.sources import Source
from samesame.relate.draws import Draw, has_nan
from samesame.relate.layout import Layout, values

LABEL = "uneven"
# Where an operator has the number that decides what counts, and how far from it the next lies that does not.
COUNTING = {
    "aten.nll_loss_forward.default": (4, 0), "aten.nll_loss2d_forward.default": (4, 0),
    "aten.eq.Scalar": (1, 0), "aten.ne.Scalar": (1, 0), "aten.gt.Scalar": (1, 0), "aten.lt.Scalar": (1, 0),
    "aten.ge.Scalar": (1, -1), "aten.le.Scalar": (1, 1),
}
COUNTS = 0.7                # the share of elements that count
_TRIES = 100


@dataclass(frozen=True, slots=True)
class Uneven:
    """The draw with both sides' values on it. `of` are the inputs that are uneven on it, and `beyond` those that hold
    what the example does not have, with that number; by name."""

    draw: Draw
    values: tuple[dict[str, Any], dict[str, Any]]
    of: Sequence[str]
    beyond: Mapping[str, int]

    @property
    def words(self) -> str:
        """What to add to how an output lies that does not hold on it."""
        return f", where one rank has more that counts than another: {', '.join(self.of)}"


def uneven(
    left: Graph, right: Graph, sources: Sequence[Source], layouts: Mapping[str, Layout], example: Draw
) -> Iterator[Uneven]:
    """The example, with masks and labels that leave the ranks unequal parts: first those for which the programs must be
    ready, then the others. Nothing where there are none, or where either side computes NaN of them. float64 values."""
    ranks = len({source.rank for source in sources})
    fresh: dict[bool, dict[str, torch.Tensor]] = {False: {}, True: {}}
    numbers: dict[str, int] = {}
    for node in left.sources("input"):
        value = example.left[node.name]
        number, asked = (False, True) if value.dtype == torch.bool else _counting(left, node)
        if value.is_floating_point() or value.numel() < 2 or number is None:
            continue
        told = torch.ones_like(value) if value.dtype == torch.bool else _filled(value, number)
        if told is not None:
            beyond = not asked and not bool((value == number).any())
            fresh[beyond][node.name] = torch.where(_pattern(value.shape, ranks), told, number)
            numbers[node.name] = int(number)
    for beyond, changed in fresh.items():
        found = _run(left, right, sources, layouts, example, changed) if changed else None
        if found is not None:
            named = {left[name].origin.parameter or name: numbers[name] for name in changed}
            yield Uneven(*found, list(named), named if beyond else {})


def _run(
    left: Graph,
    right: Graph,
    sources: Sequence[Source],
    layouts: Mapping[str, Layout],
    example: Draw,
    changed: Mapping[str, torch.Tensor],
) -> tuple[Draw, tuple[dict[str, Any], dict[str, Any]]] | None:
    """The example with some inputs changed, and both sides' values on it; None where a side has none."""
    mine = {**example.left, **changed}
    theirs = {**example.right, **inputs_of_ranks(sources, layouts, mine, example.right)}
    try:
        runs = execute(left, mine), execute(right, theirs)
    except (SamesameError, RuntimeError, IndexError):      # a number that a lookup does not have, say
        return None
    if any(has_nan(run[root.name]) for graph, run in zip((left, right), runs, strict=True) for _, root in graph.roots):
        return None
    return Draw(LABEL, mine, theirs), runs


def inputs_of_ranks(
    sources: Sequence[Source],
    layouts: Mapping[str, Layout],
    mine: Mapping[str, torch.Tensor],
    like: Mapping[str, torch.Tensor],
) -> dict[str, torch.Tensor]:
    """The ranks' inputs where the sequential program has these values, in the dtypes of others `like` them."""
    names = [source.node.name for source in sources if source.node.operator == "input" and source.node.name in like]
    return {name: values(layouts[name], mine.__getitem__).to(like[name].dtype).contiguous() for name in names}


def _filled(value: torch.Tensor, number: int) -> torch.Tensor | None:
    """The value with elements that count only; None where it has none."""
    counting = value[value != number]
    return torch.where(value == number, counting.flatten()[0], value) if counting.numel() else None


def _pattern(shape: Sequence[int], pieces: int) -> torch.Tensor:
    """Which elements count: over no dimension equally many in all of so many pieces, if one can be found, and some in
    each."""
    found = torch.ones(shape, dtype=torch.bool)
    for seed in range(_TRIES):
        found = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < COUNTS
        counts = [{int(part.sum()) for part in found.chunk(pieces, dim)} for dim, size in enumerate(shape) if size > 1]
        if all(len(numbers) > 1 and min(numbers) > 0 for numbers in counts):
            break
    return found


def _counting(graph: Graph, source: Node) -> tuple[int | None, bool]:
    """The number by which the program tells which elements of an input count, or the next to it that does not; and
    whether the program asks for it itself, and not only a loss that it calls."""
    of = {source}
    for node in graph.nodes:
        if any(part in of for part in node.inputs):
            place, off = COUNTING.get(node.operator, (0, 0))
            if place and len(node.args) > place and isinstance(node.args[place], int | float):
                return int(node.args[place]) + off, "loss" not in node.operator
            if not isinstance(node.type, tuple) and node.type.dtype == source.type.dtype:         # type: ignore[union-attr]
                of.add(node)
    return None, False
