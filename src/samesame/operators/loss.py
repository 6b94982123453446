"""Losses: how far a prediction is from its target.

`reduction` is a number in torch's own operators: 0 none, 1 mean, 2 sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samesame.formula.expr import Expr, Unsupported, absolute, const, eq, exp, log, lt, maximum, mul, not_, power, where
from samesame.formula.tensor import Tensor, tensor
from samesame.operators.movement import replaced
from samesame.operators.normalisation import log_softmax
from samesame.operators.numbers import constant, exact
from samesame.operators.pointwise import over, times
from samesame.operators.reduction import mean_all, sum_all
from samesame.operators.shapes import agreeing, folded, pointwise, untold
from samesame.operators.table import meaning

NONE, MEAN, SUM = 0, 1, 2


def reduced_loss(x: Tensor, reduction: int) -> Tensor:
    return x if reduction == NONE else mean_all(x) if reduction == MEAN else sum_all(x)


@meaning("aten.nll_loss_forward.default", "aten.nll_loss2d_forward.default")
def nll_loss_forward(
    x: Tensor,                                             # log-probabilities [n, classes, *places], or [classes]
    target: Tensor,                                        # the class at each place [n, *places], or []
    weight: Tensor | None,                                 # [classes]
    reduction: int,
    ignore_index: int,
) -> tuple[Tensor, Tensor]:
    """−weight[target] · x[target], nothing where the target is `ignore_index`; and the total of the weights that count.

    The mean divides by that total.
    """
    classes = 0 if x.rank == 1 else 1
    agreeing(target.shape, replaced(x.shape, classes), "a class for each place")
    if weight is not None:
        agreeing(weight.shape, (x.shape[classes],), "a weight for each class")

    def counted(*i: Expr) -> Expr:
        c = target[i]
        return where(eq(c, ignore_index), 0, 1 if weight is None else weight[c])

    def loss(*i: Expr) -> Expr:
        c = target[i]
        value = -x[(*i[:classes], c, *i[classes:])]
        weighed = value if weight is None else mul(weight[c], value)
        return where(eq(c, ignore_index), 0, weighed)

    each, counts = tensor(target.shape, loss), tensor(target.shape, counted)
    if reduction == NONE and x.rank > 1:
        return each, untold((), "the total weight of losses that are kept apart: torch does not compute it")
    total = sum_all(counts)
    return (over(sum_all(each), total) if reduction == MEAN else reduced_loss(each, reduction)), total


def _nll(x: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN, ignore_index: int = -100
         ) -> Tensor:
    return nll_loss_forward(x, target, weight, reduction, ignore_index)[0]


meaning("aten.nll_loss.default", "aten.nll_loss2d.default", "aten.nll_loss_nd.default")(_nll)


@meaning("aten.cross_entropy_loss.default")
def cross_entropy(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    """The loss of log-softmax over dimension 1 (0 for a single sample)."""
    classes = 0 if x.rank == 1 else 1
    logs = log_softmax(x, classes)
    if target.kind == "real":
        return _probabilities(logs, target, weight, reduction, label_smoothing, classes)
    hard = nll_loss_forward(logs, target, weight, reduction, ignore_index)
    if not label_smoothing:
        return hard[0]
    # The smooth part: the mean over classes of what the loss would be for each, where the target counts.
    smooth = tensor(target.shape, lambda *i: where(eq(target[i], ignore_index), 0, -folded(
        "sum", [x.shape[classes]],
        lambda c: logs[(*i[:classes], c, *i[classes:])] * (1 if weight is None else weight[c]))))
    part = over(sum_all(smooth), hard[1]) if reduction == MEAN else reduced_loss(smooth, reduction)
    share, rest = constant(label_smoothing) / const(x.shape[classes]), 1 - constant(label_smoothing)
    return pointwise(lambda a, b: rest * a + share * b, hard[0], part)


def _probabilities(
    logs: Tensor, target: Tensor, weight: Tensor | None, reduction: int, smoothing: float, classes: int
) -> Tensor:
    """The target is a probability for each class; the mean is over places."""
    n, amount = const(logs.shape[classes]), constant(smoothing)
    agreeing(target.shape, logs.shape, "a probability for each class")
    if weight is not None:
        agreeing(weight.shape, (logs.shape[classes],), "a weight for each class")
    soft = pointwise(lambda p: p * (1 - amount) + amount / n, target) if smoothing else target

    def loss(*i: Expr) -> Expr:
        def body(c: Expr) -> Expr:
            place = (*i[:classes], c, *i[classes:])
            return logs[place] * soft[place] * (1 if weight is None else weight[c])

        return -folded("sum", [n], body)

    return reduced_loss(tensor(replaced(logs.shape, classes), loss), reduction)


# ---------------------------------------------------------------------------------------------------------- differences

DIFFERENCES: dict[str, Callable[[Expr], Any]] = {          # of prediction − target
    "aten.mse_loss": lambda d: d**2,
    "aten.l1_loss": absolute,
}


def _difference(of: Callable[[Expr], Any], x: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    return reduced_loss(pointwise(lambda a, b: of(a - b), x, target, kind="real"), reduction)


for _name, _of in DIFFERENCES.items():
    meaning(_name)(
        lambda self, target, reduction=MEAN, of=_of: _difference(of, self, target, reduction)
    )


@meaning("aten.huber_loss.default")
def huber_loss(x: Tensor, target: Tensor, reduction: int = MEAN, delta: float = 1.0) -> Tensor:
    limit = constant(delta)

    def of(d: Expr) -> Expr:
        return where(lt(absolute(d), limit), d**2 / 2, limit * (absolute(d) - limit / 2))

    return _difference(of, x, target, reduction)


@meaning("aten.smooth_l1_loss.default")
def smooth_l1_loss(x: Tensor, target: Tensor, reduction: int = MEAN, beta: float = 1.0) -> Tensor:
    if not beta:
        return _difference(absolute, x, target, reduction)
    limit = constant(beta)

    def of(d: Expr) -> Expr:
        return where(lt(absolute(d), limit), d**2 / (2 * limit), absolute(d) - limit / 2)

    return _difference(of, x, target, reduction)


@meaning("aten.binary_cross_entropy_with_logits.default")
def binary_cross_entropy_with_logits(
    x: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = MEAN
) -> Tensor:
    """(1 − t)·x + (1 + (w − 1)·t)·log(1 + exp(−x)), weighed."""
    def element(e: Expr, t: Expr, w: Expr) -> Expr:
        return (1 - t) * e + (1 + (w - 1) * t) * log(1 + exp(-e))

    each = pointwise(element, x, target, 1 if pos_weight is None else pos_weight, kind="real")
    return reduced_loss(each if weight is None else times(each, weight), reduction)


LEAST_LOG = -100                                           # of a probability, to torch's cross-entropy


@meaning("aten.binary_cross_entropy.default")
def binary_cross_entropy(
    x: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN
) -> Tensor:
    """−t·log x − (1 − t)·log(1 − x), no logarithm below −100, weighed. Probabilities that a program works out do come
    there: exp(−x²) at x = 11."""
    def log_of(e: Expr) -> Expr:
        return maximum(log(e), LEAST_LOG)

    each = pointwise(lambda e, t: (t - 1) * log_of(1 - e) - t * log_of(e), x, target, kind="real")
    return reduced_loss(each if weight is None else times(each, weight), reduction)


@meaning("aten.soft_margin_loss.default")
def soft_margin_loss(x: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    return reduced_loss(pointwise(lambda e, t: log(1 + exp(-t * e)), x, target, kind="real"), reduction)


@meaning("aten.kl_div.default")
def kl_div(x: Tensor, target: Tensor, reduction: int = MEAN, *, log_target: bool = False) -> Tensor:
    """target · (log target − x); zero where the target is zero."""
    if log_target:
        each = pointwise(lambda e, t: exp(t) * (t - e), x, target)
    else:
        each = pointwise(lambda e, t: where(eq(t, 0), 0, t * (log(t) - e)), x, target)
    return reduced_loss(each, reduction)


@meaning("aten.hinge_embedding_loss.default")
def hinge_embedding_loss(x: Tensor, target: Tensor, margin: float = 1.0, reduction: int = MEAN) -> Tensor:
    gap = constant(margin)

    def element(e: Expr, t: Expr) -> Expr:
        near = where(not_(eq(t, -1)), e, 0)
        return near + where(not_(eq(t, 1)), maximum(gap - e, 0), 0)

    if target.kind == "bool":
        raise Unsupported("a hinge loss of a boolean target")
    return reduced_loss(pointwise(element, x, target), reduction)


@meaning("aten.multi_margin_loss.default")
def multi_margin_loss(
    x: Tensor, target: Tensor, p: float = 1, margin: float = 1, weight: Tensor | None = None, reduction: int = MEAN
) -> Tensor:
    """How far each other class comes nearer to the target's than the margin, to the power p, weighed by the target's
    class; the mean over classes, for each sample."""
    if p not in (1, 2) or not x.rank:
        raise Unsupported(f"a margin to the power {p}, or of one number")
    gap, classes = constant(margin), x.shape[-1]
    agreeing(target.shape, x.shape[:-1], "a class for each sample")

    def loss(*i: Expr) -> Expr:
        own = target[i]

        def short(c: Expr) -> Expr:
            return power(maximum(gap - x[(*i, own)] + x[(*i, c)], 0), exact(p))

        total = folded("sum", [classes], short) - power(maximum(gap, 0), exact(p))    # less the target's own
        return total / const(classes) * (1 if weight is None else weight[own])

    return reduced_loss(tensor(target.shape, loss), reduction)
