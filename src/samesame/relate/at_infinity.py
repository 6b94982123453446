"""At infinity: both sides of a claim where its frontier holds the infinities that the example has there.

A proof is about real numbers. A tensor in the middle of two programs may hold −∞ all the same, put there by a mask, and
stands in a proof as if it were a number: e^h to the power of p is e^(p·h) for all numbers, and at h = −∞ for p > 0
alone. So where a tensor at the frontier is not finite on the example, both sides run with it as it is there, and with
numbers in place of its infinities; the other tensors are numbers of either sign, or zero. Where the sides are numbers
with numbers, they have to be the same with infinities, too: both numbers, both NaN, or the same infinity.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from samesame.evidence import SamesameError
from samesame.graph import Graph
from samesame.operators.execute import Value, execute, is_finite

DRAWS = 12
FIXED = (0.0, 0.5, -0.5, 1.0, -1.0)


def infinite(values: Mapping[str, torch.Tensor]) -> dict[str, bytes]:
    """Where those that are not finite throughout are NaN, +∞ and −∞, by name."""
    return {name: torch.where(value.isnan(), 2, value.isposinf().int() - value.isneginf().int()).to(torch.int8)
            .numpy().tobytes() for name, value in values.items()
            if value.is_floating_point() and not is_finite(value)}


def agree_at_infinity(graph: Graph, left: str, right: str, values: Mapping[str, torch.Tensor], seed: int) -> bool:
    """Are the sides, nodes of these names, the same where inputs are as infinite as in `values`, by name, wherever both
    are numbers without? Draws on which they cannot be run are left out; not so the values themselves."""
    generator, at = torch.Generator().manual_seed(seed), infinite(values)
    for number in range(DRAWS):
        others = {name: value if name in at else _other(value, number, generator) for name, value in values.items()}
        numbers = {name: value.masked_fill(~value.isfinite(), 0.5) for name, value in others.items() if name in at}
        try:
            usual, extreme = (execute(graph, given) for given in (others | numbers, others))
        except SamesameError:
            if number == 0:
                return False
            continue
        a, b, x, y = (_tensor(run[side]) for run in (usual, extreme) for side in (left, right))
        same = (x == y) | (x.isnan() & y.isnan()) | (x.isfinite() & y.isfinite())
        if bool((a.isfinite() & b.isfinite() & ~same).any()):
            return False
    return True


def _tensor(value: Value) -> torch.Tensor:
    assert isinstance(value, torch.Tensor), "a claim is about two tensors"
    return value


def _other(value: torch.Tensor, number: int, generator: torch.Generator) -> torch.Tensor:
    """Other reals for a tensor, at first all alike; integers and truth values stay."""
    if number == 0 or not value.is_floating_point():
        return value
    if number <= len(FIXED):
        return torch.full_like(value, FIXED[number - 1])
    return torch.randn(value.shape, generator=generator, dtype=value.dtype)
