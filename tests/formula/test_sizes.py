"""Sizes in canonical form: the same polynomial is the same object, and it has the same value as what it was made of."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samesame.formula.expr import Expr, Size, Unsupported, add, const, floordiv, maximum, minimum, mod, mul, power
from samesame.formula.sizes import (
    at_least,
    canonical,
    count,
    decoded,
    encoded,
    plain,
    replaced,
    size_text,
    symbols,
    value_at,
)

B, T = Size("B", 2), Size("T", 2)


def sizes():
    """Size expressions with the function that computes them from values of B and T."""
    leaves = st.one_of(
        st.integers(0, 6).map(lambda n: (n, lambda b, t: n)),
        st.just((B, lambda b, t: b)),
        st.just((T, lambda b, t: t)),
    )

    def grown(inner):
        pair = st.tuples(inner, inner)
        return st.one_of(
            pair.map(lambda p: (add(p[0][0], p[1][0]), lambda b, t: p[0][1](b, t) + p[1][1](b, t))),
            pair.map(lambda p: (mul(p[0][0], p[1][0]), lambda b, t: p[0][1](b, t) * p[1][1](b, t))),
            pair.map(lambda p: (maximum(p[0][0], p[1][0]), lambda b, t: max(p[0][1](b, t), p[1][1](b, t)))),
            pair.map(lambda p: (minimum(p[0][0], p[1][0]), lambda b, t: min(p[0][1](b, t), p[1][1](b, t)))),
            st.tuples(inner, st.integers(1, 4)).map(
                lambda p: (floordiv(p[0][0], p[1]), lambda b, t: p[0][1](b, t) // p[1])
            ),
            st.tuples(inner, st.integers(1, 4)).map(lambda p: (mod(p[0][0], p[1]), lambda b, t: p[0][1](b, t) % p[1])),
            inner.map(lambda p: (floordiv(p[0], T), lambda b, t: p[1](b, t) // t)),
            inner.map(lambda p: (mod(p[0], B), lambda b, t: p[1](b, t) % b)),
        )

    return st.recursive(leaves, grown, max_leaves=8)


@given(sizes(), st.integers(2, 9), st.integers(2, 9))
def test_the_canonical_form_has_the_same_value(size, b, t):
    expr, compute = size
    found = canonical(expr)
    assert value_at(found, {"B": b, "T": t}) == compute(b, t)
    assert canonical(found) is found or canonical(found) == found
    least = at_least(found)
    assert least is None or least <= compute(b, t)


@given(st.integers(1, 20), st.integers(2, 5))
def test_how_many_windows_fit_is_one_size_however_it_is_counted(length, step):
    windows = canonical(add(floordiv(add(T, -length), step), 1))
    assert windows == canonical(floordiv(add(T, step - length), step)) or length < step


@given(sizes(), sizes())
def test_sums_and_products_do_not_depend_on_order(one, other):
    a, b = one[0], other[0]
    assert canonical(add(a, b)) is canonical(add(b, a)) or canonical(add(a, b)) == canonical(add(b, a))
    assert canonical(mul(a, add(b, 1))) == canonical(add(mul(b, a), a))


@given(sizes(), sizes(), st.integers(2, 9), st.integers(2, 9))
def test_replacing_a_symbol_is_evaluating_it_there(size, other, b, t):
    found = replaced(canonical(size[0]), {"T": add(canonical(other[0]), 2)})
    assert value_at(found, {"B": b, "T": t}) == size[1](b, other[1](b, t) + 2)


def test_exact_divisions_vanish():
    assert canonical(floordiv(mul(T, 4), 4)) is T
    assert canonical(floordiv(mul(B, T), B)) is T
    assert canonical(floordiv(add(mul(2, T), 1), 2)) is T
    assert canonical(mod(mul(B, T), T)) == 0
    assert canonical(power(T, 2)) is canonical(mul(T, T))


def test_extrema_that_the_minima_decide_vanish():
    assert canonical(maximum(T, 1)) is T
    assert canonical(minimum(add(T, 3), T)) is T
    assert isinstance(canonical(minimum(T, 3)), Expr)
    assert at_least(canonical(minimum(T, 3))) == 2


def test_what_is_no_size_is_refused():
    with pytest.raises(Unsupported, match="no size"):
        canonical(power(T, -1))


def test_symbols_text_and_counts():
    assert symbols(canonical(mul(B, T))) == {B, T}
    assert symbols(3) == frozenset()
    assert size_text(canonical(add(mul(2, T), const(1)))) == "2·T + 1"
    assert count((B, 2, T)) is canonical(mul(2, T, B))
    assert count((2, 3)) == 6
    with pytest.raises(KeyError, match="no value"):
        value_at(T, {"B": 2})


@given(sizes())
def test_what_is_written_as_json_is_read_back(size):
    found = canonical(size[0])
    assert decoded(json.loads(json.dumps(encoded(found)))) == found


def test_a_share_of_a_size_keeps_its_fraction():
    share = mul(Fraction(2, 3), power(T, Fraction(-1, 2)))
    assert decoded(json.loads(json.dumps(encoded(share)))) is share


def test_a_number_below_a_size_is_none_of_it():
    n = Size("n", 2)
    assert canonical(floordiv(-1, n)) == -1 and canonical(floordiv(1, n)) == 0
    assert canonical(floordiv(-3, n)) != -1 and canonical(floordiv(2, n)) != 0
    assert canonical(floordiv(add(mul(n, Size("b", 2)), n, -1), n)) is Size("b", 2)


@pytest.mark.parametrize("exponent, value", [(-1, 4.25), (Fraction(1, 2), 6.0), (-2, 4.0625)])
def test_a_root_beside_a_size_is_put_in_as_it_stands(exponent, value):
    number = add(T, power(T, exponent))
    assert plain(replaced(number, {"T": 4})) == value
    assert replaced(number, {"T": B}) is add(B, power(B, exponent))
