"""The textbook form of a formula: a maximum that is only subtracted for the sake of floating point is left out.

Kernels compute exp(x − max x) / Σ exp(x − max x), books write exp(x) / Σ exp(x). The shorter form is shown where it is
proved equal, for all sizes and all inputs; nothing else of the verdict depends on it, so that proof takes a part of
what is left of the kernel's time only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from samesame.formula.binders import replaced
from samesame.formula.definite import EVIDENT
from samesame.formula.effort import WORK, Budget
from samesame.formula.equal import Proved, integers_in_range, prove_equal
from samesame.formula.expr import ONE, ZERO, Add, Expr, Extremum, Fn, Fold, Mul, add, mul, rebuild, walk
from samesame.formula.show import unicode
from samesame.kernels import clock
from samesame.kernels.indices import integers

BUDGET = Budget(seconds=3.0, solver=500 * WORK)
SHARE = 0.25  # of the time that is left, at most


def textbook(expr: Expr) -> Expr:
    """The expression without maxima that cancel; itself where there are none, or where that is not proved."""
    folds = [e for e in walk(expr) if is_maximum(e)]
    wider = [e for e in walk(expr) if isinstance(e, Extremum) and e.op == "max" and any(map(is_maximum, e.arguments))]
    shifts = [*sorted(wider, key=lambda e: -len(e.arguments)), *folds]
    if not shifts or not any(isinstance(e, Fn) and e.name == "exp" for e in walk(expr)):
        return expr
    for alike in groups(shifts):
        shorter = integers.tidied(without_nothing(replaced(expr, dict.fromkeys(alike, ZERO))))
        if shorter is expr:
            continue
        budget = replace(BUDGET, seconds=min(BUDGET.seconds, SHARE * clock.left()))
        found = prove_equal(expr, shorter, budget=budget)
        if isinstance(found, Proved) and found.unconditional(integers_in_range(expr)):
            expr = shorter
    return expr


def without_nothing(expr: Expr) -> Expr:
    """The expression without 0·c, where c is a number whatever the leaves hold, and with 1 for exp(0)."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            new = rebuild(e, go)
            nothing = isinstance(new, Mul) and new.factors[0] is ZERO and EVIDENT.is_number(new)
            memo[e] = ZERO if nothing else joined(new)
        return memo[e]

    return go(expr)


def joined(expr: Expr) -> Expr:
    """An operation on parts that are numbers by now."""
    match expr:
        case Add(terms):
            return add(*terms)
        case Mul(factors):
            return mul(*factors)
        case Fn("exp", argument) if argument is ZERO:
            return ONE
    return expr


def is_maximum(expr: Expr) -> bool:
    return isinstance(expr, Fold) and expr.monoid == "max"


def groups(maxima: list[Expr]) -> Iterator[list[Expr]]:
    """Those that read the same, whatever their variables are called."""
    found: dict[str, list[Expr]] = {}
    for e in maxima:
        found.setdefault(unicode(e), []).append(e)
    yield from found.values()
