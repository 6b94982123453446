"""Where integers lie, once loops have numbers: what an index is, what a condition decides, and where a loop is cut.

An index expression is read as a linear form over loop variables, and each variable lies in a span. So `t·16 + i < 40`
is true for t ≤ 1, whatever i < 16; false for t ≥ 3; and at t = 2 it says i < 8. A loop that is cut at these places has
nothing left to test: the full tiles come first, and then the ragged end, with a bound of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

from samesame.formula.expr import (
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Index,
    Load,
    Mod,
    Mul,
    Not,
    Num,
    Or,
    Truth,
    Where,
    walk,
)
from samesame.optimize.ir import Loop, Statement, When, expressions, statements

Bounds = tuple[float, float]                         # both inclusive; ±inf where nothing is known


@dataclass(frozen=True)
class Span:
    """Where a loop variable stands: what it is called in the printed code, and the values it takes there."""

    text: str
    low: int
    high: int


@dataclass(frozen=True)
class Linear:
    """constant + Σ coefficient·atom, where atoms are loop variables and integer expressions that are not linear."""

    constant: int
    terms: Mapping[Expr, int] = field(default_factory=dict)

    def __add__(self, other: Linear) -> Linear:
        terms = dict(self.terms)
        for atom, c in other.terms.items():
            terms[atom] = terms.get(atom, 0) + c
        return Linear(self.constant + other.constant, {atom: c for atom, c in terms.items() if c})

    def times(self, number: int) -> Linear:
        return Linear(self.constant * number, {atom: c * number for atom, c in self.terms.items()} if number else {})

    def slope(self, variable: Index) -> int | None:
        """The coefficient of a variable; None where the form is not linear in it."""
        if any(atom is not variable and mentions(atom, variable) for atom in self.terms):
            return None
        return self.terms.get(variable, 0)


def mentions(e: Expr, variable: Index) -> bool:
    return variable in e.free


class Spans(dict[Index, Span]):
    """The loop variables in scope."""

    def having(self, variable: Index, span: Span) -> Spans:
        return Spans({**self, variable: span})

    def linear(self, e: Expr) -> Linear:
        match e:
            case Num(value) if value.denominator == 1:
                return Linear(int(value))
            case Index():
                span = self[e]
                return Linear(span.low) if span.low == span.high else Linear(0, {e: 1})
            case Add(terms):
                total = Linear(0)
                for term in terms:
                    total += self.linear(term)
                return total
            case Mul(factors):
                forms = [self.linear(factor) for factor in factors]
                varying = [form for form in forms if form.terms]
                if len(varying) <= 1:
                    product = varying[0] if varying else Linear(1)
                    for form in forms:
                        product = product.times(form.constant) if not form.terms else product
                    return product
            case FloorDiv(a, b) | Mod(a, b):
                if (digit := self._digit(e, a, b)) is not None:
                    return digit
            case Where(condition, then, otherwise):
                if (chosen := self.decide(condition)) is not None:
                    return self.linear(then if chosen else otherwise)
        return Linear(0, {e: 1})

    def _digit(self, e: Expr, a: Expr, b: Expr) -> Linear | None:
        """A quotient or remainder that is linear: n·q + r has the quotient q wherever r lies in 0 … n−1."""
        form, divisor = self.linear(a), self.linear(b)
        n = divisor.constant
        if divisor.terms or n <= 0:
            return None
        whole = {atom: c // n for atom, c in form.terms.items() if c % n == 0}
        rest = Linear(form.constant % n, {atom: c for atom, c in form.terms.items() if c % n})
        low, high = self.bounds(rest)
        if low < 0 or high >= n:
            return None
        return Linear(form.constant // n, whole) if isinstance(e, FloorDiv) else rest

    def bounds(self, e: Expr | Linear) -> Bounds:
        form = e if isinstance(e, Linear) else self.linear(e)
        low = high = float(form.constant)
        for atom, c in form.terms.items():
            a, b = self._atom(atom)
            low, high = low + min(c * a, c * b), high + max(c * a, c * b)
        return low, high

    def _atom(self, e: Expr) -> Bounds:
        match e:
            case Index():
                return self[e].low, self[e].high
            case FloorDiv(a, b):
                (low, high), (n, m) = self.bounds(a), self.bounds(b)
                if n > 0 and abs(low) < inf and abs(high) < inf:
                    return (low // n if low < 0 else low // m), (high // n if high >= 0 else high // m)
            case Mod(_, b):
                return 0, self.bounds(b)[1] - 1
            case Extremum(op, parts):
                lows, highs = zip(*map(self.bounds, parts), strict=True)
                return (max(lows), max(highs)) if op == "max" else (min(lows), min(highs))
            case Where(_, then, otherwise):
                one, other = self.bounds(then), self.bounds(otherwise)
                return min(one[0], other[0]), max(one[1], other[1])
        return -inf, inf

    def negative(self, comparison: Compare) -> Linear:
        """The form that is below zero just where the comparison, `<` or `≤`, holds."""
        difference = self.linear(comparison.left) + self.linear(comparison.right).times(-1)
        return difference if comparison.op == "<" else difference + Linear(-1)

    def decide(self, condition: Expr) -> bool | None:
        """True or False where the condition is the same for all values of the variables."""
        match condition:
            case Truth(value):
                return value
            case Not(argument):
                inside = self.decide(argument)
                return None if inside is None else not inside
            case And(parts) | Or(parts):
                found = [self.decide(part) for part in parts]
                ends = isinstance(condition, Or)
                return ends if ends in found else None if None in found else not ends
            case Compare("=", left, right) if left.kind == right.kind == "int":
                low, high = self.bounds(self.linear(left) + self.linear(right).times(-1))
                return True if low == high == 0 else False if low > 0 or high < 0 else None
            case Compare(_, left, right) if left.kind == right.kind == "int":
                low, high = self.bounds(self.negative(condition))
                return True if high < 0 else False if low >= 0 else None
        return None

    def cuts(
        self, variable: Index, low: int, high: int, body: tuple[Statement, ...], least: int = 1
    ) -> list[int]:
        """low, then where 0 ≤ low < variable < high begins to decide a condition of the body otherwise, then high. What
        is chosen within a value is no reason where other variables decide between, as of a causal mask, and less than
        `least` rounds would be known."""
        inside = Spans(self)
        found = {low, high}
        everything = list(statements(body))
        for statement in everything:
            if isinstance(statement, Loop):
                extent = inside.bounds(statement.variable.extent)[1]
                inside[statement.variable] = Span("", 0, max(int(extent) - 1, 0))
        inside[variable] = Span("", low, max(low, high - 1))
        for statement in everything:
            for condition in {c for e in expressions(statement) for c in walk(e)}:
                if isinstance(condition, Compare) and condition.op != "=" and variable in condition.free:
                    ends = {at for at in inside._changes(condition, variable) if low < at < high}
                    short = 1 if len(ends) < 2 or isinstance(statement, When) else least
                    found.update(at for at in ends if at - low >= short and high - at >= short)
        return sorted(found)

    def _changes(self, condition: Compare, variable: Index) -> Iterator[int]:
        """Where a condition begins to be true, or false, for all values of the other variables."""
        if not condition.left.kind == condition.right.kind == "int":
            return
        form = self.negative(condition)
        slope = form.slope(variable)
        if not slope:
            return
        rest = Linear(form.constant, {atom: c for atom, c in form.terms.items() if atom is not variable})
        for end in self.bounds(rest):                # slope·v + end < 0  ⟺  v < −end / slope, or v > −end / slope
            if abs(end) < inf:
                yield -(int(end) // slope) if slope > 0 else int(end) // -slope + 1

    def in_range(self, load: Load) -> bool:
        ends = [self.bounds(at) for at in load.indices]
        return all(low >= 0 and high < self.bounds(size if isinstance(size, Expr) else Linear(size))[0]
                   for (low, high), size in zip(ends, load.leaf.shape, strict=True))
