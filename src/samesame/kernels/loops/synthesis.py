"""Closed forms found by search, where no rule knows one.

The loop is run on numbers: every load and condition draws a value for each iteration, and the body gives the carried
value's. Top-down, the loop's shape offers sketches: a quotient, product, difference or sum of two terms, chosen by
whether there was an iteration yet. Bottom-up, terms grow by size: what one iteration gives (loads, their products,
choices by the body's conditions), folds of those over the iterations so far, and sums, differences, products and
quotients of folds, the counter and the body's numbers. Terms with the same values on all runs count once, and only
those that complete a sketch to the values seen are proposed. What is proposed is proved by induction, as everything is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, islice
from typing import Any

import numpy as np

from samesame.formula.expr import (
    ONE,
    ZERO,
    Expr,
    Fold,
    Load,
    Num,
    Where,
    add,
    index,
    mul,
    power,
    substitute,
    walk,
    where,
)
from samesame.formula.order import order
from samesame.kernels import clock
from samesame.kernels.indices import integers
from samesame.kernels.loops.averaged import holds
from samesame.kernels.loops.carried import Carried, Closed, Loop
from samesame.kernels.loops.recurrences import extrema
from samesame.kernels.loops.runs import RUNS, STEPS, NoValue, Runs, Values

MOST_PARTS = 24
MOST_TERMS = 6000
MOST_PROOFS = 6
MOST_UNPRUNED = 40  # to see what pruning is worth


# ------------------------------------------------------------------------------------------------------------ bottom-up


@dataclass
class Bank:
    """Terms, one for each list of values, smaller ones first."""

    pruned: bool
    terms: dict[bytes, tuple[Expr, Values]] = field(default_factory=dict)

    def put(self, term: Expr, values: Values) -> None:
        if np.all(np.isfinite(values)) and np.abs(values).max() < 1e9 and len(self.terms) < MOST_TERMS:
            key = name_of(values) if self.pruned else str(len(self.terms)).encode()
            self.terms.setdefault(key, (term, values))

    def with_values(self, values: Values) -> Expr | None:
        found = self.terms.get(name_of(values))
        return None if found is None else found[0]

    def __iter__(self) -> Iterator[tuple[Expr, Values]]:
        return iter(list(self.terms.values()))


def name_of(values: Values) -> bytes:
    """The values to eight digits, as a key."""
    scale = 10.0 ** (np.floor(np.log10(np.maximum(np.abs(values), 1e-30))) - 7)
    return bytes((np.round(values / scale) * scale + 0.0).astype(np.float32).tobytes())


def of_one_iteration(runs: Runs, made: Expr) -> Iterator[tuple[Expr, np.ndarray]]:
    """What an iteration gives by itself, by size: loads, squares and products of them, and choices between it and 0."""
    t, one = runs.loop.t, runs.one
    plain = [e for e in walk(made) if isinstance(e, Load) and e.kind == "real" and t in e.free and e is not one.unknown]
    choices = [e for e in walk(made) if isinstance(e, Where) and one.unknown not in set(walk(e.condition))]
    masks = dict.fromkeys(e.condition for e in choices if t in e.condition.free)
    masked = [e for e in choices if e.then in plain and e.otherwise is ZERO]
    bases = list(dict.fromkeys([*masked, *(p for p in plain if not any(p is m.then for m in masked))]))
    terms = [*bases, *(mul(a, b) for a, b in combinations_with_replacement(bases, 2))]
    terms += [where(c, term, ZERO) for c in masks for term in (ONE, *terms)]
    for term in islice(dict.fromkeys(terms), MOST_PARTS):
        values = np.zeros((RUNS, STEPS))
        for run in range(RUNS):
            for step in range(STEPS):
                values[run, step] = runs.value(term, run, step, None)
        yield term, values


def of_all_iterations(runs: Runs, made: Expr, pruned: bool) -> Bank:
    """Folds over the iterations so far, the counter, and the body's numbers."""
    t = runs.loop.t
    bank = Bank(pruned)
    bank.put(t, np.tile(np.arange(1.0, STEPS + 1), RUNS))
    numbers = [e for e in walk(made) if isinstance(e, Num)]
    for number in dict.fromkeys([ONE, *numbers, runs.one.first]):
        if isinstance(number, Num):
            bank.put(number, np.full(RUNS * STEPS, float(number.value)))
    accumulate: dict[str, Any] = {
        "sum": np.cumsum,
        "max": np.maximum.accumulate,
        "min": np.minimum.accumulate,
        "prod": np.cumprod,
    }
    for part, values in of_one_iteration(runs, made):
        for monoid, accumulated in accumulate.items():
            s = index(t)
            bank.put(Fold(monoid, (s,), substitute(part, {t: s})), accumulated(values, axis=1).ravel())
    return bank


def grown(bank: Bank) -> Bank:
    """Sums, differences, products and quotients of two terms each, and the squares of those."""
    larger = Bank(bank.pruned, dict(bank.terms))
    small = list(bank)
    with np.errstate(all="ignore"):
        for a, x in small:
            clock.look()
            for b, y in small:
                if order(a) <= order(b):
                    larger.put(add(a, b), x + y)
                    larger.put(mul(a, b), x * y)
                larger.put(add(a, mul(-1, b)), x - y)
                larger.put(mul(a, power(b, -1)), x / y)
        for a, x in list(larger):
            larger.put(mul(a, a), x * x)
    return larger


# ------------------------------------------------------------------------------------------------------------- top-down


def proposals(bank: Bank, target: Values) -> Iterator[Expr]:
    """Terms with the target's values: one term, or a sketch with a term in each of its two places."""
    found = bank.with_values(target)
    if found is not None:
        yield found
    with np.errstate(all="ignore"):
        for a, x in bank:
            for rest, sketch in ((target - x, plus), (x - target, less), (target / x, times), (x / target, over)):
                b = bank.with_values(rest) if np.all(np.isfinite(rest)) else None
                if b is not None and (sketch is not over or np.all(rest)):
                    yield sketch(a, b)


def plus(a: Expr, b: Expr) -> Expr:
    return add(a, b)


def less(a: Expr, b: Expr) -> Expr:
    return add(a, mul(-1, b))


def times(a: Expr, b: Expr) -> Expr:
    return mul(a, b)


def over(a: Expr, b: Expr) -> Expr:
    return mul(a, power(b, -1))


def everything(bank: Bank) -> Iterator[Expr]:
    """Every term, whatever its values: what is proposed when values do not prune."""
    yield from (term for term, _ in bank)


def searched(loop: Loop, one: Carried) -> bool:
    """A closed form found by search, for a value that depends on no other one without a closed form."""
    means = loop.machine.means
    if not means.synthesis or one.unknown.kind != "real":
        return False
    made = extrema(loop.known(one))
    if any(isinstance(e, Load) and e.leaf in loop.leaves and e is not one.unknown for e in walk(made)):
        return False
    runs = Runs(loop, one)
    try:
        target = runs.carried(made)
        bank = grown(of_all_iterations(runs, made, means.pruning))
    except (NoValue, OverflowError):
        return False
    found = proposals(bank, target) if means.pruning else everything(bank)
    for term in islice(found, MOST_PROOFS if means.pruning else MOST_UNPRUNED):
        clock.look()
        closed = where(integers.less(0, loop.t), term, one.first)
        if holds(loop, one, made, closed, []):
            one.closed = Closed(closed, loop.t, one.lanes)
            loop.proved()
            loop.machine.synthesised.append(str(loop.place))
            return True
    clock.look()  # that nothing was found in no time says nothing
    return False
