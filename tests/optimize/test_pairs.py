"""The order of a product: as cheap as the cheapest of all there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from samesame.optimize.pairs import Axes, priced, steps

AXES = "abcde"
EXTENTS = {"a": 1, "b": 3, "c": 8, "d": 64, "e": 800}


def orders(parts: Sequence[tuple[int, ...]]) -> Iterator[list[tuple[tuple[int, ...], tuple[int, ...]]]]:
    """Every way to multiply these sets of factors two at a time, as the pairs in turn."""
    if len(parts) == 1:
        yield []
    for j in range(len(parts)):
        for i in range(j):
            rest = [part for k, part in enumerate(parts) if k not in (i, j)]
            for later in orders([*rest, parts[i] + parts[j]]):
                yield [(parts[i], parts[j]), *later]


def left_over(factors: Sequence[Axes], over: Axes, part: tuple[int, ...]) -> Axes:
    inside = {axis for k in part for axis in factors[k]}
    outside = {axis for k, axes in enumerate(factors) if k not in part for axis in axes}
    return tuple(sorted(axis for axis in inside if axis not in over or axis in outside))


TENSORS = st.frozensets(st.sampled_from(AXES), max_size=3).map(lambda axes: tuple(sorted(axes)))


@given(st.lists(TENSORS, min_size=1, max_size=5),
       st.frozensets(st.sampled_from(AXES)).map(tuple),
       st.sampled_from([(1.0, 0.03, 20_000.0), (1e-3, 1.0, 1e-2), (1e-6, 1e-7, 1.0)]))
def test_no_order_is_cheaper(factors: list[Axes], over: Axes, prices: tuple[float, float, float]) -> None:
    cost = priced(EXTENTS, *prices)
    total, plan = steps(factors, over, cost)
    alone = sum(cost(axes, None, own, axes) for k, axes in enumerate(factors)
                if (own := left_over(factors, over, (k,))) != axes)
    for order in orders([(k,) for k in range(len(factors))]):
        ends = [(left_over(factors, over, one), left_over(factors, over, other), left_over(factors, over, one + other))
                for one, other in order]
        price = sum(cost(one, other, both, tuple(sorted({*one, *other}))) for one, other, both in ends)
        assert total <= alone + price + 1e-9 * price
    assert abs(total - sum(cost(*axes_of(factors, plan, k), step.axes, step.spans)
                           for k, step in enumerate(plan))) <= 1e-9 * max(total, 1)


def axes_of(factors: list[Axes], plan: Sequence, k: int) -> tuple[Axes, Axes | None]:
    """What a step's operands are over."""
    every = [*factors, *(step.axes for step in plan)]
    return every[plan[k].left], None if plan[k].right is None else every[plan[k].right]
