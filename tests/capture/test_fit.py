"""Numbers made from sizes are read back as these sizes; numbers that no size explains are not read at all."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from samesame.capture.sizes.fit import Fit, Misfit, solve
from samesame.formula.expr import Size, add, const, floordiv, mul, power
from samesame.formula.sizes import canonical, value_at
from samesame.graph import Node, TensorType

B, T = Size("B", 2), Size("T", 2)
POINTS = [
    {"B": b, "T": t} for b, t in [(2, 5), (3, 5), (4, 5), (11, 5), (19, 5), (2, 7), (2, 8), (2, 13), (2, 22), (11, 13)]
]
FIT = Fit([B, T], POINTS)
COEFFICIENTS = st.integers(-20, 20)
MONOMIALS = [(), (B,), (T,), (B, T), (T, T), (B, B, T)]


FEW = settings(max_examples=20, deadline=None)  # each looks through all forms


def column(size) -> list[int]:
    return [value_at(size, point) for point in POINTS]


# ----------------------------------------------------------------------------------------------------------- integers


@settings(deadline=None)
@given(st.lists(st.tuples(COEFFICIENTS, st.sampled_from(MONOMIALS)), min_size=1, max_size=3))
def test_a_polynomial_is_read_back(terms):
    size = canonical(add(*(mul(c, *m) for c, m in terms)))
    assert FIT.number(column(size)) == size


@FEW
@given(st.integers(2, 8), st.integers(1, 7), st.integers(-8, 8), st.sampled_from([B, T]))
def test_a_quotient_is_read_as_what_it_is_at_every_run(q, a, b, symbol):
    assume(a < q and abs(b) <= 2 * q)
    size = canonical(floordiv(add(mul(a, symbol), b), q))
    values = column(size)
    found = FIT.number(values)
    assert column(found) == values


@FEW
@given(st.lists(st.integers(-50, 50), min_size=len(POINTS), max_size=len(POINTS)))
def test_what_is_read_explains_every_run(values):
    try:
        found = FIT.number(values)
    except Misfit:
        return
    assert column(found) == values


@FEW
@given(st.tuples(COEFFICIENTS, COEFFICIENTS, COEFFICIENTS), st.integers(0, len(POINTS) - 1), st.integers(1, 30))
def test_a_number_that_is_off_in_one_run_is_not_read_as_if_it_were_not(weights, position, off):
    size = canonical(add(*(mul(w, *m) for w, m in zip(weights, [(), (B,), (B, T)], strict=True))))
    values = column(size)
    values[position] += off
    try:
        found = FIT.number(values)
    except Misfit:
        return
    assert found != size and column(found) == values


def test_a_number_without_a_form_is_a_misfit_that_names_what_it_changes_with():
    values = [point["T"] % 3 for point in POINTS]
    with pytest.raises(Misfit, match="the number 2 becomes 1 at other sizes") as misfit:
        FIT.number(values)
    assert misfit.value.blamed == {"T"}


def test_two_runs_are_too_few_to_tell_a_difference_from_a_multiple():
    few = Fit([T], [{"T": 5}, {"T": 7}])
    with pytest.raises(Misfit):
        few.number([3, 5])
    three = Fit([T], [{"T": 5}, {"T": 7}, {"T": 2}])
    assert three.number([10, 14, 4]) == canonical(mul(2, T))
    with pytest.raises(Misfit):
        three.number([3, 5, 0])


def test_what_does_not_change_is_a_number_and_what_is_huge_no_size():
    assert FIT.number([7] * len(POINTS)) == 7
    end = 2**63 - 1
    assert FIT.number([end] * len(POINTS)) == end
    with pytest.raises(Misfit):
        FIT.number([end - point["T"] for point in POINTS])


# ------------------------------------------------------------------------------------------------------------- floats


@pytest.mark.parametrize("exponent", [Fraction(-1), Fraction(-1, 2), Fraction(1, 2), Fraction(-1, 4), Fraction(1, 4)])
@pytest.mark.parametrize("factor", [1.0, 0.5, 3.0, 2 / 3])
def test_a_power_of_a_size_is_read_back(exponent, factor):
    values = [factor * point["T"] ** float(exponent) for point in POINTS]
    assert FIT.real(values) == mul(const(Fraction(factor).limit_denominator(3)), power(T, exponent))


@given(st.integers(0, len(POINTS) - 1), st.sampled_from([1e-9, -1e-12, 1e-6]))
def test_a_float_that_is_off_in_one_run_is_a_misfit(position, off):
    values = [point["T"] ** -0.5 for point in POINTS]
    values[position] *= 1 + off
    with pytest.raises(Misfit):
        FIT.real(values)


OTHERS = [lambda t: t**0.3, lambda t: 1 / (t + 1), lambda t: t**-0.5 + 1e-5]


@pytest.mark.parametrize("made", OTHERS)
def test_other_floats_are_a_misfit(made):
    with pytest.raises(Misfit):
        FIT.argument([made(point["T"]) for point in POINTS])


def test_no_number_stays_none():
    (found,) = FIT.argument([(float("nan"),) for _ in POINTS])
    assert found != found


# ---------------------------------------------------------------------------------------------------------- arguments


def test_arguments_are_read_part_by_part():
    values = [((point["B"], -1), "mean", None, True, 0.5) for point in POINTS]
    assert FIT.argument(values) == ((B, -1), "mean", None, True, 0.5)


def rest(value):
    return [value] * (len(POINTS) - 1)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("mean", "sum"),
        (True, False),
        (True, 1),
        (None, 0),
        ((1, 2), (1, 2, 3)),
        (2, None),
        (0.0, 1.0),
        (Node("x", "input"), 2),
        (2, Node("x", "input")),
        (TensorType((2,), "float32"), TensorType((3,), "float32")),
    ],
)
def test_arguments_that_change_without_being_sizes_are_a_misfit(here, there):
    with pytest.raises(Misfit):
        FIT.argument([here, *rest(there)])


# ------------------------------------------------------------------------------------------------------ linear systems


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=2), st.data())
def test_a_consistent_system_is_solved_and_an_inconsistent_one_is_not(weights, data):
    columns = data.draw(st.lists(st.lists(st.integers(-9, 9), min_size=4, max_size=4), min_size=2, max_size=2))
    first, second = columns
    assume(any(first[i] * second[j] != first[j] * second[i] for i in range(4) for j in range(4)))
    values = [sum(w * c[k] for w, c in zip(weights, columns, strict=True)) for k in range(4)]
    assert solve(columns, values) == weights
    wrong = data.draw(st.lists(st.integers(-9, 9), min_size=4, max_size=4))
    found = solve(columns, wrong)
    if found is not None:
        assert [sum(w * c[k] for w, c in zip(found, columns, strict=True)) for k in range(4)] == wrong
