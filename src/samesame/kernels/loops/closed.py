"""Loops: what a carried value is after t iterations, in closed form.

The body is executed once with unknown carried values. What it makes of them shows a recurrence, and a few kinds are
known by their closed form: folds and counters (`recurrences`), folds that end (`ended`), sums rescaled to a running
maximum (`rescaled`), the place of a maximum (`running_argmax`), states that decay, and maxima that each step shifts
(`affine`). That the body makes one step of its closed form is proved for each carried value, for all values and any
number of iterations, and never assumed. Then the body is executed again with the closed forms, and its accesses
noted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from samesame.evidence import Refused
from samesame.formula.alike import alike
from samesame.formula.binders import replaced
from samesame.formula.expr import (
    ONE,
    ZERO,
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Index,
    Leaf,
    Not,
    Num,
    add,
    and_,
    const,
    index,
    substitute,
)
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.ttir import Operation, Place
from samesame.kernels.execution.values import ADDRESS, Pointers, Value, same_everywhere
from samesame.kernels.formulas.algebra import loads_of
from samesame.kernels.indices import integers
from samesame.kernels.loops.affine import decayed, shifted_maximum
from samesame.kernels.loops.averaged import averaged, spread
from samesame.kernels.loops.carried import Carried, Loop, numbers
from samesame.kernels.loops.ended import ended
from samesame.kernels.loops.recurrences import counter, folded, last_value, unchanged
from samesame.kernels.loops.rescaled import rescaled, rescaled_where_finite
from samesame.kernels.loops.running_argmax import running_argmax
from samesame.kernels.loops.spin_loops import spins
from samesame.kernels.loops.synthesis import searched

if TYPE_CHECKING:
    from samesame.kernels.execution.symbolic import Environment, Machine

UNROLLED = 32  # a loop of so few iterations is written out if nothing else helps


class MoreThanOnce(Refused):
    """A loop that carries what no closed form is known for, and the condition under which it is run once at most."""

    def __init__(self, sentence: str, once: Expr) -> None:
        super().__init__(sentence)
        self.once = once


# ---------------------------------------------------------------------------------------------------------------- loops


def summarised(machine: Machine, operation: Operation, env: Environment) -> list[Value]:
    """The results of an `scf.for`. Raises Refused where a carried value has no closed form here."""
    counter, low_, high_, step_, *pairs = operation.operands
    low, high, step = (cast(Tensor, env[name])[()] for name in (low_, high_, step_))
    if not machine.prover.proves(machine.path, integers.less(0, step)):
        raise Refused(f"{operation.place}: a loop whose step is not known to be positive")
    trips = at_least_none(machine, integers.ceiling(integers.minus(high, low), step))
    ended = integers.plus_(low, integers.times_(trips, step))  # the counter behind the last iteration
    bits = operation.given[0].bits if operation.given else ADDRESS
    for number in (low, high, step, ended):
        machine.observed(same_everywhere(number), bits, operation.place)
    names, starts = pairs[0::2], [env[name] for name in pairs[1::2]]

    def body(t: Expr, values: Sequence[Value]) -> list[Value]:
        inside = {**env, **dict(zip(names, values, strict=True))}
        inside[counter] = same_everywhere(integers.plus_(low, integers.times_(t, step)))
        return machine.block(operation.regions[0], inside)

    return run_loop(machine, operation, trips, names, starts, body)


def at_least_none(machine: Machine, trips: Expr) -> Expr:
    """A number of iterations, 0 where the loop ends before it begins."""
    known = machine.prover.proves(machine.path, integers.at_least_zero(trips))
    return trips if known else integers.flattened("max", (trips, ZERO))


def run_loop(
    machine: Machine,
    operation: Operation,
    trips: Expr,
    names: Sequence[str],
    starts: Sequence[Value],
    body: Callable[[Expr, Sequence[Value]], list[Value]],
) -> list[Value]:
    if trips is ONE or machine.prover.proves(machine.path, integers.equal(trips, 1)):
        return body(ZERO, starts)
    t = index(trips)
    carried = [
        Carried(name, start, carry_leaf(operation.place, t, k, start), lanes_of(start))
        for k, (name, start) in enumerate(zip(names, starts, strict=True))
    ]
    loop = Loop(machine, operation.place, t, carried)
    noted = machine.mark()
    for again in (False, True):
        own = looked_at(loop, body)
        machine.forget(noted)
        if left := solve(loop):
            break
        begun = len(machine.own)
        ends, now = noted_with(loop, trips, body)
        if again or machine.own[begun:] != own:
            left = [one for one, end in zip(carried, ends, strict=True) if not is_as_seen(loop, one, end, now)]
        if not left:
            for start, value in zip(starts, ends, strict=True):
                machine.note_steps(start, value, operation.place)
            return [c.after_iterations(trips) for c in carried]
        machine.forget(noted)
        for one in carried:
            if not counts_alone(loop, one) or any(one is other for other in left):
                one.forget()
    return few_times(loop, trips, left, starts, body)


def looked_at(loop: Loop, body: Callable[[Expr, Sequence[Value]], list[Value]]) -> list[bool]:
    """See what the body makes of carried values that are unknown, but for those with a closed form; which of its loads
    gave what their lane had stored."""
    machine, begun = loop.machine, len(loop.machine.own)
    values = [one.symbolic() if one.closed is None else one.after_iterations(loop.t) for one in loop.carried]
    found = in_loop(machine, loop.t, lambda: body(loop.t, values)) if values else []
    for one, value in zip(loop.carried, found, strict=True):
        if isinstance(one.start, Pointers) != isinstance(value, Pointers) or (
            isinstance(value, Pointers)
            and isinstance(one.start, Pointers)
            and (value.memory, value.bits) != (one.start.memory, one.start.bits)
        ):
            raise Refused(f"{loop.place}: the loop carries {one.name.lstrip('%')}, a pointer into two tensors in turn")
        if one.closed is None:
            one.after = numbers(value)
    return machine.own[begun:]


def noted_with(
    loop: Loop, trips: Expr, body: Callable[[Expr, Sequence[Value]], list[Value]]
) -> tuple[list[Value], Index]:
    """Execute the body with closed forms, and note its accesses: its ends, and the counter."""
    machine = loop.machine
    whole = at_most_trips(machine, trips)
    now = loop.t if whole is None else index(whole)
    outside = len(machine.path)
    machine.path += [] if whole is None else [integers.less(now, trips)]
    try:
        return in_loop(machine, now, lambda: body(now, [c.after_iterations(now) for c in loop.carried])), now
    finally:
        del machine.path[outside:]


def counts_alone(loop: Loop, one: Carried) -> bool:
    """Whether an integer or a pointer has a closed form in which nothing else that is carried has a part."""
    others = [other.leaf for other in loop.carried if other is not one]
    return one.unknown.kind == "int" and not loads_of(cast(Tensor, one.after)[one.lanes], others)


def is_as_seen(loop: Loop, one: Carried, value: Value, now: Index) -> bool:
    """Whether the body, given the closed forms, makes what it was seen to make of unknown values."""
    made, seen = numbers(value)[one.lanes], loop.put_in(cast(Tensor, one.after)[one.lanes])
    return alike(integers.tidied(made), integers.tidied(substitute(seen, {loop.t: now})))


def few_times(
    loop: Loop,
    trips: Expr,
    left: Sequence[Carried],
    starts: Sequence[Value],
    body: Callable[[Expr, Sequence[Value]], list[Value]],
) -> list[Value]:
    """The results of a loop that carries what no closed form is known for, written out. Raises MoreThanOnce where it
    is long."""
    if isinstance(trips, Num) and trips.value <= UNROLLED:
        return unrolled(int(trips.value), starts, body)
    names = ", ".join(c.name.lstrip("%") for c in left)
    sentence = f"{loop.place}: no closed form is known for what the loop carries in {names}"
    raise MoreThanOnce(sentence, at_most_one(trips))


def at_most_trips(machine: Machine, trips: Expr) -> Expr | None:
    """What every program runs at most where the last ones run fewer: c of max(min(c·i + c, n) − c·i, 0). Rows that
    programs share are then numbers in the radix c. None where there is no such number."""
    inner = next((e for e in trips.arguments if e is not ZERO), trips) if isinstance(trips, Extremum) else trips
    terms = inner.terms if isinstance(inner, Add) else (inner,)
    least = next((e for e in terms if isinstance(e, Extremum) and e.op == "min"), None)
    if not trips.free or least is None or trips not in (inner, integers.flattened("max", (inner, ZERO))):
        return None
    rest = integers.minus(inner, least)
    ends = [integers.plus_(end, rest) for end in least.arguments]
    known = (end for end in ends if not end.free and machine.prover.proves(machine.path, integers.at_least_zero(end)))
    return next(known, None)


def at_most_one(trips: Expr) -> Expr:
    """The condition that there is no second iteration."""
    match trips:
        case Extremum("max", (other, least)) if least is ZERO:
            return at_most_one(other)
        case FloorDiv(numerator, Num(divisor)):
            return integers.at_most(numerator, 2 * int(divisor) - 1)
    return integers.at_most(trips, 1)


def unrolled(trips: int, starts: Sequence[Value], body: Callable[[Expr, Sequence[Value]], list[Value]]) -> list[Value]:
    values = list(starts)
    for t in range(trips):
        values = body(const(t), values)
    return values


def in_loop(machine: Machine, t: Index, run: Callable[[], list[Value]]) -> list[Value]:
    machine.loops.append(t)
    try:
        return run()
    finally:
        machine.loops.pop()


def carry_leaf(place: Place, t: Index, number: int, start: Value) -> Leaf:
    return Leaf(f"carried {t.serial}.{number}", (1,) * len(start.shape), numbers(start).kind)


def lanes_of(value: Value) -> tuple[Index, ...]:
    return tuple(index(n) for n in value.shape)


def summarised_while(machine: Machine, operation: Operation, env: Environment) -> list[Value]:
    """The results of an `scf.while` that counts: its condition compares a counter with a bound."""
    place = spins(operation)
    if place is not None:
        raise Refused(
            f"{place}: this loop waits until another program has written what it reads; each program is taken by itself"
        )
    pairs = operation.operands
    names, starts = pairs[0::2], [env[name] for name in pairs[1::2]]
    before, after = operation.regions
    t = index(1)
    carried = [
        Carried(name, start, carry_leaf(operation.place, t, k, start), lanes_of(start))
        for k, (name, start) in enumerate(zip(names, starts, strict=True))
    ]
    condition_env = {**env, **{c.name: c.symbolic() for c in carried}}
    kept = machine.mark()
    found = machine.block(before, condition_env)
    machine.forget(kept)
    condition, passed = cast(Tensor, found[0])[()], found[1:]
    if any(condition_env[c.name] is not value for c, value in zip(carried, passed, strict=True)):
        raise Refused(f"{operation.place}: a while loop whose condition computes values is not supported")

    def ask(values: Sequence[Value]) -> None:
        """Note what the condition reads and compares."""
        machine.block(before, {**env, **dict(zip(names, values, strict=True))})

    def body(t: Expr, values: Sequence[Value]) -> list[Value]:
        ask(values)
        inside = {**env, **dict(zip((name for name, _ in after.arguments), values, strict=True))}
        return machine.block(after, inside)

    trips = trips_of_while(machine, operation, carried, condition, body)
    results = run_loop(machine, operation, trips, names, starts, body)
    ask(results)
    return results


def trips_of_while(machine: Machine, operation: Operation, carried: list[Carried], condition: Expr, body: Any) -> Expr:
    """How often the condition holds, where what it compares changes by the same number with each iteration."""
    kept = machine.mark()
    found = body(ZERO, [c.symbolic() for c in carried])
    machine.forget(kept)
    firsts: dict[Expr, Expr] = {}
    moved: dict[Expr, Expr] = {}
    for one, value in zip(carried, found, strict=True):
        step = (
            integers.minus(numbers(value)[()], one.unknown)
            if numbers(value).kind == "int" and not value.shape
            else None
        )
        if step is not None and not loads_of(step, [c.leaf for c in carried]):
            firsts[one.unknown] = one.first
            moved[one.unknown] = integers.plus_(one.unknown, step)
    all_trips: list[Expr] = []
    for part in condition.arguments if isinstance(condition, And) else (condition,):
        p = counted_in(part)
        falls = integers.minus(p, integers.tidied(replaced(p, moved)))  # at any iteration: p may be no line
        now = integers.tidied(replaced(p, firsts))
        trips = None if loads_of(add(now, falls), [c.leaf for c in carried]) else falling(machine, part, now, falls)
        if trips is None:
            raise Refused(f"{operation.place}: a while loop that does not count up to a bound is not supported")
        all_trips.append(trips)
    return integers.flattened("min", tuple(all_trips))


def counted_in(condition: Expr) -> Expr:
    """What a condition compares with 0; of a condition that compares no integers, 0."""
    compared = condition.argument if isinstance(condition, Not) else condition
    numbers_ = isinstance(compared, Compare) and compared.left is ZERO and compared.right.kind == "int"
    return cast(Compare, compared).right if numbers_ else ZERO


def falling(machine: Machine, condition: Expr, now: Expr, falls: Expr) -> Expr | None:
    """How often a condition on p holds, where p is `now` at first and falls by as much each time. One that p is not 0
    holds until p is 0, which it must come to."""
    proves = machine.prover.proves
    if isinstance(condition, Compare) and condition.op == "≤":
        counts = proves(machine.path, integers.less(0, falls))
        return at_least_none(machine, integers.plus_(integers.quotient(now, falls), 1)) if counts else None
    if not isinstance(condition, Not) or not isinstance(condition.argument, Compare) or condition.argument.op != "=":
        return None
    for left, step in ((now, falls), (integers.minus(0, now), integers.minus(0, falls))):
        trips = integers.quotient(left, step)
        ends = and_(integers.at_least_zero(left), integers.equal(integers.times_(trips, step), left))
        if proves(machine.path, integers.less(0, step)) and proves(machine.path, ends):
            return trips
    return None


# ---------------------------------------------------------------------------------------------------------- recurrences


Rule = Callable[[Loop, Carried], bool]
RULES: tuple[Rule, ...] = (
    unchanged, counter, last_value, rescaled, averaged, spread, rescaled_where_finite, folded, ended, running_argmax,
    decayed, shifted_maximum, searched,
)


def solve(loop: Loop) -> list[Carried]:
    """Find closed forms until no more are found; what is left without one."""
    left = [one for one in loop.carried if one.closed is None]
    while True:
        before = len(left)
        for one in list(left):
            if any(rule(loop, one) for rule in RULES):
                left.remove(one)
        if not left or len(left) == before:
            return left
