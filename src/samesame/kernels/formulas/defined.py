"""Whether a stored value is a number: no −∞ − (−∞), no 0·∞, no division by a sum of nothing.

A formula may be simpler than what it stands for: exp(z) / Σ_{k<32} exp(z) is 1/32, and yet NaN where z is −∞ − (−∞),
as for a row of which every lane is masked out. So the value is looked at as the kernel computes it, before anything
cancels, with what is known where it is stored. Conditions are put to the prover, and each part gets the tags that it
may have (`formula/definite.py`); a maximum is finite if one or another of its first elements is, a sum is above zero if
its first term is.

Division by a number that the data make zero is not looked at: x / y is what the kernel says it is.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from samesame.formula.definite import EVIDENT, FINITE, MINUS, NOTHING, NUMBER, PLUS, Tags, combined, joined, plus
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
    Fn,
    Fold,
    Index,
    Load,
    Mul,
    NegInf,
    Not,
    Num,
    Pow,
    Where,
    add,
    and_,
    mul,
    not_,
    or_,
    walk,
)
from samesame.formula.infinite import PLUS_INFINITY
from samesame.formula.polynomials import polynomial
from samesame.kernels.formulas.chosen import picked
from samesame.kernels.formulas.extended import known_by_prover
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.formulas.tight import Point, at, early, is_there, tight, whole
from samesame.kernels.indices.solver import Facts, IndexProver, outside, with_fact

COMPARED: dict[str, Callable[[int], bool]] = {  # of right − left
    "<": lambda apart: apart > 0,
    "≤": lambda apart: apart >= 0,
    "=": lambda apart: apart == 0,
}


class Definedness:
    """What parts of one kernel's values may be; `culprit` is the first part found that may be no number."""

    def __init__(self, prover: IndexProver) -> None:
        self.prover, self.simplify = prover, Simplifier(prover)
        self.culprit: Expr | None = None
        self._memo: dict[tuple[Expr, Facts], Tags | None] = {}

    def is_number(self, value: Expr, facts: Facts) -> bool:
        """Whether the value is a number wherever the facts hold, as far as infinities and empty sums go."""
        return value.kind != "real" or not needs_care(value) or self.tags(value, facts) is not None

    def tags(self, expr: Expr, facts: Facts) -> Tags | None:
        key = expr, facts
        if key not in self._memo:
            found = self._tags(expr, facts)
            if found is not None and MINUS in found:
                found = known_by(expr, found, facts)
            if found is None and self.culprit is None:
                self.culprit = expr
            self._memo[key] = found
        return self._memo[key]

    def _tags(self, expr: Expr, facts: Facts) -> Tags | None:
        match expr:
            case NegInf():
                return frozenset([MINUS])
            case Where(condition, then, otherwise):
                return self._where(condition, then, otherwise, facts)
            case Extremum(op, parts) if expr.kind == "real":
                return combined((self.tags(p, facts) for p in parts), max if op == "max" else min)
            case Add(terms) if expr.kind == "real":
                return combined((self.tags(t, facts) for t in terms), plus)
            case Mul(factors) if expr.kind == "real":
                return EVIDENT.of_product(factors, [self.tags(factor, facts) for factor in factors])
            case Pow(base, exponent) if expr.kind == "real":
                fine = self.tags(base, facts) == NUMBER and (exponent > 0 or not self.may_be_nothing(base, facts))
                return NUMBER if fine else NOTHING
            case Fn("exp", argument):
                found = self.tags(argument, facts)
                return found and frozenset(PLUS if t == PLUS else FINITE for t in found)
            case Fn(name, argument):
                empty = name == "log" and self.may_be_nothing(argument, facts)
                return NUMBER if self.tags(argument, facts) == NUMBER and not empty else NOTHING
            case Fold(monoid, bound, body) if expr.kind == "real":
                return self._fold(monoid, bound, body, facts)
        return NUMBER

    def decided(self, condition: Expr, facts: Facts) -> bool | None:
        """Whether a condition holds; a test for an infinity by what the value may be. None where that is not known."""
        if isinstance(condition, And) and all(self.decided(part, facts) for part in condition.arguments):
            return True
        test = condition.argument if isinstance(condition, Not) else condition
        if isinstance(condition, Not) and isinstance(test, And):
            so = self.decided(test, facts)
            return so if so is None else not so
        for infinity, one in ((NEG_INF, MINUS), (PLUS_INFINITY, PLUS)):
            if isinstance(test, Compare) and test.op == "=" and infinity in (test.left, test.right):
                found = self.tags(test.right if test.left is infinity else test.left, facts)
                if found is not None and (one not in found or len(found) == 1):
                    return (one in found) != isinstance(condition, Not)
        if isinstance(test, Compare) and test.left.kind == "real":
            so = self.differs_by_number(test, facts)
            return so if so is None else so != isinstance(condition, Not)
        if self.prover.proves(facts, condition):
            return True
        return False if self.prover.proves(facts, not_(condition)) else None

    def differs_by_number(self, test: Compare, facts: Facts) -> bool | None:
        """Whether a comparison of reals holds that differ by a number, whatever the data are, as x[0] < x[0] + 1."""
        if self.tags(test.left, facts) != NUMBER or self.tags(test.right, facts) != NUMBER:
            return None
        left, right = (self.simplify(side, facts) for side in (test.left, test.right))
        apart = polynomial(add(right, mul(-1, left)))
        return COMPARED[test.op](apart.get((), 0)) if apart.keys() <= {()} else None

    def _where(self, condition: Expr, then: Expr, otherwise: Expr, facts: Facts) -> Tags | None:
        decided = self.decided(condition, facts)
        if decided is not None:
            return self.tags(then if decided else otherwise, facts)
        sides = (then, with_fact(facts, condition)), (otherwise, with_fact(facts, not_(condition)))
        return joined(self.tags(side, known) for side, known in sides)

    def _fold(self, monoid: str, bound: tuple[Index, ...], body: Expr, facts: Facts) -> Tags | None:
        facts = outside(facts, bound)
        found = self.tags(body, facts)
        if found is None or monoid == "prod":
            return found if found == NUMBER else NOTHING
        if monoid == "sum":
            return NOTHING if {MINUS, PLUS} <= found else found
        worst = MINUS if monoid == "max" else PLUS
        bound, body = whole(Fold(monoid, bound, body))
        facts = outside(facts, bound)
        points = chain(early(bound), tight(bound, body))
        some = self.some_finite([at(p, body) for p in points if is_there(self.prover, bound, facts, p)], facts)
        return found - {worst} or NUMBER if some else found | {worst}

    def some_finite(self, values: list[Expr], facts: Facts) -> bool:
        """Whether one of these is always finite: the same one, or one or another, as where a mask leaves out no more
        than one place of a row (the best one, for the second best)."""
        if any(self.is_finite(value, facts) for value in values):
            return True
        return len(values) > 1 and self.prover.proves(facts, or_(*(self.shown(value, facts) for value in values)))

    def shown(self, value: Expr, facts: Facts) -> Expr:
        """A condition under which a value is finite, by the choices that stand in front."""
        if not isinstance(value, Where):
            return TRUE if self.is_finite(value, facts) else FALSE
        c = value.condition
        then, otherwise = with_fact(facts, c), with_fact(facts, not_(c))
        return or_(and_(c, self.shown(value.then, then)), and_(not_(c), self.shown(value.otherwise, otherwise)))

    def is_finite(self, value: Expr, facts: Facts) -> bool:
        return self.tags(value, facts) == NUMBER

    def is_told(self, value: Expr) -> bool:
        """Whether a formula says each of its infinities: it is finite, or −∞ or ∞ itself in some of its cases, as where
        a mask leaves scores out."""
        match value:
            case Where(condition, then, otherwise) if not any(isinstance(e, NegInf) for e in walk(condition)):
                return self.is_told(then) and self.is_told(otherwise)
            case NegInf() | Mul((Num(_), NegInf())):
                return True
        return not any(isinstance(e, NegInf) for e in walk(value)) or self.is_finite(value, ())

    def may_be_nothing(self, expr: Expr, facts: Facts) -> bool:
        """Whether this is a sum that may have no term, or none but those that a mask makes zero."""
        match expr:
            case Fold("sum", (v,), body) if (one := picked(self.prover, v, body, outside(facts, (v,)))) is not None:
                return self.may_vanish(one, facts)
            case Fold("sum"):
                bound, body = whole(expr)
                facts = outside(facts, bound)
                start: Point = dict.fromkeys(bound, ZERO)
                points = (start, *tight(bound, body))
                return not any(
                    is_there(self.prover, bound, facts, p) and not self.may_vanish(at(p, body), facts) for p in points
                )
            case Mul(factors):
                return any(self.may_be_nothing(factor, facts) for factor in factors)
            case Pow(base, _) | Fn("abs", base):
                return self.may_be_nothing(base, facts)
            case Add(terms):
                return all(self.may_be_nothing(term, facts) for term in terms)
            case Where(condition, then, otherwise):
                sides = ((then, condition), (otherwise, not_(condition)))
                return any(
                    self.may_be_nothing(side, with_fact(facts, c))
                    for side, c in sides
                    if self.decided(c, facts) is not False
                )
        return expr is ZERO

    def may_vanish(self, term: Expr, facts: Facts) -> bool:
        """Whether a mask may make a term zero: by `where`, or by exp(−∞)."""
        match term:
            case Where(condition, then, otherwise):
                sides = ((then, condition), (otherwise, not_(condition)))
                return any(
                    self.may_vanish(side, with_fact(facts, c))
                    for side, c in sides
                    if self.decided(c, facts) is not False
                )
            case Fn("exp", argument):
                return self.tags(argument, facts) != NUMBER
            case Mul(factors):
                return any(self.may_vanish(factor, facts) for factor in factors)
            case Fold("sum", _, _):
                return self.may_be_nothing(term, facts)
            case Num(value):
                return value == 0
        return False


def known_by(expr: Expr, found: Tags, facts: Facts) -> Tags:
    """What a test for −∞ that stands before says of a value."""
    tests = Compare("=", expr, NEG_INF), Compare("=", NEG_INF, expr)
    if any(not_(test) in facts for test in tests):
        return found - {MINUS} or NUMBER
    return frozenset([MINUS]) if any(test in facts for test in tests) else found


def needs_care(value: Expr) -> bool:
    """Whether an infinity, or a division by a sum or by nothing, occurs at all."""
    return any(
        isinstance(e, NegInf)
        or (isinstance(e, Pow) and e.exponent < 0 and any(isinstance(p, Fold) or p is ZERO for p in walk(e.base)))
        or (isinstance(e, Fn) and e.name == "log" and isinstance(e.argument, Fold))
        for e in walk(value)
        if not isinstance(e, Load)
    )


def may_be_an_infinity(value: Expr) -> bool:
    """Whether an infinity stands in it, or what no data say is divided by, or has its logarithm taken, and may be 0."""
    return any(isinstance(e, NegInf) for e in walk(value)) or may_divide_by_nothing(value)


def may_divide_by_nothing(value: Expr) -> bool:
    """Whether there is 1/e or log e of an e that indices and sizes make, and that is not shown to be above 0."""
    divisors = (e.base if isinstance(e, Pow) else e.argument for e in walk(value)
                if (isinstance(e, Pow) and e.exponent < 0) or (isinstance(e, Fn) and e.name == "log"))
    signs = known_by_prover(IndexProver(), ())
    return any(not signs.is_positive(e) for e in divisors if not any(isinstance(x, Load) for x in walk(e)))
