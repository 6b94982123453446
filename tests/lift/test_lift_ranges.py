"""What ranges say without a solver, and points that a solver has named: never more than what is so."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.formula.expr import Expr, Index, Lambda, Leaf, Load, Opaque, Size, const, index, lt, not_
from samesame.kernels.indices import integers
from samesame.kernels.indices.integers import at_most, equal, less, minus, plus_, quotient, remainder, times_
from samesame.kernels.indices.points import Point, Points
from samesame.kernels.indices.products import multiplies
from samesame.kernels.indices.ranges import holds_by_ranges, is_never_negative, least
from samesame.kernels.indices.solver import IndexProver

M, N = Size("m", 1), Size("n", 2)
BLOCKS = integers.ceiling(N, const(4))
P, L = index(BLOCKS), index(const(4))
I, J = index(M), index(N)  # noqa: E741    indices, as formulas write them
K = index(times_(M, N))
INNER = index(plus_(J, 1))  # its range depends on another index
PARTS: tuple[Expr, ...] = (I, J, K, P, L, INNER, M, N)
SIZES = tuple(itertools.product((1, 2, 5, 9), (2, 3, 4, 9)))


def made(a: Expr, b: Expr, how: str) -> Expr:
    makers = {
        "+": plus_,
        "-": minus,
        "*": times_,
        "// 4": lambda x, _: quotient(x, const(4)),
        "// n": lambda x, _: quotient(x, N),
        "mod 3": lambda x, _: remainder(x, const(3)),
        "max": lambda x, y: integers.flattened("max", (x, y)),
        "min": lambda x, y: integers.flattened("min", (x, y)),
    }
    return makers[how](a, b)


NUMBERS = st.recursive(
    st.one_of(st.sampled_from(PARTS), st.integers(-5, 9).map(const)),
    lambda inner: st.builds(
        made, inner, inner, st.sampled_from(["+", "-", "*", "// 4", "// n", "mod 3", "max", "min"])
    ),
    max_leaves=7,
)
GOALS = st.builds(
    lambda a, b, c: {"<": less(a, b), "≤": at_most(a, b), "≠": not_(equal(a, b)), "=": equal(a, b)}[c],
    NUMBERS,
    NUMBERS,
    st.sampled_from(["<", "≤", "≠", "="]),
)


def values_of(expr: Expr) -> set[object]:
    """An expression's values where indices are at the ends of their ranges and between."""
    found: set[object] = set()
    used = [v for v in (J, INNER, I, K, P, L) if v in expr.free or (v is J and INNER in expr.free)]
    for m, n in SIZES:
        points: list[dict[Expr, int]] = [{M: m, N: n}]
        for v in used:
            points = [{**at, v: k} for at in points for k in few(extent_at(v, at))]
        for at in points:
            point = Point(0, {})
            point.values.update(at)
            found.add(point.value(expr))
    return found


def extent_at(v: Index, at: dict[Expr, int]) -> int:
    point = Point(0, {})
    point.values.update(at)
    return int(point.value(v.extent))


def few(extent: int) -> set[int]:
    return {k for k in (0, 1, extent // 2, extent - 1) if 0 <= k < extent}


@settings(max_examples=150, deadline=None)
@given(GOALS)
def test_what_ranges_say_is_so_at_every_point(goal: Expr) -> None:
    if holds_by_ranges(goal):
        assert values_of(goal) <= {True}


@settings(max_examples=80, deadline=None)
@given(NUMBERS)
def test_nothing_is_below_its_least_value(number: Expr) -> None:
    lowest = least(number)
    assert lowest is None or min(values_of(number)) >= lowest  # type: ignore[type-var]


FOLLOW = {
    "an index is below its end": less(plus_(times_(P, 4), L), plus_(N, 3)),
    "rows of rows": less(plus_(times_(I, N), J), times_(M, N)),
    "a remainder": less(remainder(K, N), N),
    "a remainder of a number": at_most(0, remainder(minus(K, J), const(3))),
    "a quotient of an index": less(quotient(K, N), M),
    "a quotient of a lane": less(quotient(L, const(2)), const(2)),
    "enough blocks": at_most(N, times_(BLOCKS, 4)),
    "a range that an index ends": less(INNER, N),
    "a quotient that is one": equal(integers.ceiling(BLOCKS, BLOCKS), 1),
    "a quotient by more": equal(quotient(L, const(4)), 0),
    "lanes of a block of rows": less(plus_(times_(quotient(K, N), 4), L), times_(M, 4)),
}


@pytest.mark.parametrize("name", FOLLOW)
def test_common_questions_need_no_solver(name: str) -> None:
    prover = IndexProver()
    assert prover.proves((), FOLLOW[name]) and prover.queries == 0


NOT = {
    "one too few": less(plus_(times_(P, 4), L), plus_(N, 2)),
    "one row too few": less(plus_(times_(I, N), J), minus(times_(M, N), 1)),
    "columns for rows": less(plus_(times_(J, N), I), times_(M, N)),
    "a lane is in range": less(plus_(times_(P, 4), L), N),
    "blocks that are full": at_most(times_(BLOCKS, 4), N),
    "a size has no end": at_most(N, const(1 << 40)),
    "a size is no number": equal(N, 2),
    "lanes of a block of rows, one too few": less(plus_(times_(quotient(K, N), 4), L), minus(times_(M, 4), 1)),
    "lanes of more than a block of rows": less(plus_(times_(quotient(K, N), 3), L), times_(M, 3)),
    "half of what is even or odd": equal(times_(quotient(N, const(2)), 2), N),
}


@pytest.mark.parametrize("name", NOT)
def test_what_is_off_by_one_is_not_said(name: str) -> None:
    assert not holds_by_ranges(NOT[name]) and not IndexProver().proves((), NOT[name])


# ---------------------------------------------------------------------------------------------------- learned points


def test_a_case_against_one_question_answers_others() -> None:
    prover = IndexProver()
    far = at_most(J, const(1 << 20))
    assert not prover.proves((), far)
    asked = prover.queries
    assert asked and not prover.proves((), at_most(J, const((1 << 20) - 7))) and prover.queries == asked


def test_a_point_that_is_none_is_not_kept() -> None:
    """Values that leave an index's range, as a solver that takes m·n for a number of its own may name."""
    points = Points({})
    assert not points.learn({M: 1, N: 2, K: 1 << 40}, (), at_most(K, const(9))) and not points.learned
    assert points.learn({M: 1, N: 12, K: 11}, (), at_most(K, const(9))) and len(points.learned) == 1


def test_an_unknown_function_is_one_at_every_point() -> None:
    """f(a) and f(b) are the same where a and b are."""
    f, g = (Opaque("bits.f", 32, (), (e,), "int") for e in (L, remainder(L, const(4))))
    for seed in range(20):
        point = Point(seed, {})
        assert point.value(f) == point.value(g)
    assert IndexProver().proves((equal(L, P),), equal(f, Opaque("bits.f", 32, (), (P,), "int")))


def test_a_position_is_in_its_row() -> None:
    row = Lambda((J,), Load(Leaf("x", (N,)), (J,)))
    where_ = Opaque("aten.argmax", (), (row,), (), "int")
    for seed in range(20):
        point = Point(seed, {})
        assert 0 <= point.value(where_) < point.value(N)
    assert IndexProver().proves((), less(where_, N))


@pytest.mark.parametrize(
    "claim, told",
    [
        (less(I, M), False),
        (less(K, const(9)), True),
        (less(quotient(I, N), const(9)), True),
        (less(quotient(I, const(4)), const(9)), False),
        (less(times_(I, J), const(9)), True),
        (lt(Load(Leaf("y", (M,)), (I,)), 0), False),
    ],
)
def test_which_claims_are_about_products(claim: Expr, told: bool) -> None:
    assert multiplies(claim) == told


@pytest.mark.parametrize("extent", [4, N])
def test_what_is_never_negative_is_so_at_both_ends_of_each_index(extent: int | Expr) -> None:
    """The sign of what an index is multiplied by may be known of the other's values alone: j·(2 − i) − 1."""
    i, j = index(const(2)), index(const(extent))
    for a, b, c, d in itertools.product(range(-2, 3), range(-2, 3), range(-2, 3), range(-2, 4)):
        if is_never_negative(plus_(times_(times_(i, j), a), times_(i, b), times_(j, c), d)):
            ends = itertools.product((0, 1), (0, 1, 3, 8) if extent is N else (0, 3))
            assert all(a * m * n + b * m + c * n + d >= 0 for m, n in ends), (a, b, c, d)
