"""Roots, logarithms and quotients do not vanish from a formula where they may have no value."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import Expr, Leaf, Load, Opaque, compare, exp, index, log, mul, power, where
from samesame.kernels.formulas.rational import canonical
from samesame.kernels.formulas.shorter import taken_together
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices.solver import IndexProver
from samesame.lift import lift

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "partial.py")
I = index(8)  # noqa: E741    an index, as formulas write it
X, Y = (Load(Leaf(name, (8,)), (I,)) for name in "xy")
UNKNOWN = Opaque("what", (), (), (I,), "real")


def root(e: Expr) -> Expr:
    return power(e, 0.5)


def together(e: Expr) -> Expr | None:
    return taken_together(Simplifier(IndexProver()), e, ())


@pytest.mark.parametrize(
    "e",
    [
        root(X) * root(X) / Y,
        power(X, -0.5) * power(X, -0.5) / Y,
        root(X * Y) * root(X * Y),
        log(X) + 1 / Y - log(X),
        1 / X + 1 / Y - 1 / X,
        X / X,
        exp(log(X) + Y) * exp(mul(-1, log(X))),
        mul(0, log(X)) + 1 / Y,
        UNKNOWN + 1 / Y - UNKNOWN,
        log(X) / Y - log(X) / Y + where(compare("<", 0, X), log(X), 0),
    ],
)
def test_what_may_have_no_value_does_not_cancel(e: Expr) -> None:
    assert together(e) is None


@pytest.mark.parametrize(
    "e, shorter",
    [
        (root(exp(X)) * root(exp(X)) / Y, exp(X) / Y),
        (root(X * X + 1) * root(X * X + 1) / Y, (power(X, 2) + 1) / Y),
        (log(exp(X)) + 1 / Y - log(exp(X)), 1 / Y),
        (root(X) * root(X) * root(X) / Y, power(X, 1.5) / Y),  # which has a value where the root has one
        (X / Y / X / X, 1 / Y / X),
        (exp(X + Y) * exp(mul(-1, X)), exp(Y)),
        (log(X) + 1 / Y - log(X) + 2 * log(X), 2 * log(X) + 1 / Y),
    ],
)
def test_what_has_a_value_wherever_the_rest_has_one_cancels(e: Expr, shorter: Expr) -> None:
    found = together(e)
    assert found is not None and canonical(found) is canonical(shorter)


@pytest.mark.parametrize("name, kept", [("roots", "√"), ("logarithms", "log")])
def test_the_formula_of_a_kernel_has_a_value_only_where_the_kernel_has_one(name: str, kept: str) -> None:
    (text,) = KERNELS.texts(name)
    assert KERNELS.kernel(name).verdict == "verified" and kept in text


def test_roots_that_cancel_are_the_rest_where_there_are_some() -> None:
    found = lift(KERNELS.target("roots"), f"{KERNELS.file}:roots")
    assert (found.verdict, found.against, found.against_conditions) == ("verified", "same", ["x[i] ≥ 0"])


def test_a_kernel_is_the_rest_everywhere_where_it_has_a_value_everywhere() -> None:
    found = lift(KERNELS.target("of_positive"), f"{KERNELS.file}:of_positive")
    assert (found.verdict, found.against) == ("verified", "same") and "√" not in found.kernels[0].formulas[0].text
    assert found.against_conditions == []
