"""Loops that carry a state, by induction: a running sum, a maximum with rescaled sums, Welford's moments, a scan.

    state = initial;  for t in 0 … count − 1:  state = step(t, state)

Such a loop is a fold written one step at a time, and the closed form says which: after t iterations the state is
`closed(t)`. Two claims without any loop prove it for every count: the closed form holds after the first iterations
(written out), and one more step takes closed(t) to closed(t + 1). That closes online softmax, split normalisation
statistics and linear recurrences over any number of blocks, each in one proof that knows nothing of the others.

Both claims hold wherever their two sides are defined; so the loop's result is the closed form wherever the closed form
is defined after every iteration, which is noted among the conditions. So each such loop is a law of sums for the prover
to know; the loops of programs are proved by samesame/relate/induction.py and samesame/kernels/loops."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from samesame.formula.assumptions import Assumption, Said, simplified
from samesame.formula.effort import Budget, spending
from samesame.formula.equal import DEFAULT, NotProved, Proved, prove_tensors_equal
from samesame.formula.expr import Expr, Fn, Fold, Pow, const, index, walk
from samesame.formula.laws import LAWS
from samesame.formula.normal import size_poly
from samesame.formula.poly import at_least_zero
from samesame.formula.scalars import EVERYWHERE
from samesame.formula.tensor import Dim, Tensor

State = tuple[Tensor, ...]


@dataclass(frozen=True)
class Loop:
    """`count` iterations of `step(t, state)`, t from 0, starting with `initial`; the state's shapes never change."""

    count: Dim
    initial: State
    step: Callable[[Expr, State], State]

    def after(self, iterations: int) -> State:
        """The state after so many iterations, written out."""
        state = self.initial
        for t in range(iterations):
            state = self.step(const(t), state)
        return state


def prove_loop(
    loop: Loop, closed: Callable[[Expr], State], *, first: int = 0, budget: Budget = DEFAULT
) -> Proved | NotProved:
    """Prove that the state after t iterations is `closed(t)`, for every t from `first` to the loop's count.

    `budget.seconds` is for the whole proof. Where a closed form has no value before the first iteration (the maximum
    of nothing, a mean over nothing), it starts with `first` = 1; the count must be at least that.
    """
    deadline = time.thread_time() + budget.seconds
    with spending(budget, LAWS):
        if not at_least_zero(size_poly(const(loop.count)) - first):
            return NotProved(f"the loop may end before iteration {first}")
    t = index(const(loop.count) - first) + first
    steps = [
        ("at the start", loop.after(first), closed(const(first))),
        ("in a step", loop.step(t, closed(t)), closed(t + 1)),
    ]
    conditions: list[Assumption] = []
    methods: set[str] = set()
    for where_, left, right in steps:
        outcome = _all_equal(left, right, budget, deadline)
        if isinstance(outcome, NotProved):
            return NotProved(f"{where_}: {outcome.reason}")
        conditions += outcome.conditions
        methods.add(outcome.method)
    if any(_may_be_undefined(part) for part in closed(t)):
        conditions.append(Said("closed form", "the closed form is defined after every iteration"))
    return Proved("smt" if "smt" in methods else "normal form", simplified(conditions), "induction over a loop")


def _all_equal(left: Sequence[Tensor], right: Sequence[Tensor], budget: Budget, deadline: float) -> Proved | NotProved:
    """Every part of one state equal to that part of the other."""
    if len(left) != len(right):
        return NotProved(f"the states have {len(left)} and {len(right)} parts")
    conditions: list[Assumption] = []
    method = "normal form"
    for number, (a, b) in enumerate(zip(left, right, strict=True)):
        remaining = deadline - time.thread_time()
        if remaining <= 0:
            return NotProved(f"out of time at part {number} of the state")
        outcome = prove_tensors_equal(a, b, budget=replace(budget, seconds=remaining))
        if isinstance(outcome, NotProved):
            return NotProved(f"part {number} of the state: {outcome.reason}")
        conditions += outcome.conditions
        method = "smt" if "smt" in (method, outcome.method) else method
    return Proved(method, simplified(conditions), "part by part")


def _may_be_undefined(part: Tensor) -> bool:
    return any(
        (isinstance(e, Pow) and (e.exponent < 0 or e.exponent.denominator > 1))
        or (isinstance(e, Fn) and e.name not in EVERYWHERE)
        or (isinstance(e, Fold) and e.monoid in ("max", "min"))
        for e in walk(part.element()[1])
    )
