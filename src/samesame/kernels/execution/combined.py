"""Reductions and scans of several values at once: lanes hold tuples, and a function combines two tuples into one.

    (max, position), (min, position)                    the largest element and where it stands, first or last
    (a ⊕ a', b ⊗ b', …)                                 each value by itself
    (mean, count, M)                                    Welford's moments, as one adds what two parts have seen
    (m, s·exp(m − m*) + s'·exp(m' − m*))                a maximum, and sums relative to it
    (a·a', a'·b + b')                                   maps x ↦ a·x + b one after the other: h[t] = a[t]·h[t−1] + b[t]

Moments and relative sums stand for others that are added up: a part with count c, total S and squares Q has the mean
S/c and M = Q − S²/c. That combining the tuples of two parts gives the tuple of both together is proved by Z3, and so is
that each lane's tuple is that of its own count, total and squares; then any order of combining gives the same. Counts
that are read from a tensor are taken to be at least 1, which is printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

from samesame.evidence import Refused
from samesame.formula.binders import replaced
from samesame.formula.definite import EVIDENT
from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    ONE,
    TRUE,
    ZERO,
    And,
    Compare,
    Expr,
    Fold,
    Index,
    Lambda,
    Leaf,
    Load,
    Not,
    Or,
    Truth,
    Where,
    add,
    and_,
    compare,
    eq,
    exp,
    index,
    lt,
    mul,
    not_,
    or_,
    power,
    substitute,
    walk,
    where,
)
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.operations import largest, smallest
from samesame.kernels.execution.positions import Position
from samesame.kernels.execution.ttir import Operation
from samesame.kernels.execution.values import block
from samesame.kernels.formulas.rational import simple
from samesame.kernels.indices import integers
from samesame.kernels.loops.inductive import Induction
from samesame.kernels.loops.recurrences import extrema

if TYPE_CHECKING:
    from samesame.kernels.execution.symbolic import Machine

Parts = tuple[Expr, ...]


@dataclass(frozen=True)
class Lanes:
    """Which lanes along an axis an element of the result is made of: all, or in a scan those up to its own; from the
    other end if it runs in reverse."""

    shape: tuple[Any, ...]
    axis: int
    scan: bool = False
    reverse: bool = False

    @property
    def result(self) -> tuple[Any, ...]:
        """The result's shape."""
        return self.shape if self.scan else self.shape[: self.axis] + self.shape[self.axis + 1 :]

    def over(self, i: Parts) -> tuple[Index, Parts]:
        """A variable that runs through the lanes of element i, and the block's indices at it."""
        axis, length = self.axis, self.shape[self.axis]
        if not self.scan:
            k = index(length)
            return k, (*i[:axis], k, *i[axis:])
        here = i[axis]
        k = index(integers.minus(length, here) if self.reverse else integers.plus_(here, 1))
        lane = integers.plus_(here, k) if self.reverse else k
        return k, (*i[:axis], lane, *i[axis + 1 :])


class Combining:
    """A function of two tuples: what it makes of a `left` and a `right` one."""

    def __init__(self, machine: Machine, operation: Operation, made: Parts, lanes: Lanes) -> None:
        self.machine, self.operation, self.made, self.lanes = machine, operation, made, lanes
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
        return Induction(self.nothing, [*path, *given], prover)


# ------------------------------------------------------------------------------------------------------------- moments


def moments(combining: Combining, blocks: list[Tensor]) -> tuple[Tensor, ...] | None:
    """(mean, count, M) in some order: None if the tuples are not of this kind."""
    if len(blocks) != 3:
        return None
    lanes = tuple(index(n) for n in blocks[0].shape)
    for roles in permutations(range(3)):
        if not adds_moments(combining, roles):
            continue
        own = tuple(integers.tidied(blocks[k][lanes]) for k in roles)
        if has_moments(combining, own):
            return moments_of(combining.lanes, blocks, roles)
        counts = counts_in(own[1])
        if counts and has_moments(combining, own, *(compare("≤", ONE, e) for e in counts)):
            combining.machine.counts |= {e.leaf.name for e in counts}
            return moments_of(combining.lanes, blocks, roles)
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


def counts_in(count: Expr) -> list[Load]:
    """Elements of tensors that a lane's count is made of: a kernel that puts parts together is given their counts."""
    return [e for e in walk(count) if isinstance(e, Load) and e.kind == "real" and e.leaf.name.endswith("*")]


def has_moments(combining: Combining, own: Parts, *given: Expr) -> bool:
    """Whether a lane's mean, count and M are those of its own count, total and squares."""
    parts = lane_moments(*own)
    question = combining.question(*given)
    told = tuple_of((0, 1, 2), *parts)
    return question.follows(seen(*parts)) and all(question.equal(a, b) for a, b in zip(own, told, strict=True))


def lane_moments(mean: Expr, count: Expr, spread: Expr) -> Parts:
    """(count, total, squares) of one lane, without quotients where these cancel."""
    total = simple(mul(mean, count))
    return count, total, simple(add(spread, mul(mean, mean, count)))


def moments_of(lanes: Lanes, blocks: list[Tensor], roles: tuple[int, ...]) -> tuple[Tensor, ...]:
    def at(place: int, *i: Expr) -> Expr:
        k, there = lanes.over(i)
        parts = lane_moments(*(integers.tidied(blocks[role][there]) for role in roles))
        return tuple_of(roles, *(summed(part, k) for part in parts))[place]

    return tuple(block(lanes.result, lambda *i, k=k: at(k, *i), "real") for k in range(3))


def summed(part: Expr, lane: Index) -> Expr:
    k = index(lane.extent)
    return Fold("sum", (k,), substitute(part, {lane: k}))


# --------------------------------------------------------------------------------------- a maximum and sums beside it


def relative(combining: Combining, blocks: list[Tensor]) -> tuple[Tensor, ...] | None:
    """(m, s, …) with sums relative to a maximum; None if the tuples are not of this kind."""
    lanes = tuple(index(n) for n in blocks[0].shape)
    for top in range(len(blocks)):
        others = [k for k in range(len(blocks)) if k != top]
        most = integers.tidied(blocks[top][lanes])
        finite = EVIDENT.is_number(most)
        sums = [integers.tidied(blocks[k][lanes]) for k in others]
        nothing = [or_(not_(compare("=", NEG_INF, most)), compare("=", ZERO, e)) for e in sums]
        if not finite and not all(map(combining.question().follows, nothing)):
            continue
        if all(adds_relative(combining, top, k, finite) for k in others):
            return relative_of(combining.lanes, blocks, top)
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


def relative_of(lanes: Lanes, blocks: list[Tensor], top: int) -> tuple[Tensor, ...]:
    def most(*i: Expr) -> Expr:
        k, there = lanes.over(i)
        return Fold("max", (k,), blocks[top][there])

    def total(place: int, *i: Expr) -> Expr:
        (k, there), now = lanes.over(i), most(*i)
        part = mul(blocks[place][there], exp(add(blocks[top][there], mul(-1, now))))
        return where(compare("=", NEG_INF, now), ZERO, Fold("sum", (k,), part))

    places = range(len(blocks))
    return tuple(block(lanes.result, most if k == top else lambda *i, k=k: total(k, *i), "real") for k in places)


# ------------------------------------------------------------------------------------------------ each value by itself


def one_by_one(combining: Combining, blocks: list[Tensor]) -> tuple[Tensor, ...] | None:
    """Values that are combined each by itself; None if some is not, or in a way that is no known monoid."""
    monoids = [
        monoid_of(made, a, b) for made, a, b in zip(combining.made, combining.left, combining.right, strict=True)
    ]
    if "" in monoids:
        return None

    def at(place: int, *i: Expr) -> Expr:
        k, there = combining.lanes.over(i)
        return Fold(monoids[place], (k,), blocks[place][there])

    return tuple(block(combining.lanes.result, lambda *i, k=k: at(k, *i), x.kind) for k, x in enumerate(blocks))


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


# -------------------------------------------------------------------------------------------- the largest and its place


def placed(combining: Combining, blocks: list[Tensor]) -> tuple[Tensor, ...] | None:
    """(max, position): the largest (smallest) element, and which of several equal ones it is: the one whose position
    is less or greater, or in a scan the one that comes first or last; None if the pairs are not of this kind."""
    if len(blocks) != 2 or blocks[1].kind != "int":
        return None
    lanes = combining.lanes
    choice = chosen_by(combining)
    probe = tuple(index(n) for n in lanes.result)
    k, there = lanes.over(probe)
    ahead = integers.minus(blocks[1][there], k)
    if choice is None or (k in ahead.free and not choice.by_order):
        return None

    def best(*i: Expr) -> Expr:
        k, there = lanes.over(i)
        return Fold(choice.monoid, (k,), blocks[0][there])

    def position(*i: Expr) -> Expr:
        k, there = lanes.over(i)
        found = Position(choice.monoid, choice.tie, Lambda((k,), blocks[0][there])).to_expr()
        if k in ahead.free:
            return blocks[1][tuple(substitute(e, {k: found}) for e in there)]
        return integers.plus_(found, integers.minus(blocks[1][there], k))

    return block(lanes.result, best, blocks[0].kind), block(lanes.result, position, "int")


@dataclass(frozen=True)
class Choice:
    """Which pair is kept: of the maximum or minimum, and of equal ones the first or the last; as their order says, or
    as their positions do."""

    monoid: str
    tie: str
    by_order: bool


def chosen_by(combining: Combining) -> Choice | None:
    """What pairs are chosen by, proved for all of them; None for anything else."""
    (a, i), (b, j) = combining.left, combining.right
    value, place = combining.made
    if not only_compares(value, (a, b)):
        return None
    question = combining.question()
    earlier = integers.less(i, j)
    ties = {("first", False): earlier, ("last", False): integers.less(j, i)}
    if combining.lanes.scan and not combining.lanes.reverse:
        ties |= {("first", True): TRUE, ("last", True): FALSE}
    for monoid, is_ahead in (("max", lt(b, a)), ("min", lt(a, b))):
        for (tie, by_order), left in ties.items():
            kept = or_(is_ahead, and_(eq(a, b), left))
            if question.equal(value, where(kept, a, b)) and question.equal(place, where(kept, i, j)):
                return Choice(monoid, tie, by_order)
    return None


def only_compares(value: Expr, pair: Parts) -> bool:
    """Whether reals are only compared with each other and chosen from: what holds for all numbers then holds for
    infinities, too."""
    if value in pair:
        return True
    match value:
        case Where(condition, then, otherwise):
            compared = [e for e in walk(condition) if isinstance(e, Compare) and "real" in (e.left.kind, e.right.kind)]
            inside = all(e.left in pair and e.right in pair for e in compared)
            known = all(isinstance(e, CHOICES) or e.kind == "int" or e in pair for e in walk(condition))
            return inside and known and only_compares(then, pair) and only_compares(otherwise, pair)
    return False


# --------------------------------------------------------------------------------------- maps that follow one another


def followed(combining: Combining, blocks: list[Tensor]) -> tuple[Tensor, ...] | None:
    """(a, b) as the map x ↦ a·x + b, combined into the left one and then the right one: of a scan, Π a and
    Σ_s b[s]·Π_{r>s} a[r] up to each lane; None if the pairs are not of this kind."""
    lanes = combining.lanes
    if len(blocks) != 2 or not lanes.scan or lanes.reverse or any(x.kind != "real" for x in blocks):
        return None
    own = tuple(index(n) for n in lanes.shape)
    if not all(EVIDENT.is_number(integers.tidied(x[own])) for x in blocks):
        return None
    question = combining.question()
    for factor, term in ((0, 1), (1, 0)):
        (a, b), (c, d) = ((side[factor], side[term]) for side in (combining.left, combining.right))
        wanted = ((factor, mul(a, c)), (term, add(mul(c, b), d)))
        if all(question.equal(combining.made[k], e) for k, e in wanted):
            break
    else:
        return None

    def product(*i: Expr) -> Expr:
        k, there = lanes.over(i)
        return Fold("prod", (k,), blocks[factor][there])

    def total(*i: Expr) -> Expr:
        k, there = lanes.over(i)
        later = index(integers.minus(i[lanes.axis], k))
        beyond = (*i[: lanes.axis], integers.plus_(k, later, 1), *i[lanes.axis + 1 :])
        return Fold("sum", (k,), mul(blocks[term][there], Fold("prod", (later,), blocks[factor][beyond])))

    made = {factor: product, term: total}
    return tuple(block(lanes.result, made[k], "real") for k in range(2))


CHOICES = (Compare, And, Or, Not, Truth)
KINDS = (one_by_one, placed, moments, relative, followed)


def combined(
    machine: Machine, operation: Operation, made: Parts, blocks: list[Tensor], lanes: Lanes
) -> tuple[Tensor, ...]:
    """The tuple of all lanes together. Raises Refused where the function is of no known kind."""
    combining = Combining(machine, operation, made, lanes)
    for kind in KINDS:
        found = kind(combining, blocks)
        if found is not None:
            return found
    word = "scan" if lanes.scan else "reduction"
    raise Refused(
        f"{operation.place}: a {word} of {len(blocks)} values at once that is no maximum with its position, no mean "
        "with its spread, no sums beside a maximum, no a·x + b in turn, and does not combine each value by itself, is "
        "not supported"
    )
