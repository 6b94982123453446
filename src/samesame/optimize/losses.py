"""Losses: how far a prediction is from its target, as forms.

Each is written as torch computes it, since that decides how it rounds and where it is infinite: a loss of a logit never
takes the exponential of a large number, that of a margin may. `reduction` is a number in torch's own operators.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from samesame.formula.expr import Unsupported
from samesame.optimize import forms as f
from samesame.optimize.counted import COUNTED
from samesame.optimize.forms import Form, number
from samesame.optimize.lookups import Looked, looked_up
from samesame.optimize.operators import axes_of, mean, total
from samesame.optimize.pointwise import HALF, exact, logarithm_of_sigmoid, mul, scaled
from samesame.optimize.reading import Reader, Value, row

NONE, MEAN, SUM = 0, 1, 2
LEAST_LOG = -100                                     # of a probability, to torch's cross-entropy


def reduced(r: Reader, x: Value, reduction: int) -> Value:
    return x if reduction == NONE else mean(r, x) if reduction == MEAN else total(r, x)


def _each(r: Reader, function: Callable[..., Form], *operands: Value) -> Value:
    if any(r.kind(x) != "real" for x in operands):
        raise Unsupported("a loss of integers or booleans")
    return r.pointwise(function, *operands)


def _difference(r: Reader, of: Callable[[Form], Form], x: Value, target: Value, reduction: int) -> Value:
    return reduced(r, _each(r, lambda a, b: of(f.minus(a, b)), x, target), reduction)


@row("aten.mse_loss")
def mse_loss(r: Reader, x: Value, target: Value, reduction: int = MEAN) -> Value:
    return _difference(r, lambda d: f.power(d, 2), x, target, reduction)


@row("aten.l1_loss")
def l1_loss(r: Reader, x: Value, target: Value, reduction: int = MEAN) -> Value:
    return _difference(r, lambda d: f.fn("abs", d), x, target, reduction)


@row("aten.smooth_l1_loss")
def smooth_l1_loss(r: Reader, x: Value, target: Value, reduction: int = MEAN, beta: float = 1.0) -> Value:
    """d²/2β near zero, |d| − β/2 beyond β."""
    if not beta:
        return l1_loss(r, x, target, reduction)
    limit = exact(beta)

    def of(d: Form) -> Form:
        size = f.fn("abs", d)
        near = f.compare("<", size, number(limit))
        return f.where(near, scaled(f.power(d, 2), HALF / limit), f.minus(size, number(limit / 2)))

    return _difference(r, of, x, target, reduction)


@row("aten.huber_loss")
def huber_loss(r: Reader, x: Value, target: Value, reduction: int = MEAN, delta: float = 1.0) -> Value:
    """d²/2 near zero, δ·(|d| − δ/2) beyond δ."""
    limit = exact(delta)

    def of(d: Form) -> Form:
        size = f.fn("abs", d)
        beyond = scaled(f.minus(size, number(limit / 2)), limit)
        return f.where(f.compare("<", size, number(limit)), scaled(f.power(d, 2), HALF), beyond)

    return _difference(r, of, x, target, reduction)


@row("aten.soft_margin_loss")
def soft_margin_loss(r: Reader, x: Value, target: Value, reduction: int = MEAN) -> Value:
    """log(1 + exp(−t·x)), which is infinite where the exponential is."""
    each = _each(r, lambda a, t: f.fn("log1p", f.fn("exp", scaled(f.times(t, a), -1))), x, target)
    return reduced(r, each, reduction)


@row("aten.binary_cross_entropy_with_logits")
def cross_entropy_of_logits(
    r: Reader, x: Value, target: Value, weight: Value | None = None, positive: Value | None = None,
    reduction: int = MEAN,
) -> Value:
    """(1 − t)·x − (1 + (p − 1)·t)·log σ(x), weighed."""
    def of(a: Form, t: Form, *p: Form) -> Form:
        times = [f.plus(number(1), f.times(f.minus(q, number(1)), t)) for q in p]
        return f.minus(f.times(f.minus(number(1), t), a), f.times(*times, logarithm_of_sigmoid(a)))

    each = _each(r, of, x, target, *([] if positive is None else [positive]))
    return reduced(r, each if weight is None else mul(r, each, weight), reduction)


@row("aten.binary_cross_entropy")
def cross_entropy(
    r: Reader, x: Value, target: Value, weight: Value | None = None, reduction: int = MEAN
) -> Value:
    """(t − 1)·log(1 − x) − t·log x, no logarithm below −100, weighed. Torch raises an error where x is no probability:
    forms do not, so it has to be seen that it is one."""
    if not is_probability(x.form):
        raise Unsupported("a cross-entropy of what may be no probability")

    def least(x: Form) -> Form:
        return f.extremum("max", x, number(LEAST_LOG))

    def of(a: Form, t: Form) -> Form:
        no, yes = least(f.fn("log1p", scaled(a, -1))), least(f.fn("log", a))
        return f.minus(f.times(f.minus(t, number(1)), no), f.times(t, yes))

    each = _each(r, of, x, target)
    return reduced(r, each if weight is None else mul(r, each, weight), reduction)


@row("aten.nll_loss_forward", "aten.nll_loss2d_forward")
def of_classes(
    r: Reader, x: Value, target: Value, weight: Value | None, reduction: int, ignored: int
) -> tuple[Value, Value | None]:
    """−weight[t]·x[t] of the class t at each place, nothing where it is to be ignored; and what the mean divides by,
    the weights that count. Where nothing counts, what is looked up is any class."""
    def counts(t: Form, of: Form) -> Form:
        return f.where(f.compare("=", t, number(ignored)), f.ZERO, of)

    if target.rank != x.rank - 1 or r.size(axes_of(target, ())) > COUNTED:
        raise Unsupported("a class for something else than each place, or a count beyond 2²⁴")
    classes = 0 if x.rank == 1 else 1
    places = [("own", d) for d in range(x.rank) if d != classes]
    labels = ["at" if d == classes else ("own", d) for d in range(x.rank)]
    at: Looked = {"at": (r.pointwise(lambda t: counts(t, t), target), places)}
    own = looked_up(r, x, labels, at, places)
    weights = [] if weight is None else [looked_up(r, weight, ["at"], at, places)]
    each = r.pointwise(lambda x, t, *w: counts(t, scaled(f.times(*w, x), -1)), own, target, *weights)
    if reduction == NONE and x.rank > 1:
        return each, None
    counted = total(r, r.pointwise(lambda _, t, *w: counts(t, f.times(*w)), own, target, *weights))
    summed = total(r, each)
    if reduction == MEAN:
        return r.pointwise(lambda a, b: f.times(a, f.power(b, -1)), summed, counted), counted
    return summed, counted


def is_probability(x: Form) -> bool:
    """Whether it is seen to lie between 0 and 1."""
    low, high = limits(x)
    return low >= 0 and high <= 1


def limits(x: Form) -> tuple[float, float]:
    """Between which numbers it lies, as far as clamps and sigmoids say."""
    if f.finite(x) and not x.attributes[1]:
        return float(x.attributes[0]), float(x.attributes[0])
    if x.operator == "cast":
        return limits(x.arguments[0])
    if x.operator == "extremum":
        lows, highs = zip(*map(limits, x.arguments), strict=True)
        return (max(lows), max(highs)) if x.attributes == ("max",) else (min(lows), min(highs))
    return (0.0, 1.0) if (x.operator, x.attributes) == ("fn", ("sigmoid",)) else (-inf, inf)
