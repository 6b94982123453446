"""The order in which a product of several tensors is summed, two at a time, as torch computes it.

All orders are tried, from small subsets of the factors to all of them; an axis is summed as soon as no other factor has
it. Both the search, to know what a contraction costs, and the printer of torch code follow the order found here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import inf
from typing import NamedTuple

from samesame.optimize.forms import size_of

Axes = tuple[str, ...]
MOST = 8                                             # factors of which all orders are tried


class Step(NamedTuple):
    """Operands `left` and `right` (numbers: first the factors, then the steps' results) become a tensor over `axes`;
    `right` is None where one operand is only summed. `spans` are the axes that the loops run over."""

    left: int
    right: int | None
    axes: Axes
    spans: Axes


Cost = Callable[[Axes, Axes | None, Axes, Axes], float]    # of left, right, result, loops; not below zero


def steps(factors: Sequence[Axes], over: Axes, cost: Cost) -> tuple[float, tuple[Step, ...]]:
    """The cheapest order and its cost."""
    total, plan = _plans(tuple(factors), over, cost)
    made: list[Step] = []

    def emit(node: object) -> int:
        if isinstance(node, int):
            return node
        assert isinstance(node, tuple)
        left, right, axes, spans = node
        numbers = emit(left), None if right is None else emit(right)
        made.append(Step(*numbers, axes, spans))
        return len(factors) + len(made) - 1

    emit(plan)
    return total, tuple(made)


def _plans(factors: tuple[Axes, ...], over: Axes, cost: Cost) -> tuple[float, object]:
    """The cheapest order as a tree, and its cost. Subsets of factors and of axes are bits of numbers."""
    everyone = (1 << len(factors)) - 1
    every = sorted({axis for axes in factors for axis in axes})
    bits = [sum(1 << every.index(axis) for axis in axes) for axes in factors]
    kept = sum(1 << k for k, axis in enumerate(every) if axis not in over)
    inside = [0] * (everyone + 1)
    for subset in range(1, everyone + 1):
        inside[subset] = inside[subset & subset - 1] | bits[(subset & -subset).bit_length() - 1]

    @cache
    def named(axes: int) -> Axes:
        return tuple(axis for k, axis in enumerate(every) if axes >> k & 1)

    def left_over(subset: int) -> int:
        """The axes of the subset's product once what nobody else has is summed."""
        return inside[subset] & (kept | inside[everyone ^ subset])

    @cache
    def best(subset: int) -> tuple[float, object]:
        axes = left_over(subset)
        if subset & subset - 1 == 0:
            k = subset.bit_length() - 1
            if axes == bits[k]:
                return 0.0, k
            return cost(factors[k], None, named(axes), factors[k]), (k, None, named(axes), factors[k])
        least, plan = inf, object()
        for part in parts(subset):
            (x, one), (y, other) = best(subset ^ part), best(part)
            if x + y >= least:                       # whatever the last product costs
                continue
            left, right = left_over(subset ^ part), left_over(part)
            spans = named(left | right)
            total = x + y + cost(named(left), named(right), named(axes), spans)
            if total < least:
                least, plan = total, (one, other, named(axes), spans)
        return least, plan

    def parts(subset: int) -> Iterator[int]:
        """What may be multiplied last with the rest: any part without the first factor; of many, the last factor."""
        if len(factors) > MOST:
            yield 1 << subset.bit_length() - 1
            return
        rest = part = subset & subset - 1
        while part:
            yield part
            part = (part - 1) & rest

    return best(everyone)


def priced(extents: Mapping[str, int], moved: float, flop: float, operator: float) -> Cost:
    """What a step costs, given what an element read or written, a multiplication and an operator cost. An outer product
    costs one operator more: it is larger than what it is made of, and as a rule too early."""
    @cache
    def size(axes: Axes) -> int:
        return size_of(axes, extents)

    def cost(left: Axes, right: Axes | None, axes: Axes, spans: Axes) -> float:
        elements = size(left) + size(axes) + (size(right) if right is not None else 0)
        outer = bool(left and right) and len(spans) == len(left) + len(right or ())
        return moved * elements + flop * size(spans) + operator * (1 + outer)

    return cost
