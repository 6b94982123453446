"""Reductions of several values at once: lanes hold tuples, and a function combines two tuples into one.

    (max, position), (min, position)                    the largest element and where it stands first
    (a ⊕ a', b ⊗ b', …)                                 each value by itself
    (mean, count, M)                                    Welford's moments, as one adds what two parts have seen
    (m, s·exp(m − m*) + s'·exp(m' − m*))                a maximum, and sums relative to it

In the last two the tuples stand for others that are added up: a part with count c, total S and squares Q has the mean
S/c and M = Q − S²/c. That combining the tuples of two parts gives the tuple of both together is proved by Z3, and so is
that each lane's tuple is that of its own count, total and squares; then any order of combining gives the same.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any, cast

from samesame.evidence import Refused
from samesame.formula.expr import (
    NEG_INF,
    ONE,
    TRUE,
    ZERO,
    Expr,
    Fold,
    Index,
    Leaf,
    Load,
    add,
    and_,
    compare,
    exp,
    index,
    mul,
    not_,
    or_,
    power,
    substitute,
    where,
)
from samesame.formula.tensor import Tensor
from samesame.lift.execution.operations import largest, smallest
from samesame.lift.execution.ttir import Operation
from samesame.lift.execution.values import block
from samesame.lift.formulas.algebra import replaced
from samesame.lift.formulas.extended import is_number
from samesame.lift.formulas.rational import simple
from samesame.lift.indices import integers
from samesame.lift.loops.inductive import Induction
from samesame.lift.loops.recurrences import extrema

if TYPE_CHECKING:
    from samesame.lift.execution.symbolic import Machine

Parts = tuple[Expr, ...]


class Combining:
    """A function of two tuples: what it makes of a `left` and a `right` one."""

    def __init__(self, machine: Machine, operation: Operation, made: Parts) -> None:
        self.machine, self.operation, self.made = machine, operation, made
        names = operation.regions[0].arguments
        loads = [Load(Leaf(name, (), kind.kind), ()) for name, kind in names]
        half = len(loads) // 2
        self.left, self.right = tuple(loads[:half]), tuple(loads[half:])
        self.nothing = index(1)

    def of(self, left: Parts, right: Parts) -> Parts:
        values: dict[Expr, Expr] = {
            old: new for old, new in zip((*self.left, *self.right), (*left, *right), strict=True)
        }
        return tuple(integers.tidied(replaced(e, values)) for e in self.made)

    def question(self, *given: Expr) -> Induction:
        path, prover = self.machine.path, self.machine.prover
        return Induction(self.nothing, [*path, *prover.assumed, *given], prover.ranges)


# ------------------------------------------------------------------------------------------------------------- moments


def moments(combining: Combining, blocks: list[Tensor], axis: int) -> tuple[Tensor, ...] | None:
    """(mean, count, M) in some order: None if the tuples are not of this kind."""
    if len(blocks) != 3:
        return None
    for roles in permutations(range(3)):
        if adds_moments(combining, roles) and has_moments(combining, blocks, axis, roles):
            return moments_of(blocks, axis, roles)
    return None


def tuple_of(roles: tuple[int, ...], count: Expr, total: Expr, squares: Expr) -> Parts:
    """The tuple of what was seen, with mean, count and M at the places that `roles` gives."""
    some = not_(compare("=", ZERO, count))
    mean = where(some, mul(total, power(count, -1)), ZERO)
    spread = where(some, add(squares, mul(-1, total, total, power(count, -1))), ZERO)
    found = dict(zip(roles, (mean, count, spread), strict=True))
    return tuple(found[k] for k in range(3))


def seen(count: Expr, total: Expr, squares: Expr) -> Expr:
    """What counts, totals and squares are like: a count is 0, and then they are 0 too, or at least 1."""
    nothing = and_(*(compare("=", ZERO, e) for e in (count, total, squares)))
    return or_(nothing, compare("≤", ONE, count))


def adds_moments(combining: Combining, roles: tuple[int, ...]) -> bool:
    """Whether the tuples of two parts are combined into the tuple of both together."""
    one, two = (
        tuple(Load(Leaf(f"{name} {k}", (), "real"), ()) for name in ("count", "total", "squares")) for k in "ab"
    )
    made = combining.of(tuple_of(roles, *one), tuple_of(roles, *two))
    both = tuple_of(roles, *(add(a, b) for a, b in zip(one, two, strict=True)))
    question = combining.question(seen(*one), seen(*two))
    return all(question.equal(a, b) for a, b in zip(made, both, strict=True))


def has_moments(combining: Combining, blocks: list[Tensor], axis: int, roles: tuple[int, ...]) -> bool:
    """Whether each lane's tuple is that of its own count, total and squares."""
    lanes = tuple(index(n) for n in blocks[0].shape)
    mean, count, spread = (integers.tidied(blocks[k][lanes]) for k in roles)
    parts = lane_moments(mean, count, spread)
    question = combining.question()
    own = tuple(e for _, e in sorted(zip(roles, (mean, count, spread), strict=True)))
    told = tuple_of(roles, *parts)
    return question.follows(seen(*parts)) and all(question.equal(a, b) for a, b in zip(own, told, strict=True))


def lane_moments(mean: Expr, count: Expr, spread: Expr) -> Parts:
    """(count, total, squares) of one lane, without quotients where these cancel."""
    total = simple(mul(mean, count))
    return count, total, simple(add(spread, mul(mean, mean, count)))


def moments_of(blocks: list[Tensor], axis: int, roles: tuple[int, ...]) -> tuple[Tensor, ...]:
    shape = blocks[0].shape[:axis] + blocks[0].shape[axis + 1 :]

    def at(place: int, *i: Expr) -> Expr:
        lanes = (*i[:axis], index(blocks[0].shape[axis]), *i[axis:])
        parts = lane_moments(*(integers.tidied(blocks[k][lanes]) for k in roles))
        sums = [summed(part, cast(Index, lanes[axis])) for part in parts]
        return tuple_of(roles, *sums)[place]

    return tuple(block(shape, lambda *i, k=k: at(k, *i), "real") for k in range(3))


def summed(part: Expr, lane: Index) -> Expr:
    k = index(lane.extent)
    return Fold("sum", (k,), substitute(part, {lane: k}))


# --------------------------------------------------------------------------------------- a maximum and sums beside it


def relative(combining: Combining, blocks: list[Tensor], axis: int) -> tuple[Tensor, ...] | None:
    """(m, s, …) with sums relative to a maximum; None if the tuples are not of this kind."""
    lanes = tuple(index(n) for n in blocks[0].shape)
    for top in range(len(blocks)):
        others = [k for k in range(len(blocks)) if k != top]
        most = integers.tidied(blocks[top][lanes])
        finite = is_number(most)
        sums = [integers.tidied(blocks[k][lanes]) for k in others]
        nothing = [or_(not_(compare("=", NEG_INF, most)), compare("=", ZERO, e)) for e in sums]
        if not finite and not all(map(combining.question().follows, nothing)):
            continue
        if all(adds_relative(combining, top, k, finite) for k in others):
            return relative_of(blocks, axis, top)
    return None


def adds_relative(combining: Combining, top: int, place: int, finite: bool) -> bool:
    """Whether the maximum is that of both, and S·exp(−m) and S'·exp(−m') are combined into (S + S')·exp(−m*). Where
    maxima may be −∞, sums are 0 there."""
    some = [TRUE if finite else Load(Leaf(f"some {k}", (), "bool"), ()) for k in "ab"]
    tops = [where(c, side[top], NEG_INF) for c, side in zip(some, (combining.left, combining.right), strict=True)]
    sums = [where(c, Load(Leaf(f"sum {k}", (), "real"), ()), ZERO) for c, k in zip(some, "ab", strict=True)]
    most = integers.flattened("max", tuple(tops))
    tuples: list[list[Expr]] = [[*combining.left], [*combining.right]]
    for one, m, s, c in zip(tuples, tops, sums, some, strict=True):
        one[top], one[place] = m, where(c, mul(s, exp(mul(-1, m))), ZERO)
    made = combining.of(tuple(tuples[0]), tuple(tuples[1]))
    both = where(or_(*some), mul(add(*sums), exp(mul(-1, most))), ZERO)
    question = combining.question()
    return question.equal(made[top], most) and question.equal(made[place], both)


def relative_of(blocks: list[Tensor], axis: int, top: int) -> tuple[Tensor, ...]:
    shape = blocks[0].shape[:axis] + blocks[0].shape[axis + 1 :]

    def most(*i: Expr) -> Expr:
        k = index(blocks[top].shape[axis])
        return Fold("max", (k,), blocks[top][(*i[:axis], k, *i[axis:])])

    def total(place: int, *i: Expr) -> Expr:
        k, now = index(blocks[place].shape[axis]), most(*i)
        lanes = (*i[:axis], k, *i[axis:])
        part = mul(blocks[place][lanes], exp(add(blocks[top][lanes], mul(-1, now))))
        return where(compare("=", NEG_INF, now), ZERO, Fold("sum", (k,), part))

    return tuple(block(shape, most if k == top else lambda *i, k=k: total(k, *i), "real") for k in range(len(blocks)))


# ------------------------------------------------------------------------------------------------ each value by itself


def one_by_one(combining: Combining, blocks: list[Tensor], axis: int) -> tuple[Tensor, ...] | None:
    """Values that are combined each by itself; None if some is not, or in a way that is no known monoid."""
    monoids = [
        monoid_of(made, a, b) for made, a, b in zip(combining.made, combining.left, combining.right, strict=True)
    ]
    if "" in monoids:
        return None
    shape = blocks[0].shape[:axis] + blocks[0].shape[axis + 1 :]

    def at(place: int, *i: Expr) -> Expr:
        k = index(blocks[place].shape[axis])
        return Fold(monoids[place], (k,), blocks[place][(*i[:axis], k, *i[axis:])])

    return tuple(block(shape, lambda *i, k=k: at(k, *i), x.kind) for k, x in enumerate(blocks))


def monoid_of(made: Expr, a: Expr, b: Expr) -> str:
    """The name of the monoid in which `made` combines a and b; empty for none."""
    known: dict[str, Any] = {"sum": (add, integers.plus_), "prod": (mul, integers.times_)}
    if a.kind == "bool":
        known = {"any": (or_,), "all": (and_,)}
    for name, makers in known.items():
        if any(made is make(x, y) for make in makers for x, y in ((a, b), (b, a))):
            return name
    for name, best in (("max", largest), ("min", smallest)):
        if a.kind != "bool" and extrema(made) in (best(a, b), best(b, a)):
            return name
    return ""


KINDS = (one_by_one, moments, relative)


def combined(
    machine: Machine, operation: Operation, made: Parts, blocks: list[Tensor], axis: int
) -> tuple[Tensor, ...]:
    """The tuple of all lanes together. Raises Refused where the function is of no known kind."""
    combining = Combining(machine, operation, made)
    for kind in KINDS:
        found = kind(combining, blocks, axis)
        if found is not None:
            return found
    raise Refused(
        f"{operation.place}: a reduction of {len(blocks)} values at once that is no maximum with its position, no mean "
        "with its spread, no sums beside a maximum, and does not combine each value by itself, is not supported"
    )
