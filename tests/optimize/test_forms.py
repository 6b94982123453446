"""Forms: what is the same is the same object, what a form means, how it reads."""

from __future__ import annotations

from fractions import Fraction

import pytest

from samesame.formula.equal import Proved, prove_equal
from samesame.formula.expr import Size, Sum, index
from samesame.formula.tensor import leaf
from samesame.optimize.forms import (
    ONE,
    Part,
    Place,
    along,
    cast,
    compare,
    concat,
    digits,
    extent,
    fn,
    fold,
    formula,
    load,
    minus,
    number,
    plus,
    position,
    power,
    substitute,
    text,
    times,
    where,
)

M, N, K, R = (Size(name, 1) for name in "MNKR")
EXTENTS = {"m": M, "n": N, "k": K, "r": R}
X, W, A, B = load("x", "m", "k"), load("W", "n", "k"), load("A", "r", "k"), load("B", "n", "r")


def linear(x=X, w=W):
    return fold("sum", ["k"], times(x, w))


def test_equal_forms_are_one_object():
    assert times(X, W) is times(W, X)
    assert times(number(2), times(X, number(3))) is times(number(6), X)
    assert times(extent("k"), power(extent("k"), -1)) is ONE
    assert fold("sum", ["m"], W) is times(extent("m"), W)
    assert fold("max", ["m"], W) is W
    assert linear().axes == ("m", "n")


@pytest.mark.parametrize("first", ["row", "column", "same"])
def test_the_order_of_a_form_hangs_on_its_structure_and_not_on_what_was_made_first(first):
    names = {"row": f"x of {first}", "column": f"w of {first}", "same": f"z of {first}"}
    made = {}
    for kind in sorted(names, key=lambda kind: kind != first):
        made[kind] = load(names[kind], *{"row": "mk", "column": "nk", "same": "mk"}[kind])
    assert times(made["column"], made["row"]).arguments == (made["row"], made["column"])
    assert plus(made["same"], made["row"]).arguments == (made["row"], made["same"])
    assert plus(times(made["row"], made["same"]), made["same"]).arguments[0] is made["same"]


def test_a_form_means_its_formula():
    x, w = leaf("x", (M, K)), leaf("W", (N, K))
    i, j = index(M), index(N)
    leaves = {"x": x[0, 0].leaf, "W": w[0, 0].leaf}
    meant = formula(linear(), {"m": i, "n": j}, EXTENTS, leaves)
    assert isinstance(prove_equal(meant, Sum(K, lambda k: x[i, k] * w[j, k])), Proved)
    assert not isinstance(prove_equal(meant, Sum(K, lambda k: x[i, k] * w[i, k])), Proved)


def test_a_view_goes_down_to_the_loads_and_captures_nothing():
    gram = fold("sum", ["k"], times(X, load("x", "n", "k")))
    split = substitute(gram, {"m": digits(("h", "k"))})
    assert split.axes == ("h", "k", "n")
    assert text(split) == "Σ_k′ x[h·|k| + k, k′]·x[n, k′]"
    assert substitute(X, {"m": Place((Part("m"),), 3)}) is load("x", Place((Part("m"),), 3), "k")
    assert substitute(X, {"k": along("k")}) is X


def test_bound_axes_that_make_room_for_others_stay_apart():
    """Both axes of the sum are asked for, and the first free name is the same for both."""
    both = fold("sum", ["k", "k′"], load("x", "k", "k′", "m", "n"))
    assert text(substitute(both, {"m": along("k"), "n": along("k′")})) == "Σ_k′′,k′′′ x[k′′, k′′′, k, k′]"


def test_a_sum_that_is_renamed_and_renamed_back_is_what_it_was():
    """Else each step of a recurrence would have names of its own."""
    there = substitute(fold("sum", ["m′"], load("x", "m", "m′")), {"m": along("m′")})
    assert text(there) == "Σ_m x[m′, m]"
    assert text(substitute(there, {"m′": along("m")})) == "Σ_m′ x[m, m′]"


def test_a_concatenation_is_one_part_after_the_other():
    both = concat("n", ("k", "r"), (load("u", "k"), load("v", "r")))
    u, v = leaf("u", (K,)), leaf("v", (R,))
    extents = {**EXTENTS, "n": K + R}
    leaves = {"u": u[0].leaf, "v": v[0].leaf}
    total = formula(fold("sum", ["n"], both), {}, extents, leaves)
    assert isinstance(prove_equal(total, Sum(K, lambda i: u[i]) + Sum(R, lambda i: v[i])), Proved)


def test_forms_read_as_mathematics():
    low_rank = fold("sum", ["k"], times(X, plus(W, fold("sum", ["r"], times(A, B)))))
    assert text(low_rank) == "Σ_k x[m, k]·(W[n, k] + Σ_r A[r, k]·B[n, r])"
    assert text(low_rank, brief=True) == "x·(W + A·B)"
    mean = times(power(extent("k"), -1), fold("sum", ["k"], power(X, 2)))
    assert text(mean) == "1/|k|·(Σ_k x[m, k]^2)"
    norm = power(plus(mean, number(Fraction(1, 8))), Fraction(-1, 2))
    assert text(times(X, norm), brief=True) == "x·1/√(1/|k|·(Σ_k x^2) + 1/8)"
    rounded = cast("bfloat16", fn("exp", minus(X, fold("max", ["k"], X))))
    assert text(rounded, brief=True) == "bfloat16(exp(x - max_k x))"


@pytest.mark.parametrize("wrong", [minus(X, X), power(X, -1)])
def test_what_may_be_undefined_stays(wrong):
    assert times(number(0), wrong) is not number(0)


def test_a_choice_between_numbers_beside_numbers_is_one_between_others():
    diagonal = where(compare("=", position("i"), position("j")), number(1), number(0))
    signs = plus(times(number(2), diagonal), number(-1))
    assert text(signs) == text(where(compare("=", position("i"), position("j")), number(1), number(-1)))
    x = load("x", "i")
    assert times(x, diagonal).operator == "times" and plus(x, diagonal).operator == "plus"
    assert plus(diagonal, extent("n")).operator == "plus"                # a size is no number yet
