"""Roots, logarithms and quotients do not vanish from a formula where they may have no value, and a proof that needs
them to have one says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import Expr, Leaf, Load, Opaque, Size, compare, exp, index, log, mul, power, where
from samesame.formula.tensor import Tensor, leaf
from samesame.kernels.formulas.rational import canonical
from samesame.kernels.formulas.shorter import taken_together
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices.solver import IndexProver
from samesame.kernels.verdict import Formula, KernelVerdict, Obligation
from samesame.lift import lift
from samesame.lift.configurations import told_apart
from samesame.operators.positions import is_settled
from samesame.optimize.emit.triton import Module
from samesame.optimize.ir import Buffer
from samesame.optimize.lifted import compared
from samesame.optimize.pruning import is_at_most

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


def test_configurations_that_are_equal_for_some_inputs_are_each_compared() -> None:
    found = lift(KERNELS.target("in_two_ways"), f"{KERNELS.file}:in_two_ways")
    assert (found.verdict, found.against, found.against_conditions) == ("verified", "same", ["x[i] ≥ 0"])


def test_configurations_of_which_all_need_a_root_are_one() -> None:
    (a, *others) = lift(KERNELS.target("in_two_ways")).kernels[1:]
    assert not others and len(told_apart([a, replace(a, configuration="another")])) == 1


def test_runs_of_a_tuner_that_change_nothing_for_some_inputs_are_not_proved_to_do_no_harm() -> None:
    (tuning,) = {(o.state, o.detail) for k in lift(KERNELS.target("root_in_place")).kernels for o in k.obligations
                 if o.name == "tuning"}
    assert tuning[0] == "undecided" and "only where x[i] ≥ 0" in tuning[1]


def test_a_greatest_element_that_needs_a_root_is_no_shift_that_cancels() -> None:
    (text,) = KERNELS.texts("root_of_largest")
    assert "max" in text and "√0" not in text


def test_what_holds_for_some_inputs_does_not_settle_what_is_said_of_all() -> None:
    twice = root(X) * root(X)
    assert is_at_most(X, X) and not is_at_most(X, twice)
    assert is_settled(Tensor((), lambda: compare("<", X, X + 1), "bool"))
    assert not is_settled(Tensor((), lambda: compare("<", X, twice + 1), "bool"))


def test_conditions_on_what_printed_kernels_hold_are_told() -> None:
    """A kernel that should store x, and stores √x·√x."""
    n = Size("n", 1)
    x, out = Buffer("x", (n,)), Buffer("out", (n,))
    i = index(n)
    verdict = KernelVerdict("k", formulas=[Formula("out", "", "", expr=((i,), root(x[i]) * root(x[i])))])
    verdict.obligations.append(Obligation("value", "proved"))
    module = Module("", (), {"x": x, "out": out})
    wanted = {"out": leaf("x", (n,))}
    assert compared(verdict, module, {"n": n}, wanted) == ("x[i] ≥ 0",)
