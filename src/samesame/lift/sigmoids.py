"""Sigmoids in one spelling: 1/(1 + e^−y) as 1 − 1/(1 + e^y).

A kernel has 2σ(2x) − 1 where its reference has tanh x, 1 − 2/(e^2x + 1). As numbers the two cancel; under a maximum
over what a mask leaves, nothing brings them together that is not spelt alike. Whose argument is written with a minus is
turned.
"""

from __future__ import annotations

from samesame.formula.binders import put
from samesame.formula.effort import Budget
from samesame.formula.equal import NotProved, Proved, prove_tensors_equal
from samesame.formula.expr import ONE, Add, Expr, Fn, Mul, Num, Pow, add, exp, mul, power, walk
from samesame.formula.tensor import Tensor, tensor


def equal_with_sigmoids_turned(left: Tensor, right: Tensor, *, budget: Budget) -> Proved | NotProved:
    if all(turned(e) is None for whole in (left, right) for e in walk(whole.element()[1])):
        return NotProved("there is no sigmoid to be turned")
    sides = (tensor(whole.shape, lambda *i, whole=whole: put(whole[i], turned), whole.kind) for whole in (left, right))
    return prove_tensors_equal(*sides, budget=budget)


def turned(e: Expr) -> Expr | None:
    match e:
        case Pow(Add((Fn("exp", y), one) | (one, Fn("exp", y))), -1) if one is ONE and has_minus(y):
            return add(1, mul(-1, power(add(exp(put(mul(-1, y), turned)), 1), -1)))
    return None


def has_minus(y: Expr) -> bool:
    return isinstance(y, Mul) and sum(isinstance(factor, Num) and factor.value < 0 for factor in y.factors) % 2 == 1
