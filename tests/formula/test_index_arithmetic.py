"""Index polynomials and guards agree with plain integers, point by point."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.formula.effort import Budget, spending
from samesame.formula.expr import Leaf, Size
from samesame.formula.guards import (
    at_least_zero_literal,
    both,
    bounds,
    case,
    conjunction,
    either,
    implied,
    infeasible,
    negation,
    of_op,
    opposite,
)
from samesame.formula.laws import LAWS
from samesame.formula.normal import element, index_poly
from samesame.formula.poly import Ratio, SizeAtom, Var, at_least_zero, divide, exact_quotient, number, variable
from samesame.formula.smt import unsatisfiable

EXTENTS = (4, 3, 6)  # of the variables a, b, c


@pytest.fixture(autouse=True)
def _proof():
    with spending(Budget(), LAWS):
        yield


def variables():
    return [Var("free", (k,), number(0), number(n - 1)) for k, n in enumerate(EXTENTS)]


def points():
    return product(*(range(n) for n in EXTENTS))


@st.composite
def programs(draw, depth=2):
    """Integer expressions as (build a polynomial, compute a number) pairs."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        if draw(st.booleans()):
            c = draw(st.integers(-5, 5))
            return (lambda vs: number(c)), (lambda point: c)
        k = draw(st.integers(0, len(EXTENTS) - 1))
        return (lambda vs: variable(vs[k])), (lambda point: point[k])
    op = draw(st.sampled_from("+-*/%"))
    (p, f), (q, g) = draw(programs(depth=depth - 1)), draw(programs(depth=depth - 1))
    if op in "/%":
        d = draw(st.integers(1, 7))
        part = 0 if op == "/" else 1
        return (lambda vs: divide(p(vs), number(d))[part]), (lambda point: divmod(f(point), d)[part])
    if op == "+":
        return (lambda vs: p(vs) + q(vs)), (lambda point: f(point) + g(point))
    if op == "-":
        return (lambda vs: p(vs) - q(vs)), (lambda point: f(point) - g(point))
    return (lambda vs: p(vs) * q(vs)), (lambda point: f(point) * g(point))


def value(p, vs, point):
    """A polynomial's value, by substitution."""
    at = p.at(tuple((v, number(k)) for v, k in zip(vs, point, strict=True)))
    assert at.constant is not None
    return at.constant


@settings(max_examples=150, deadline=None)
@given(programs(depth=3))
def test_polynomials_compute_what_integers_do(program):
    with_polys, with_numbers = program
    vs = variables()
    p = with_polys(vs)
    assert all(value(p, vs, point) == with_numbers(point) for point in points())


@settings(max_examples=150, deadline=None)
@given(programs(depth=2), st.integers(1, 8))
def test_division_by_a_number(program, d):
    vs = variables()
    p = program[0](vs)
    quotient, remainder = divide(p, number(d))
    for point in points():
        assert (value(quotient, vs, point), value(remainder, vs, point)) == divmod(program[1](point), d)


@settings(max_examples=200, deadline=None)
@given(programs(depth=2))
def test_what_is_at_least_zero_is_so_everywhere(program):
    vs = variables()
    if at_least_zero(program[0](vs)):
        assert all(program[1](point) >= 0 for point in points())


@st.composite
def guard_sets(draw):
    count = draw(st.integers(1, 3))
    return [(draw(st.sampled_from(["≥0", "=0", "≠0"])), draw(programs(depth=1))) for _ in range(count)]


def holds(op, number_):
    return {"≥0": number_ >= 0, "=0": number_ == 0, "≠0": number_ != 0}[op]


def literals(specs, vs):
    return conjunction(of_op(op, program[0](vs)) for op, program in specs)


def satisfied(specs, point):
    return all(holds(op, program[1](point)) for op, program in specs)


@settings(max_examples=120, deadline=None)
@given(guard_sets(), guard_sets())
def test_implications_and_contradictions_are_true(premises, conclusions):
    vs = variables()
    guards, claims = literals(premises, vs), literals(conclusions[:1], vs)
    if guards is None or infeasible(guards):
        assert not any(satisfied(premises, point) for point in points())
        return
    if claims is not None and all(implied(guards, literal) for literal in claims):
        assert all(satisfied(conclusions[:1], point) for point in points() if satisfied(premises, point))


@settings(max_examples=80, deadline=None)
@given(guard_sets(), guard_sets())
def test_cases_are_disjoint_and_complete(one, other):
    vs = variables()

    def cases_of(specs):
        found = [case(of_op(op, program[0](vs))) for op, program in specs]
        result = found[0]
        for more in found[1:]:
            result = both(result, more)
        return result

    def count(cases, point):
        values = tuple((v, number(k)) for v, k in zip(vs, point, strict=True))
        return sum(all(of_op(g.op, g.poly.at(values)) is True for g in guards) for guards in cases)

    a, b = cases_of(one), cases_of(other)
    for point in points():
        in_a, in_b = satisfied(one, point), satisfied(other, point)
        assert count(opposite(a), point) == (not in_a)
        assert count(either(a, b), point) == (in_a or in_b)
        assert count(both(a, b), point) == (in_a and in_b)


def test_mixed_radix_leaves_no_division():
    heads, width = (variable(SizeAtom(name, 1)) for name in "HD")
    h, d = (variable(Var("free", (k,), number(0), n - 1)) for k, n in enumerate((heads, width)))
    assert divide(h * width + d, width) == (h, d)
    assert divide(h * width + d - width, width) == (h - 1, d)
    assert divide(divide(h, number(3))[0], number(5))[0] is divide(h, number(15))[0]
    assert exact_quotient(heads * width, width) is heads
    assert exact_quotient(heads * width + 1, width) is None
    assert at_least_zero(heads * width - h * width - d - 1)
    assert not at_least_zero(heads * width - h * width - d - 2)


def test_digits_of_any_size_are_put_together():
    x, tile, more = variables()[0], variable(SizeAtom("T", 1)), variable(SizeAtom("S", 1))
    for size in (tile, tile * more, tile + more):
        quotient, rest = divide(variable(x), size)
        assert any(isinstance(a, Ratio) for a in rest.atoms())
        assert quotient * size + rest == variable(x)
        assert more * (quotient * size + rest) + 3 == more * variable(x) + 3
        assert quotient * more + rest != variable(x)


def test_a_range_does_not_outlive_the_guard_it_came_from():
    """A guard may not be dropped because of a range that stems from that guard, through a quotient either."""
    v = Var("open", (0,), number(0), None)
    half = variable(Ratio("//", variable(v), number(2)))
    literal = at_least_zero_literal(half)
    assert implied((), literal)
    assert not implied((), literal, frozenset([v]))


def test_a_half_open_range_bounds_one_side_only():
    below, above = Var("free", (0,), None, number(3)), Var("free", (1,), number(0), None)
    assert at_least_zero(3 - variable(below))
    assert not at_least_zero(variable(below) + 5)
    assert at_least_zero(variable(above))
    assert not at_least_zero(5 - variable(above))


def test_negations_exclude_and_complete():
    a = variable(variables()[0])
    for op in ("≥0", "=0", "≠0"):
        literal = of_op(op, a - 2)
        assert conjunction([literal, negation(literal)]) is None
        assert opposite(either(case(literal), case(negation(literal)))) == ()


def test_bounds_are_read_off():
    a, b, _ = variables()
    guards = conjunction([at_least_zero_literal(variable(a) - variable(b)), at_least_zero_literal(3 - variable(a))])
    lows, highs, others = bounds(a, guards)
    assert ([p for p, _ in lows], [p for p, _ in highs], others) == ([variable(b)], [number(3)], [])


def test_the_solver_decides_what_ranges_do_not():
    a = Var("free", (0,), number(0), None)
    square = variable(a) * variable(a)
    assert not at_least_zero(square - variable(a))
    assert unsatisfiable((at_least_zero_literal(variable(a) - square - 1),))


def test_a_size_is_at_least_its_minimum():
    assert at_least_zero(index_poly(Size("N", 3) * Size("N", 3)) - 9)
    assert not at_least_zero(index_poly(Size("N", 3) * Size("N", 3)) - 10)


@settings(deadline=None)
@given(st.tuples(*(st.integers(-8, 24) for _ in EXTENTS)), st.integers(-6, 12), st.sampled_from((4, 6, 10, 12, 24, 30)))
def test_a_division_by_a_multiple_of_strides_agrees_with_numbers(strides, start, divisor):
    vs = variables()
    p = sum((variable(v) * stride for v, stride in zip(vs, strides, strict=True)), number(start))
    parts = divide(p, number(divisor))
    for point in points():
        at_point = dict(zip(vs, point, strict=True))
        whole = sum(v * stride for v, stride in zip(point, strides, strict=True)) + start
        assert tuple(part.value(lambda a, at=at_point: _number(a, at)) for part in parts) == divmod(whole, divisor)


def _number(atom, at_point):
    if not isinstance(atom, Ratio):
        return at_point[atom]
    above, below = (p.value(lambda a: _number(a, at_point)) for p in (atom.numerator, atom.divisor))
    return above // below if atom.op == "//" else above % below


@pytest.mark.parametrize("base", [number(5), variable(SizeAtom("N", 1))])
def test_the_last_digit_of_a_flat_place_stays_outside_of_a_division(base):
    i, j = Var("free", (0,), number(0), number(39)), Var("free", (1,), number(0), base - 1)
    row = variable(i)
    for fewer in (2, 6):
        down, left = divide(row * base + variable(j), base * fewer)
        assert (down, left) == (divide(row, number(fewer))[0], divide(row, number(fewer))[1] * base + variable(j))
    wider = Var("free", (1,), number(0), base)                 # one more than a digit may be
    assert divide(row * base + variable(wider), base * 2)[0] is not divide(row, number(2))[0]


def test_what_is_said_at_the_end_of_an_integers_bounds_is_said_in_one_way():
    from_0, from_1 = (variable(element(Leaf("t", (), "int", (low, 5)), ())) for low in (0, 1))
    for label in (from_0, from_1):
        assert of_op("≠0", label - 5) is at_least_zero_literal(-label + 4)
        assert of_op("=0", label - 5) is at_least_zero_literal(label - 5)
        for c in range(7):
            for literal in (of_op("=0", label - c), at_least_zero_literal(label - c)):
                assert negation(negation(literal)) is literal
    assert of_op("≠0", from_0) is at_least_zero_literal(from_0 - 1)
    assert of_op("≠0", from_1 - 1) is at_least_zero_literal(from_1 - 2)
    assert of_op("≠0", from_0 - 4).op == "≠0"                  # 5 is left, and what is less
