"""The largest elements of a row, one after the other, as kernels find them and as torch's operators do.

`torch.topk` gives what k rounds of a loop give that takes the greatest element of a row and strikes it out. So the
element number m of a row in falling order is the maximum of those that m positions leave, and stands at their argmax:

    place[m]  =  argmax_k {−∞ if k is one of place[0 … m − 1] else x[k]}          value[m]  =  max_k of the same

A kernel strikes out with whatever number is below all others, −1 among probabilities. That is −∞ to an argmax; to a
maximum where an element is left for sure, as fewer are struck out than there are. An element that is read at the place
of a row's maximum is that maximum. Values are as they are also where elements are equal; which of equal elements
`topk` names first it leaves open, so a place is only the same where no two of the largest are equal, and that is said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeGuard

from samesame.formula.definite import EVIDENT
from samesame.formula.expr import (
    NEG_INF,
    Expr,
    Fold,
    Index,
    Lambda,
    Load,
    NegInf,
    Num,
    Opaque,
    Where,
    index,
    or_,
    rebuild,
    substitute,
    where,
)
from samesame.formula.monotone import is_finite
from samesame.kernels.formulas.chosen import leaves, struck_out, up_to_its_end
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver

MOST = 8  # elements of a row that are told one by one
PLACE = "aten.argmax"
UNTIED = "no two of the largest elements of a row are equal"


@dataclass
class Ranked:
    """Rewrites formulas; `conditions` are what places of equal elements need."""

    prover: IndexProver
    conditions: dict[str, None] = field(default_factory=dict)
    memo: dict[Expr, Expr] = field(default_factory=dict)

    def __call__(self, e: Expr) -> Expr:
        if e not in self.memo:
            self.memo[e] = self.visit(rebuild(e, self))
        return self.memo[e]

    def visit(self, e: Expr) -> Expr:
        match e:
            case Opaque("aten.sort", ("values", (False, True)), (Lambda((v,), _) as row,), (k,), "real"):
                return by_turns(integers.minus(integers.minus(v.extent, 1), k), row, values_of) or e
            case Opaque("aten.topk", ("indices", (_, True, True)), (row,), (k,)) if is_finite(row.body):
                found = by_turns(k, row, places_of)
                self.conditions |= dict.fromkeys([UNTIED] if found is not None else [])
                return found or e
            case Opaque("aten.argmax", attributes, (Lambda((v,), body),), ()):
                row = up_to_its_end(self.prover, v, with_floor(body), NEG_INF)
                return Opaque(PLACE, attributes, (row,), (), "int")
            case Fold("max", (v,), body) if self.leaves_some(body, v):
                return Fold("max", (v,), with_floor(body))
            case Load(_, places):
                for at in places:
                    if isinstance(at, Where) and any(is_place(one) for _, one in leaves(at)):
                        return where(at.condition, *(self(moved(e, at, one)) for one in (at.then, at.otherwise)))
                return next(filter(None, (self.read_at(e, at) for at in places)), e)
        return e

    def read_at(self, element: Load, at: Expr) -> Expr | None:
        """An element that stands where a row has its maximum, and is that row's: the maximum."""
        if not is_place(at):
            return None
        (row,) = at.arguments
        (v,) = row.bound
        told = {value for _, value in leaves(row.body) if not isinstance(value, NegInf)}
        if told != {moved(element, at, v)} or not self.leaves_some(row.body, v):
            return None
        w = index(v.extent)
        return Fold("max", (w,), substitute(row.body, {v: w}))

    def leaves_some(self, body: Expr, v: Index) -> bool:
        """Whether elements are left for sure of a row that is at its lowest in places: fewer are struck out than lie
        below each end."""
        struck: dict[Expr, None] = {}
        ends = {v.extent: None}
        for path, value in leaves(body):
            if isinstance(value, NegInf | Num):
                out = next(filter(None, (struck_out(fact, v) for fact in path)), None)
                if out is None:
                    return False
                struck |= dict.fromkeys(out.points)
                ends |= dict.fromkeys(out.ends)
        return all(self.prover.proves((), integers.less(len(struck), end)) for end in ends)


# ------------------------------------------------------------------------------------------------ one after the other

Turn = tuple[Expr, Expr]  # the value of an element, and its place


def in_turn(row: Lambda, count: int) -> list[Turn]:
    """The largest elements of a row: each is the largest of those that are left."""
    (v,) = row.bound
    found: list[Turn] = []

    def left() -> tuple[Index, Expr]:
        w = index(v.extent)
        taken = or_(*(integers.equal(w, place) for _, place in found))
        return w, where(taken, NEG_INF, substitute(row.body, {v: w}))

    for _ in range(count):
        (k, rest), (m, others) = left(), left()
        found.append((Fold("max", (k,), rest), Opaque(PLACE, (), (Lambda((m,), others),), (), "int")))
    return found


def values_of(row: Lambda, count: int) -> list[Expr]:
    return [value for value, _ in in_turn(row, count)]


def places_of(row: Lambda, count: int) -> list[Expr]:
    return [place for _, place in in_turn(row, count)]


def by_turns(turn: Expr, row: Lambda, told: Callable[[Lambda, int], list[Expr]]) -> Expr | None:
    """What is told of the element of a row that comes at a turn, one of few; None where it may be any."""
    turn = integers.tidied(turn)
    if isinstance(turn, Num) and 0 <= turn.value < MOST:
        return told(row, int(turn.value) + 1)[-1]
    if not isinstance(turn, Index) or not isinstance(turn.extent, Num) or turn.extent.value > MOST:
        return None
    *first, last = told(row, int(turn.extent.value))
    for number, one in reversed(list(enumerate(first))):
        last = where(integers.equal(turn, number), one, last)
    return last


# ----------------------------------------------------------------------------------------------------- in a row


def is_place(e: Expr) -> TypeGuard[Opaque]:
    """Whether it says where a row, of one dimension, has its maximum."""
    return isinstance(e, Opaque) and e.name == PLACE and len(e.arguments[0].bound) == 1


def moved(element: Load, old: Expr, new: Expr) -> Load:
    """The element of the same tensor that stands elsewhere."""
    return Load(element.leaf, tuple(new if i is old else i for i in element.indices))


def with_floor(body: Expr) -> Expr:
    """The row with −∞ for a number that stands in places where nothing does, if all else is above it."""
    values = {value for _, value in leaves(body)}
    floors = {value for value in values if isinstance(value, Num)}
    others = values - floors - {NEG_INF}
    if not floors or not others or not all(EVIDENT.is_positive(e - n.value) for e in others for n in floors):
        return body

    def lowered(e: Expr) -> Expr:
        if isinstance(e, Where):
            return where(e.condition, lowered(e.then), lowered(e.otherwise))
        return NEG_INF if e in floors else e

    return lowered(body)
