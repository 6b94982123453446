"""Formulas made simple under what is known where they stand.

Masks, tiles and program ids are there for the machine; a formula does not need them. Under the facts at a place
(an output's index is in range, this branch is taken) Z3 decides conditions, so masks vanish. A fold whose body is the
monoid's neutral element outside a condition is a fold over where the condition holds; two bound variables that
occur only as t·B + l are one. Nothing is simplified that an undefined value or an infinity would forbid: 0·e is 0 only
for an e that always has a finite value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import cast

from samesame.formula import polynomials
from samesame.formula.definite import EVIDENT, MINUS
from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    TRUE,
    ZERO,
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fn,
    Fold,
    Index,
    Lambda,
    Load,
    Mul,
    Not,
    Num,
    Opaque,
    Or,
    Size,
    Where,
    add,
    and_,
    const,
    index,
    mul,
    not_,
    or_,
    rebuild,
    substitute,
    walk,
    where,
)
from samesame.formula.infinite import PLUS_INFINITY
from samesame.formula.order import order
from samesame.kernels import clock
from samesame.kernels.execution.operations import largest, smallest
from samesame.kernels.execution.positions import Position, position_in
from samesame.kernels.execution.values import is_finite
from samesame.kernels.formulas.algebra import NEUTRAL
from samesame.kernels.formulas.chosen import picked, up_to_its_end
from samesame.kernels.formulas.extended import decided, infinite_tag
from samesame.kernels.formulas.running import running
from samesame.kernels.formulas.shared import by_what_cases_share
from samesame.kernels.formulas.shorter import (
    across_lanes,
    by_digits,
    by_rows,
    by_terms,
    of_logarithm,
    pushed,
    shortened,
    without_choice,
)
from samesame.kernels.formulas.tight import has_one
from samesame.kernels.indices import integers
from samesame.kernels.indices.multiples import in_whole_groups
from samesame.kernels.indices.solver import Facts, IndexProver, outside, with_fact

ROUNDS = 12  # conditions of one fold's body that are looked at


class Simplifier:
    """Simplifies for one kernel. `wishes` collects conditions on sizes that would have made a formula simpler."""

    def __init__(self, prover: IndexProver) -> None:
        self.prover = prover
        self.wishes: dict[Expr, None] = {}
        self._memo: dict[tuple[Expr, Facts], Expr] = {}

    def __call__(self, expr: Expr, facts: Facts = ()) -> Expr:
        """The expression, simpler, equal to it wherever the facts hold."""
        key = expr, facts
        if key not in self._memo:
            clock.look()
            self._memo[key] = self._simplified(integers.tidied(expr), facts)
        return self._memo[key]

    def forget(self) -> None:
        """A new assumption makes earlier answers worth asking again."""
        self._memo.clear()

    def divides(self, number: int, size: Size) -> bool:
        """Whether a number divides a size by what is assumed of all sizes."""
        return self.prover.proves((), integers.equal(integers.remainder(size, const(number)), 0), thorough=False)

    def _simplified(self, expr: Expr, facts: Facts) -> Expr:
        match expr:
            case Where(condition, then, otherwise):
                return self._where(condition, then, otherwise, facts)
            case Fold(monoid, bound, body):
                return self._fold(monoid, bound, body, facts)
            case Compare() | Not() | And() | Or():
                return self._condition(expr, facts)
            case Lambda(bound, body):
                return Lambda(bound, self(body, outside(facts, bound)))
            case Opaque() if (position := position_in(expr)) is not None:
                return self._chosen(position, facts)
        new = in_whole_groups(integers.tidied(rebuild(expr, lambda e: self(e, facts))), self.divides)
        if isinstance(expr, FloorDiv) and isinstance(new, Add):  # in it are quotients that nobody has looked at
            return self(new, facts)
        match new:
            case FloorDiv(a, b):
                for k in (ZERO, const(1), const(-1), *rows_of(a, facts)):
                    rest = integers.minus(a, integers.times_(b, k))
                    if self.prover.proves(facts, and_(integers.at_least_zero(rest), integers.less(rest, b))):
                        return k
                for step, parts, rest in integers.in_steps(a, b):
                    if self.prover.proves(facts, and_(integers.at_least_zero(rest), integers.less(rest, step))):
                        return self(integers.quotient(parts, integers.quotient(b, step)), facts)
                return new
            case Extremum(op, parts) if new.kind == "int":
                return self._extremum(op, parts, facts)
            case Add() | Mul() if new.kind == "real":
                return self._arithmetic(new, facts)
            case Extremum(op, parts):
                return self._best(op, parts, facts)
            case Fn("exp", argument):
                whole = of_logarithm(self, argument, facts)
                return self._exponential(argument) if whole is None else self(whole, facts)
            case Fn("abs", Num(value)):
                return const(abs(value))
        return new

    # ----------------------------------------------------------------------------------------------- conditions

    def _condition(self, expr: Expr, facts: Facts) -> Expr:
        match expr:
            case And(parts):
                kept: list[Expr] = []
                for part in parts:
                    kept.append(self(part, (*facts, *(k for k in kept if k not in facts))))
                return and_(*dict.fromkeys(kept))
            case Or(parts):
                some = dict.fromkeys(self(part, facts) for part in parts)
                return TRUE if any(not_(part) in some for part in some) else or_(*some)
            case Not(part):
                return not_(self(part, facts))
        if expr in facts:
            return TRUE
        if not_(expr) in facts:
            return FALSE
        if isinstance(expr, Compare) and expr.left.kind == "int" and expr.right.kind == "int":
            if self.prover.proves(facts, expr):
                return TRUE
            if self.prover.proves(facts, not_(expr)):
                return FALSE
        new = integers.tidied(rebuild(expr, lambda e: self(e, facts)))
        if isinstance(new, Compare) and (sides := pushed(new) or by_rows(self, new, facts)) is not None:
            return self(sides, facts)
        known = decided(new) if isinstance(new, Compare) and new.left.kind == "real" else None
        return new if known is None else known

    def _where(self, condition: Expr, then: Expr, otherwise: Expr, facts: Facts) -> Expr:
        c = self(condition, facts)
        if c is TRUE:
            return self(then, facts)
        if c is FALSE:
            return self(otherwise, facts)
        sides = self(then, with_fact(facts, c)), self(otherwise, with_fact(facts, not_(c)))
        whole = running(self, c, *sides, facts)
        if whole is not None:
            return self(whole, facts)
        return without_choice(self, c, *sides, facts)

    def _extremum(self, op: str, parts: tuple[Expr, ...], facts: Facts) -> Expr:
        kept: list[Expr] = []
        for k, part in enumerate(parts):
            others = [*kept, *parts[k + 1 :]]
            beaten = (integers.at_most(part, o) if op == "max" else integers.at_most(o, part) for o in others)
            if not any(self.prover.proves(facts, b) for b in beaten):
                kept.append(part)
        return integers.flattened(op, tuple(kept))

    def _best(self, op: str, parts: tuple[Expr, ...], facts: Facts) -> Expr:
        """A maximum or minimum of reals; max{a, {x if c else −∞}} is {max{a, x} if c else a}, and max{0, x} is x, of an
        x that is never below 0."""
        best = largest if op == "max" else smallest
        others = tuple(part for part in parts if part is not ZERO)
        if op == "max" and len(others) < len(parts) and any(self._has_above_zero(part, facts) for part in others):
            return self._best(op, others, facts)
        for k, part in enumerate(parts):
            if isinstance(part, Where) and {part.then, part.otherwise} & {NEG_INF, PLUS_INFINITY}:
                then, otherwise = (best(*parts[:k], side, *parts[k + 1 :]) for side in (part.then, part.otherwise))
                return then if then is otherwise else where(part.condition, then, otherwise)
        return best(*parts)

    def _has_above_zero(self, part: Expr, facts: Facts) -> bool:
        """Whether it is a maximum of something, and nothing in it is below 0, or no maximum and not below 0 itself."""
        if not isinstance(part, Fold) or part.monoid != "max":
            return EVIDENT.never_negative(part)
        some = and_(*(integers.less(0, v.extent) for v in part.bound))
        return EVIDENT.never_negative(part.body) and self.prover.proves(outside(facts, part.bound), some)

    # ------------------------------------------------------------------------------------------------- arithmetic

    def _arithmetic(self, expr: Add | Mul, facts: Facts) -> Expr:
        parts = expr.terms if isinstance(expr, Add) else expr.factors
        for k, part in enumerate(parts):
            if isinstance(part, Where) and (part.then is NEG_INF or part.otherwise is NEG_INF):
                make = add if isinstance(expr, Add) else mul
                sides = (make(*parts[:k], side, *parts[k + 1 :]) for side in (part.then, part.otherwise))
                c = part.condition
                then, otherwise = (self(s, with_fact(facts, f)) for s, f in zip(sides, (c, not_(c)), strict=True))
                return where(c, then, otherwise)
        infinite = [part for part in parts if part is NEG_INF]
        rest = [part for part in parts if part is not NEG_INF]
        if isinstance(expr, Add) and infinite and all(is_finite(part) or self._is_some(part, facts) for part in rest):
            return NEG_INF
        tag = infinite_tag(expr)
        if tag is not None:
            return NEG_INF if tag == MINUS else PLUS_INFINITY
        if (shorter := shortened(self, expr, facts)) is not None:
            return shorter
        if isinstance(expr, Add):
            return self._adjacent(expr, facts)
        nothing = any(part is ZERO for part in parts) and all(map(EVIDENT.is_number, parts))
        return ZERO if nothing else expr

    def _is_some(self, part: Expr, facts: Facts) -> bool:
        """Whether it is a multiple of a maximum of numbers, over some that a mask shows."""
        match part:
            case Mul((Num(), factor)):
                return self._is_some(factor, facts)
            case Fold("max", bound, Where(condition, then, otherwise)) if otherwise is NEG_INF:
                return EVIDENT.is_number(then) and has_one(self.prover, bound, condition, facts)
        return False

    def _adjacent(self, expr: Add, facts: Facts) -> Expr:
        """Σ_{k<a} f(k) + Σ_{k<b} f(a + k) as Σ_{k<a+b} f(k), for a, b ≥ 0."""
        sums = [e for e in expr.terms if isinstance(e, Fold) and e.monoid == "sum" and len(e.bound) == 1]
        for first, second in permutations(sums, 2):
            (v,), (w,) = first.bound, second.bound
            shifted = integers.tidied(substitute(first.body, {v: integers.plus_(v.extent, w)}))
            some = and_(integers.at_least_zero(v.extent), integers.at_least_zero(w.extent))
            if shifted is second.body and self.prover.proves(facts, some):
                whole = index(integers.plus_(v.extent, w.extent))
                rest = [p for p in expr.terms if p is not first and p is not second]
                return add(*rest, Fold("sum", (whole,), integers.tidied(substitute(first.body, {v: whole}))))
        return expr

    def _exponential(self, argument: Expr) -> Expr:
        if argument is NEG_INF:
            return ZERO
        if isinstance(argument, Where) and NEG_INF in (argument.then, argument.otherwise):
            return where(argument.condition, self._exponential(argument.then), self._exponential(argument.otherwise))
        return cast(Expr, Fn("exp", argument))

    # ------------------------------------------------------------------------------------------------------- folds

    def _chosen(self, position: Position, facts: Facts) -> Expr:
        """Which element is greatest does not depend on elements of −∞ at the end; of the last of several, not if there
        is a greater one. Positions must not shift."""
        row = position.row
        (v,) = row.bound
        facts = outside(facts, row.bound)
        body, domain = self._conditions(position.monoid, row.bound, self(row.body, facts), facts)
        bound, body = self._shrunk(row.bound, body, domain, facts, NEUTRAL[position.monoid])
        grown = len(bound) == 1 and self.prover.proves(facts, integers.less(0, bound[0].extent))
        if grown:
            grown = self(integers.tidied(substitute(row.body, {v: bound[0]})), facts) is body
        if position.tie == "last":
            grown = grown and EVIDENT.is_number(body)
        found = Lambda(bound, body) if grown else Lambda((v,), self(row.body, facts))
        if not grown and position.tie == "first":
            shorter = up_to_its_end(self.prover, v, found.body, NEUTRAL[position.monoid], facts)
            found = Lambda(shorter.bound, self(shorter.body, facts))
        return replace(position, row=found).to_expr()

    def _fold(self, monoid: str, bound: tuple[Index, ...], body: Expr, facts: Facts) -> Expr:
        facts = outside(facts, bound)
        bound, body = self._opened(monoid, bound, body, facts)
        facts = outside(facts, bound)
        bound, body = by_digits(self, *self._fresh(bound, body, facts), facts)
        body = self(body, facts)
        for v in bound if monoid == "sum" else ():
            if (one := picked(self.prover, v, body, facts)) is not None and not any(v in w.extent.free for w in bound):
                bound, body = tuple(w for w in bound if w is not v), self(one, facts)
        if monoid == "sum" and (parts := by_what_cases_share(body, bound)) is not None:
            return self(add(*(Fold("sum", bound, part) for part in parts)), facts)
        if monoid == "sum" and (sums := by_terms(self, bound, body, facts)) is not None:
            return self(add(*sums), facts)
        while isinstance(body, Fold) and body.monoid == monoid:
            bound, body = (*bound, *body.bound), body.body
        bound, body = across_lanes(self, monoid, bound, body, facts)
        neutral = NEUTRAL[monoid]
        if body is neutral or any(self.prover.proves(facts, integers.at_most(v.extent, 0)) for v in bound):
            return neutral
        before = bound, body
        body, domain = self._from_zero(bound, body, facts) if monoid == "max" else (body, [])
        if domain:
            neutral = ZERO
        else:
            body, domain = self._conditions(monoid, bound, body, facts)
        bound, body = self._shrunk(bound, body, domain, facts, neutral)
        if monoid in ("max", "min") and domain:
            some = and_(*(integers.less(0, v.extent) for v in bound))
            if not self.prover.proves(facts, some):
                if some.free & frozenset(bound):  # one range ends where another one's element says
                    return nested(monoid, *before)
                return where(some, Fold(monoid, bound, body), neutral)
        if body is neutral:
            return neutral
        bound, body = self._pinned(bound, body)
        bound, body = self._constant(monoid, bound, body, facts)
        return nested(monoid, bound, body)

    def _from_zero(self, bound: tuple[Index, ...], body: Expr, facts: Facts) -> tuple[Expr, list[Expr]]:
        """Of a maximum of what is never below zero, in which 0 stands for the lanes that are left out, by rows and by
        columns: the body for the others, and the conditions under which a lane is one of these."""
        inside: list[Expr] = []
        some = and_(*(integers.less(0, v.extent) for v in bound))
        if EVIDENT.never_negative(body) and self.prover.proves(facts, some):
            for candidate in conditions(body, bound):
                for holds in (candidate, not_(candidate)):
                    if self(body, with_fact((*facts, *inside), not_(holds))) is ZERO:
                        inside.append(holds)
                        body = self(body, (*facts, *inside))
                        break
        return body, inside

    def _opened(
        self, monoid: str, bound: tuple[Index, ...], body: Expr, facts: Facts
    ) -> tuple[tuple[Index, ...], Expr]:
        """Folds of a fold as one fold over both ranges, before the inner one is looked at by itself."""
        while True:
            if monoid == "sum" and isinstance(body, Mul):
                body = times_within(body)
            if isinstance(body, Fold) and body.monoid == monoid:
                bound, body = (*bound, *body.bound), body.body
            elif isinstance(body, Where) and not body.condition.free & frozenset(bound):
                c = self(body.condition, facts)
                if c is not TRUE and c is not FALSE:
                    return bound, body
                body = body.then if c is TRUE else body.otherwise
            else:
                return bound, body

    def _fresh(self, bound: tuple[Index, ...], body: Expr, facts: Facts) -> tuple[tuple[Index, ...], Expr]:
        """The bound variables with simpler extents."""
        values: dict[Index, Expr] = {}
        for v in bound:
            extent = self(substitute(v.extent, values), facts)
            values[v] = v if extent is v.extent else index(extent)
        changed = {v: w for v, w in values.items() if v is not w}
        new = tuple(cast(Index, values[v]) for v in bound)
        return new, substitute(body, changed) if changed else body

    def _pinned(self, bound: tuple[Index, ...], body: Expr) -> tuple[tuple[Index, ...], Expr]:
        """Without variables that have one value."""
        ones = [v for v in bound if isinstance(v.extent, Num) and v.extent.value == 1]
        if not ones:
            return bound, body
        return tuple(v for v in bound if v not in ones), integers.tidied(substitute(body, {v: ZERO for v in ones}))

    def _constant(
        self, monoid: str, bound: tuple[Index, ...], body: Expr, facts: Facts
    ) -> tuple[tuple[Index, ...], Expr]:
        """Without variables that the body does not mention."""
        for v in bound:
            used = v in body.free or any(v in w.extent.free for w in bound)
            least = integers.at_least_zero(v.extent) if monoid == "sum" else integers.less(0, v.extent)
            if used or not self.prover.proves(facts, least):
                continue
            if monoid == "sum":
                body = integers.tidied(mul(v.extent, body))
            elif monoid == "prod":
                continue
            bound = tuple(w for w in bound if w is not v)
        return bound, body

    def _conditions(
        self, monoid: str, bound: tuple[Index, ...], body: Expr, facts: Facts
    ) -> tuple[Expr, list[Expr]]:
        """The body without conditions, and those outside which it is neutral."""
        domain: list[Expr] = []
        tried: set[Expr] = set()
        if monoid == "any" and isinstance(body, And):  # whatever else is asked of it, a lane that is there passes masks
            domain = [c for c in body.arguments if c.free & frozenset(bound) and is_mask(c)]
            body = and_(*(c for c in body.arguments if c not in domain))
        for _ in range(ROUNDS):
            candidate = next((c for c in conditions(body, bound) if c not in tried), None)
            if candidate is None:
                break
            tried |= {candidate, not_(candidate)}
            inside = (*facts, *domain)
            for holds in (candidate, not_(candidate)):
                if self(body, with_fact(inside, not_(holds))) is NEUTRAL[monoid]:
                    domain.append(holds)
                    body = self(body, with_fact(inside, holds))
                    break
        return body, domain

    def _shrunk(
        self, bound: tuple[Index, ...], body: Expr, domain: list[Expr], facts: Facts, missing: Expr
    ) -> tuple[tuple[Index, ...], Expr]:
        """The fold over where the conditions hold: they shrink the ranges. Where one stays, as flags in data do, the
        body is `missing` without it."""
        bound, body, left = self._tiles(bound, body, domain, facts)
        bound, body, left = self._ranges(bound, body, left, facts)
        if domain:
            body = self(body, (*facts, *left))
        return bound, where(and_(*left), body, missing) if left else body

    def _tiles(
        self, bound: tuple[Index, ...], body: Expr, domain: list[Expr], facts: Facts
    ) -> tuple[tuple[Index, ...], Expr, list[Expr]]:
        """Two variables that occur only as t·B + l, where l < B, are one."""
        for _ in range(len(bound)):
            for t, lane in ((a, b) for a in bound for b in bound if a is not b):
                if t in lane.extent.free or lane in t.extent.free or any({t, lane} & v.extent.free for v in bound):
                    continue
                if not self.prover.proves(facts, integers.less(0, lane.extent)):
                    continue
                joined = index(integers.times_(t.extent, lane.extent))
                value = integers.minus(joined, integers.times_(t, lane.extent))
                new = integers.tidied(substitute(body, {lane: value}))
                limits = [integers.tidied(substitute(c, {lane: value})) for c in domain]
                if t in new.free or any(t in c.free for c in limits):
                    simpler = (
                        self(new, (*facts, *limits))
                        if t not in frozenset().union(*(c.free for c in limits), frozenset())
                        else new
                    )
                    if t in simpler.free or any(t in c.free for c in limits):
                        continue
                    new = simpler
                if joined not in new.free and not any(joined in c.free for c in limits):
                    continue
                bound = (*(v for v in bound if v not in (t, lane)), joined)
                body, domain = new, limits
                break
            else:
                break
        return bound, body, domain

    def _ranges(
        self, bound: tuple[Index, ...], body: Expr, domain: list[Expr], facts: Facts
    ) -> tuple[tuple[Index, ...], Expr, list[Expr]]:
        """Conditions `v ≤ r` and `r ≤ v` as shorter ranges; the others are left."""
        left = list(domain)
        for literal in domain:
            if literal not in left:
                continue
            change = self._shorter(bound, literal, [c for c in left if c is not literal], facts)
            if change is None:
                continue
            v, new, value = change
            left = [integers.tidied(substitute(c, {v: value})) for c in left if c is not literal]
            body = integers.tidied(substitute(body, {v: value}))
            bound = tuple(new if w is v else w for w in bound)
        for c in list(left):  # one after the other: two may imply each other
            if self.prover.proves((*facts, *(d for d in left if d is not c)), c):
                left.remove(c)
        return bound, body, left

    def _shorter(
        self, bound: tuple[Index, ...], literal: Expr, others: list[Expr], facts: Facts
    ) -> tuple[Index, Index, Expr] | None:
        """(v, w, value): the fold over v where the literal holds is the fold over w with v := value."""
        if not isinstance(literal, Compare) or literal.op != "≤" or literal.left is not ZERO:
            return None
        for v in bound:
            found = integers.linear(literal.right, v)
            if found is None or found[0] == 0 or any(v in w.extent.free for w in bound):
                continue
            slope, rest = found
            known = (*facts, *others)
            apart = (*facts, *(c for c in others if v not in c.free))    # these hold where v has no value, too
            if slope < 0:  # slope·v + rest ≥ 0:  v ≤ ⌊rest / −slope⌋
                end = integers.plus_(integers.quotient(rest, const(-slope)), 1)
                if self.prover.proves(known, integers.at_most(v.extent, end)):
                    return v, v, v
                if self.prover.proves(apart, integers.at_most(end, v.extent)):
                    new = index(end)
                    return v, new, new
                if not end.free and not v.extent.free:
                    self.wishes[integers.at_most(end, v.extent)] = None
                if not (end.free | v.extent.free) & frozenset(bound):
                    new = index(integers.flattened("min", (v.extent, end)))
                    return v, new, new
            elif slope == 1:  # v ≥ −rest
                start = integers.minus(0, rest)
                if self.prover.proves(known, integers.at_most(start, 0)):
                    return v, v, v
                if self.prover.proves(apart, and_(integers.at_most(0, start), integers.at_most(start, v.extent))):
                    new = index(integers.minus(v.extent, start))
                    return v, new, integers.plus_(new, start)
        return None


def rows_of(number: Expr, facts: Facts) -> Iterator[Index]:
    """Indices that a quotient of the number may be, as the facts compare them with others in it: ⌊(i + 2·j) / 4⌋ is j
    where 0 ≤ i − 2·j < 4."""
    for v in sorted((v for v in number.free if (v,) in polynomials.polynomial(number)), key=order):
        if any(v in fact.free and fact.free & number.free - {v} for fact in facts):
            yield v


def is_mask(condition: Expr) -> bool:
    """Whether it compares integers, none of which data says."""
    return isinstance(condition, Compare) and not any(isinstance(e, Load | Opaque | Fold) for e in walk(condition))


def times_within(expr: Mul) -> Expr:
    """A sum times numbers as the sum of what is multiplied by them: −Σ x is Σ −x."""
    *numbers, last = sorted(expr.factors, key=lambda factor: not isinstance(factor, Num))
    if isinstance(last, Fold) and last.monoid == "sum" and all(isinstance(factor, Num) for factor in numbers):
        return Fold("sum", last.bound, mul(*numbers, last.body))
    return expr


def nested(monoid: str, bound: tuple[Index, ...], body: Expr) -> Expr:
    """A fold in which a variable whose range depends on another one is folded inside it."""
    inner = tuple(v for v in bound if v.extent.free & frozenset(bound))
    if inner and len(inner) < len(bound):
        return Fold(monoid, tuple(v for v in bound if v not in inner), nested(monoid, inner, body))
    return Fold(monoid, bound, body) if bound else body


def conditions(expr: Expr, about: tuple[Index, ...]) -> Iterator[Expr]:
    """Parts of the conditions in an expression that mention one of the indices, and no index bound inside; those on
    data last, as they may hold others inside."""
    seen: set[Expr] = set()
    found: dict[Expr, None] = {}

    def visit(e: Expr, hidden: frozenset[Index]) -> None:
        if e in seen:
            return
        seen.add(e)
        if isinstance(e, Where):
            for part in literals(e.condition):
                if part.free & frozenset(about) and not part.free & hidden:
                    found[part] = None
        inner = hidden | frozenset(e.bound) if isinstance(e, Fold | Lambda) else hidden
        for child in e.children:
            visit(child, inner)

    visit(expr, frozenset())
    return iter(sorted(found, key=lambda part: any(isinstance(e, Load) for e in walk(part))))


def literals(condition: Expr) -> Iterator[Expr]:
    match condition:
        case And(parts) | Or(parts):
            for part in parts:
                yield from literals(part)
        case Not(part):
            yield from literals(part)
        case _:
            yield condition
