"""Loops: what a carried value is after t iterations, in closed form.

The body is executed once with unknown carried values. What it makes of them shows a recurrence, and a few kinds are
known by their closed form:

    p' = p + d                           p₀ + t·d                        pointers and counters
    a' = a ⊕ f(t)                        a₀ ⊕ (⊕_{s<t} f(s))             a sum, a product, a maximum, ∧, ∨
    a' = f(t)                            f(t − 1), and a₀ before         the value of the iteration before
    a' = a·exp(m − m') + f(t, m')        Σ_{s<t} f(s, mₜ)                rescaled to a running maximum m (softmax)
    i' = i, or t·B + argmax(block t)     argmax of all blocks            where the running maximum stands

Rescaling holds because f(t, m') is some f̂(t) times exp(−m'), which is checked on f. That the body makes one step of
its closed form is proved by Z3 for each carried value, for all values and any number of iterations. Then the body is
executed again with the closed forms, and its accesses noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from samesame.evidence import Refused
from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    ONE,
    TRUE,
    ZERO,
    Add,
    And,
    Expr,
    Extremum,
    Fn,
    Fold,
    Index,
    Lambda,
    Leaf,
    Load,
    Mul,
    Num,
    Opaque,
    Or,
    Where,
    add,
    and_,
    compare,
    const,
    exp,
    index,
    mul,
    not_,
    or_,
    rebuild,
    substitute,
    walk,
    where,
)
from samesame.formula.tensor import Tensor
from samesame.lift import integers
from samesame.lift.algebra import NEUTRAL, expanded, loads_of, mentions, replaced
from samesame.lift.steps import rescaled_step, step_holds
from samesame.lift.ttir import Operation, Place
from samesame.lift.values import Pointers, Value, block, same_everywhere, undefined

if TYPE_CHECKING:
    from samesame.lift.symbolic import Environment, Machine

UNROLLED = 32  # a loop of so few iterations is written out if nothing else helps


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
    """One carried value: where it starts, what the body makes of it, and its closed form once that is known."""

    name: str
    start: Value
    leaf: Leaf
    lanes: tuple[Index, ...]
    after: Tensor | None = None
    closed: Closed | None = None
    monoid: str = ""

    @property
    def unknown(self) -> Expr:
        return Load(self.leaf, self.lanes)

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


def numbers(value: Value) -> Tensor:
    return value.offsets if isinstance(value, Pointers) else value


def like(value: Value, numbers_: Tensor) -> Value:
    return Pointers(value.memory, numbers_, value.parts) if isinstance(value, Pointers) else numbers_


# ---------------------------------------------------------------------------------------------------------------- loops


def summarised(machine: Machine, operation: Operation, env: Environment) -> list[Value]:
    """The results of an `scf.for`. Raises Refused where a carried value has no closed form here."""
    counter, low_, high_, step_, *pairs = operation.operands
    low, high, step = (cast(Tensor, env[name])[()] for name in (low_, high_, step_))
    if not machine.prover.proves(machine.path, integers.less(0, step)):
        raise Refused(f"{operation.place}: a loop whose step is not known to be positive")
    trips = at_least_none(machine, integers.ceiling(integers.minus(high, low), step))
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
    t = index(trips)
    carried = [
        Carried(name, start, carry_leaf(operation.place, t, k, start), lanes_of(start))
        for k, (name, start) in enumerate(zip(names, starts, strict=True))
    ]
    if carried:
        noted = len(machine.accesses), len(machine.arithmetic)
        found = in_loop(machine, t, lambda: body(t, [c.symbolic() for c in carried]))
        del machine.accesses[noted[0] :], machine.arithmetic[noted[1] :]
        for one, value in zip(carried, found, strict=True):
            if isinstance(one.start, Pointers) != isinstance(value, Pointers) or (
                isinstance(value, Pointers) and isinstance(one.start, Pointers) and value.memory != one.start.memory
            ):
                raise Refused(
                    f"{operation.place}: the loop carries {one.name.lstrip('%')}, a pointer into two tensors in turn"
                )
            one.after = numbers(value)
        left = solve(machine, operation.place, t, carried)
        if left:
            if isinstance(trips, Num) and trips.value <= UNROLLED:
                return unrolled(int(trips.value), starts, body)
            names_ = ", ".join(c.name.lstrip("%") for c in left)
            raise Refused(f"{operation.place}: no closed form is known for what the loop carries in {names_}")
    for start, value in zip(
        starts, in_loop(machine, t, lambda: body(t, [c.after_iterations(t) for c in carried])), strict=True
    ):
        machine.note_steps(start, value, operation.place)
    return [c.after_iterations(trips) for c in carried]


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
    pairs = operation.operands
    names, starts = pairs[0::2], [env[name] for name in pairs[1::2]]
    before, after = operation.regions
    t = index(1)
    carried = [
        Carried(name, start, carry_leaf(operation.place, t, k, start), lanes_of(start))
        for k, (name, start) in enumerate(zip(names, starts, strict=True))
    ]
    condition_env = {**env, **{c.name: c.symbolic() for c in carried}}
    found = machine.block(before, condition_env)
    condition, passed = cast(Tensor, found[0])[()], found[1:]
    if any(condition_env[c.name] is not value for c, value in zip(carried, passed, strict=True)):
        raise Refused(f"{operation.place}: a while loop whose condition computes values is not supported")

    def body(t: Expr, values: Sequence[Value]) -> list[Value]:
        inside = {**env, **dict(zip((name for name, _ in after.arguments), values, strict=True))}
        return machine.block(after, inside)

    trips = trips_of_while(machine, operation, carried, condition, body)
    return run_loop(machine, operation, trips, names, starts, body)


def trips_of_while(machine: Machine, operation: Operation, carried: list[Carried], condition: Expr, body: Any) -> Expr:
    """How often `0 ≤ p` holds, where p falls by a constant with each iteration."""
    kept = len(machine.accesses), len(machine.arithmetic)
    found = body(ZERO, [c.symbolic() for c in carried])
    del machine.accesses[kept[0] :], machine.arithmetic[kept[1] :]
    values: dict[Expr, tuple[Expr, Expr]] = {}
    for one, value in zip(carried, found, strict=True):
        step = (
            integers.minus(numbers(value)[()], one.unknown)
            if numbers(value).kind == "int" and not value.shape
            else None
        )
        if step is not None and isinstance(step, Num):
            values[one.unknown] = one.first, step
    match condition:
        case _ if isinstance(condition, Expr) and hasattr(condition, "op") and condition.op == "≤":
            p = condition.right  # type: ignore[attr-defined]
            now = integers.tidied(replaced(p, {u: first for u, (first, _) in values.items()}))
            later = integers.tidied(
                replaced(p, {u: integers.plus_(first, step) for u, (first, step) in values.items()})
            )
            falls = integers.minus(now, later)
            if not loads_of(now, [c.leaf for c in carried]) and isinstance(falls, Num) and falls.value > 0:
                return at_least_none(machine, integers.plus_(integers.quotient(now, falls), 1))
    raise Refused(f"{operation.place}: a while loop that does not count up to a bound is not supported")


# ---------------------------------------------------------------------------------------------------------- recurrences


def solve(machine: Machine, place: Place, t: Index, carried: list[Carried]) -> list[Carried]:
    """Find closed forms until no more are found; what is left without one."""
    left = list(carried)
    while True:
        before = len(left)
        for one in list(left):
            if any(rule(machine, place, t, one, carried) for rule in RULES):
                left.remove(one)
        if not left or len(left) == before:
            return left


def known_by(one: Carried, carried: Iterable[Carried], t: Index, keep: Sequence[Carried] = ()) -> Expr:
    """What the body makes of a carried value, with closed forms in place of what is known of the others."""
    assert one.after is not None
    solved = {c.leaf: c.closed for c in carried if c.closed is not None and c is not one and c not in keep}
    return integers.tidied(with_closed(one.after[one.lanes], solved, t))


def with_closed(expr: Expr, solved: dict[Leaf, Closed], t: Expr) -> Expr:
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            if isinstance(e, Load) and e.leaf in solved:
                memo[e] = solved[e.leaf].at(t, tuple(map(go, e.indices)))
            else:
                memo[e] = rebuild(e, go)
        return memo[e]

    return go(expr)


def unchanged(machine: Machine, place: Place, t: Index, one: Carried, carried: list[Carried]) -> bool:
    """a' = a"""
    if known_by(one, carried, t) is not one.unknown:
        return False
    one.closed = Closed(one.first, t, one.lanes)
    return True


def last_value(machine: Machine, place: Place, t: Index, one: Carried, carried: list[Carried]) -> bool:
    """a' = f(t): after t iterations f(t − 1), and the start before."""
    made = known_by(one, carried, t)
    if loads_of(made, [c.leaf for c in carried]):
        return False
    earlier = substitute(made, {t: integers.minus(t, 1)})
    one.closed = Closed(where(integers.less(0, t), integers.tidied(earlier), one.first), t, one.lanes)
    return True


def counter(machine: Machine, place: Place, t: Index, one: Carried, carried: list[Carried]) -> bool:
    """p' = p + d for an integer or a pointer."""
    if one.unknown.kind != "int":
        return False
    step = integers.minus(known_by(one, carried, t), one.unknown)
    if loads_of(step, [c.leaf for c in carried]):
        return False
    if t not in step.free:
        moved = integers.times_(t, step)
    else:
        s = index(t)
        moved = Fold("sum", (s,), integers.tidied(substitute(step, {t: s})))
    one.closed = Closed(integers.plus_(one.first, moved), t, one.lanes)
    return True


def folded(machine: Machine, place: Place, t: Index, one: Carried, carried: list[Carried]) -> bool:
    """a' = a ⊕ f(t)"""
    made = known_by(one, carried, t)
    found = split(made, one.unknown)
    if found is None or loads_of(found[1], [c.leaf for c in carried]):
        return False
    monoid, part = found
    if not step_holds(made, one.unknown, monoid, part):
        return False
    machine.steps[str(place)] = machine.steps.get(str(place), 0) + 1
    s = index(t)
    fold = Fold(monoid, (s,), substitute(part, {t: s}))
    one.closed, one.monoid = Closed(joined(monoid, one.first, fold, t), t, one.lanes), monoid
    return True


def joined(monoid: str, first: Expr, fold: Expr, t: Expr) -> Expr:
    """first ⊕ fold, where a maximum or minimum over no iteration is left out."""
    if monoid == "sum":
        return fold if first is ZERO else add(first, fold)
    if monoid == "prod":
        return fold if first is ONE else mul(first, fold)
    if monoid in ("any", "all"):
        return fold if first is NEUTRAL[monoid] else (or_ if monoid == "any" else and_)(first, fold)
    some = fold if first is NEUTRAL[monoid] else integers.flattened(monoid, (first, fold))
    return where(integers.less(0, t), some, first)


def split(made: Expr, unknown: Expr) -> tuple[str, Expr] | None:
    """(⊕, f) with made = unknown ⊕ f and f free of the unknown; None if made is not so."""
    found = _split(made, unknown)
    return None if found is None or found[0] == "" else found


def _split(made: Expr, a: Expr) -> tuple[str, Expr] | None:
    if made is a:
        return "", TRUE
    match made:
        case Add(parts):
            return _apart("sum", parts, a, lambda rest: add(*rest))
        case Mul(parts):
            return _apart("prod", parts, a, lambda rest: mul(*rest))
        case Extremum(op, parts):
            return _apart(op, parts, a, lambda rest: integers.flattened(op, tuple(rest)))
        case Or(parts):
            return _apart("any", parts, a, lambda rest: or_(*rest))
        case And(parts):
            return _apart("all", parts, a, lambda rest: and_(*rest))
        case Where(condition, then, otherwise) if not mentions(condition, a):
            sides = _split(then, a), _split(otherwise, a)
            if sides[0] is None or sides[1] is None:
                return None
            monoids = {monoid for monoid, _ in cast(Any, sides) if monoid}
            if len(monoids) > 1:
                return None
            monoid = monoids.pop() if monoids else ""
            branches = [NEUTRAL[monoid] if monoid and not m else f for m, f in cast(Any, sides)]
            return monoid, where(condition, *branches) if monoid else TRUE
    return None


def _apart(monoid: str, parts: Sequence[Expr], a: Expr, make: Callable[[list[Expr]], Expr]) -> tuple[str, Expr] | None:
    rest = [part for part in parts if part is not a]
    if len(rest) != len(parts) - 1 or any(mentions(part, a) for part in rest):
        return None
    return monoid, make(rest)


# --------------------------------------------------------------------------------------- rescaled to a running maximum


def rescaled(machine: Machine, place: Place, t: Index, one: Carried, carried: list[Carried]) -> bool:
    """a' = a·exp(λ(m − m')) + f(t, m'), where m is a running maximum and f(t, m')·exp(λm') is free of m'."""
    maxima = [c for c in carried if c.monoid == "max"]
    made = known_by(one, carried, t, keep=maxima)
    for top in maxima:
        for old in [e for e in walk(made) if isinstance(e, Load) and e.leaf is top.leaf]:
            assert top.after is not None
            solved = {c.leaf: c.closed for c in carried if c.closed is not None and c not in maxima}
            new = integers.tidied(with_closed(top.after[old.indices], solved, t))
            held = Load(Leaf(f"new {top.leaf.name}", (1,) * len(old.indices), "real"), old.indices)
            body = replaced(made, {new: held})
            found = taken_apart(body, one.unknown, old, held)
            if found is None:
                continue
            scale, part = found
            if loads_of(part, [c.leaf for c in carried]) or not rescaled_step(
                body, one.unknown, old, held, scale, part
            ):
                continue
            machine.steps[str(place)] = machine.steps.get(str(place), 0) + 1
            one.closed = rescaled_form(place, t, one, top, old, held, scale, part)
            return True
    return False


def rescaled_form(
    place: Place, t: Index, one: Carried, top: Carried, old: Load, held: Expr, scale: Expr, part: Expr
) -> Closed:
    """Σ_{s<t} f(s, mₜ), where the maximum is finite from the first iteration on."""
    assert top.closed is not None
    now = top.closed.at(t, old.indices)
    s = index(t)
    total: Expr = Fold("sum", (s,), replaced(substitute(part, {t: s}), {held: now}))
    start = numbers(top.start)[old.indices]
    if start is not NEG_INF and one.first is not ZERO:
        total = add(total, mul(one.first, exp(mul(scale, add(start, mul(-1, now))))))
    first = top.closed.at(ONE, old.indices)
    safe = where(finite_where(first), total, undefined(place, "real", *one.lanes, t))
    return Closed(where(integers.less(0, t), safe, one.first), t, one.lanes)


def taken_apart(made: Expr, a: Expr, old: Expr, new: Expr) -> tuple[Expr, Expr] | None:
    """(λ, f) with made = a·exp(λ(old − new)) + f and f·exp(λ·new) free of new; None if made is not so."""
    terms = made.terms if isinstance(made, Add) else (made,)
    with_a = [term for term in terms if mentions(term, a)]
    rest = [term for term in terms if not mentions(term, a)]
    if len(with_a) != 1 or not isinstance(with_a[0], Mul) or any(mentions(term, old) for term in rest):
        return None
    factors = [f for f in with_a[0].factors if f is not a]
    if len(factors) != len(with_a[0].factors) - 1 or not all(isinstance(f, Fn) and f.name == "exp" for f in factors):
        return None
    exponent = add(*(f.argument for f in factors if isinstance(f, Fn)))
    scale, falls = coefficient(exponent, old), coefficient(exponent, new)
    if scale is None or falls is None or integers.tidied(mul(-1, falls)) is not integers.tidied(scale):
        return None
    if left_over(exponent, (old, new)) or not all(degree_is(term, new, scale) for term in rest):
        return None
    return scale, add(*rest)


def coefficient(expr: Expr, symbol: Expr) -> Expr | None:
    """c where the expression is c·symbol + something free of it; None if it is not so."""
    total: Expr = ZERO
    for term in expanded(expr):
        if term is symbol:
            total = add(total, 1)
        elif mentions(term, symbol):
            factors = list(term.factors) if isinstance(term, Mul) else []
            if factors.count(symbol) != 1:
                return None
            factors.remove(symbol)
            rest = mul(*factors)
            if mentions(rest, symbol):
                return None
            total = add(total, rest)
    return total


def left_over(expr: Expr, symbols: Sequence[Expr]) -> bool:
    return any(not any(mentions(term, s) for s in symbols) and term is not ZERO for term in expanded(expr))


def degree_is(expr: Expr, new: Expr, scale: Expr) -> bool:
    """Whether the expression is exp(−scale·new) times something free of `new`."""
    match expr:
        case Num(value) if value == 0:
            return True
        case Fn("exp", argument):
            found = coefficient(argument, new)
            return found is not None and integers.tidied(mul(-1, found)) is integers.tidied(scale)
        case Mul(factors):
            having = [f for f in factors if mentions(f, new)]
            return len(having) == 1 and degree_is(having[0], new, scale)
        case Add(terms):
            return all(degree_is(term, new, scale) for term in terms)
        case Fold("sum", bound, body):
            return not any(mentions(v.extent, new) for v in bound) and degree_is(body, new, scale)
        case Where(condition, then, otherwise):
            return not mentions(condition, new) and degree_is(then, new, scale) and degree_is(otherwise, new, scale)
    return False


def finite_where(expr: Expr) -> Expr:
    """A condition under which a maximum is not −∞: enough, not always needed."""
    match expr:
        case _ if not any(e is NEG_INF for e in walk(expr)):
            return TRUE
        case Where(condition, then, otherwise):
            return or_(and_(condition, finite_where(then)), and_(not_(condition), finite_where(otherwise)))
        case Fold("max", bound, body):
            some = [integers.less(0, v.extent) for v in bound]
            return and_(*some, finite_where(integers.tidied(substitute(body, {v: ZERO for v in bound}))))
        case Extremum("max", parts):
            return or_(*map(finite_where, parts))
        case Add(parts) | Mul(parts):
            return and_(*map(finite_where, parts))
    return FALSE


# ----------------------------------------------------------------------------------------------- where a maximum stands


def picked(machine: Machine, place: Place, t: Index, one: Carried, carried: list[Carried]) -> bool:
    """i' = i or t·B + argmax of a block, as the block's maximum is larger than all before: the argmax of all blocks.

    The first of several maxima is kept, within a block (as `aten.argmax` says) and between blocks (as `<` is strict).
    """
    maxima = [c for c in carried if c.monoid in ("max", "min")]
    made = known_by(one, carried, t, keep=maxima)
    if not isinstance(made, Where) or made.otherwise is not one.unknown or one.first is not ZERO:
        return False
    for top in maxima:
        found = [e for e in walk(made.condition) if isinstance(e, Load) and e.leaf is top.leaf]
        for old in found:
            assert top.after is not None
            solved = {c.leaf: c.closed for c in carried if c.closed is not None and c not in maxima}
            new = integers.tidied(with_closed(top.after[old.indices], solved, t))
            if not isinstance(new, Extremum) or old not in new.arguments or len(new.arguments) != 2:
                continue
            (best,) = (a for a in new.arguments if a is not old)
            ahead = compare("<", old, best) if top.monoid == "max" else compare("<", best, old)
            row = row_of(best, top.monoid)
            if made.condition is not ahead or row is None or numbers(top.start)[old.indices] is not NEUTRAL[top.monoid]:
                continue
            lane, body = row
            chosen = [e for e in walk(made.then) if isinstance(e, Opaque) and e.name == f"aten.arg{top.monoid}"]
            if len(chosen) != 1 or not same_row(chosen[0], lane, body):
                continue
            if integers.minus(made.then, chosen[0]) is not integers.times_(t, lane.extent):
                continue
            j = index(integers.times_(t, lane.extent))
            block_ = integers.quotient(j, lane.extent)
            whole = substitute(body, {t: block_, lane: integers.minus(j, integers.times_(block_, lane.extent))})
            place_ = Opaque(chosen[0].name, (), (Lambda((j,), integers.tidied(whole)),), (), "int")
            one.closed = Closed(where(integers.less(0, t), place_, ZERO), t, one.lanes)
            machine.steps[str(place)] = machine.steps.get(str(place), 0) + 1
            return True
    return False


def row_of(best: Expr, monoid: str) -> tuple[Index, Expr] | None:
    """The lane and body of a block's maximum."""
    if isinstance(best, Fold) and best.monoid == monoid and len(best.bound) == 1:
        return best.bound[0], best.body
    return None


def same_row(chosen: Opaque, lane: Index, body: Expr) -> bool:
    """Whether the position is that of the same block's maximum."""
    (row,) = chosen.arguments
    (v,) = row.bound
    return v.extent is lane.extent and integers.tidied(substitute(row.body, {v: lane})) is body


Rule = Callable[["Machine", Place, Index, Carried, "list[Carried]"], bool]
RULES: tuple[Rule, ...] = (unchanged, counter, last_value, folded, rescaled, picked)
