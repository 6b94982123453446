"""What a loop carries from one iteration to the next, and what the rules that look for closed forms see of a loop.

The body is executed once with unknown carried values, which are loads of leaves of their own. A rule looks at what the
body makes of one of them, with closed forms in place of those already known, and gives it a closed form over the number
of iterations if it can prove one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from samesame.evidence import Refused
from samesame.formula.binders import rebuilt
from samesame.formula.expr import ZERO, Expr, Index, Leaf, Load, substitute
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.ttir import Place
from samesame.kernels.execution.values import Chosen, Descriptor, Pointers, Value, block
from samesame.kernels.indices import integers

if TYPE_CHECKING:
    from samesame.kernels.execution.symbolic import Machine


@dataclass(frozen=True)
class Means:
    """What looking for closed forms may use, so that what each part is good for can be measured: the search where no
    rule applies, invariants besides the closed form, and values that prune the search."""

    synthesis: bool = True
    invariants: bool = True
    pruning: bool = True


ALL_MEANS = Means()


@dataclass(frozen=True)
class Closed:
    """A carried value after `t` iterations: `expr` over the counter and the lanes."""

    expr: Expr
    counter: Index
    lanes: tuple[Index, ...]

    def at(self, iterations: Expr, lanes: Sequence[Expr]) -> Expr:
        values: dict[Index, Expr] = {self.counter: iterations, **dict(zip(self.lanes, lanes, strict=True))}
        return integers.tidied(substitute(self.expr, values))


@dataclass
class Carried:
    """One carried value: where it starts, what the body makes of it, and its closed form once that is known.

    `monoid` is that of a fold; `shift` is what an iteration adds to a maximum before its own value counts; `parts` are
    the total and the weight of a weighted mean.
    """

    name: str
    start: Value
    leaf: Leaf
    lanes: tuple[Index, ...]
    after: Tensor | None = None
    closed: Closed | None = None
    monoid: str = ""
    shift: Expr = ZERO
    parts: tuple[Expr, Expr] | None = None

    @property
    def unknown(self) -> Expr:
        return Load(self.leaf, self.lanes)

    def forget(self) -> None:
        """Take back the closed form."""
        self.closed, self.monoid, self.shift, self.parts = None, "", ZERO, None

    def shift_at(self, lanes: Sequence[Expr]) -> Expr:
        return integers.tidied(substitute(self.shift, dict(zip(self.lanes, lanes, strict=True))))

    @property
    def first(self) -> Expr:
        """The start as a formula over the lanes."""
        return numbers(self.start)[self.lanes]

    def symbolic(self) -> Value:
        """The value as the body finds it, unknown."""
        shape, kind = self.start.shape, numbers(self.start).kind
        return like(self.start, block(shape, lambda *i: Load(self.leaf, i), kind))

    def after_iterations(self, t: Expr) -> Value:
        closed = self.closed
        assert closed is not None
        shape, kind = self.start.shape, numbers(self.start).kind
        return like(self.start, block(shape, lambda *i: closed.at(t, i), kind))


@dataclass
class Loop:
    """A loop as rules see it: its counter, and what it carries."""

    machine: Machine
    place: Place
    t: Index
    carried: list[Carried]

    @property
    def leaves(self) -> list[Leaf]:
        return [c.leaf for c in self.carried]

    def known(self, one: Carried, keep: Sequence[Carried] = ()) -> Expr:
        """What the body makes of a carried value, with closed forms in place of what is known of the others."""
        assert one.after is not None
        return self.put_in(one.after[one.lanes], (one, *keep))

    def put_in(self, expr: Expr, keep: Sequence[Carried] = ()) -> Expr:
        """An expression with closed forms in place of the carried values that have one, but those to be kept."""
        solved = {c.leaf: c.closed for c in self.carried if c.closed is not None and not any(c is k for k in keep)}
        return integers.tidied(with_closed(expr, solved, self.t))

    def proved(self) -> None:
        """Count an inductive step."""
        steps = self.machine.steps
        steps[str(self.place)] = steps.get(str(self.place), 0) + 1


def numbers(value: Value) -> Tensor:
    """The numbers that change: of pointers, their offsets. Raises Refused for a pointer that a condition chooses, and
    for a descriptor."""
    if isinstance(value, Descriptor):
        raise Refused("a loop carries a tensor descriptor; make it outside of the loop")
    if isinstance(value, Chosen):
        raise Refused("a loop carries a pointer into one of two tensors, as a condition decides; load from both")
    return value.offsets if isinstance(value, Pointers) else value


def like(value: Value, numbers_: Tensor) -> Value:
    return replace(value, offsets=numbers_) if isinstance(value, Pointers) else numbers_


def with_closed(expr: Expr, solved: dict[Leaf, Closed], t: Expr) -> Expr:
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            if isinstance(e, Load) and e.leaf in solved:
                memo[e] = solved[e.leaf].at(t, tuple(map(go, e.indices)))
            else:
                memo[e] = rebuilt(e, go)
        return memo[e]

    return go(expr)
