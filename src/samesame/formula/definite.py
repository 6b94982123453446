"""Signs and infinities of expressions, by how they are written.

Two notions are told apart. `signs` says of which signs a value may be wherever there is one: √x is not below zero,
which says nothing of x = −1. `tags` says whether there is one whatever finite numbers the leaves hold, and which
infinities it may be. What is a number of a sign everywhere, as 1 + x² is, is the one and the other.

                        wherever it has a value        whatever the leaves hold
                                                       is_number
    > 0                 above_zero                     is_positive
    ≥ 0                 never_negative                 is_nonnegative
    ≠ 0                 never_zero                     is_nonzero

Values are the extended reals. −∞ is below zero, and exp of it is 0; over floats −∞ − (−∞) and 0·∞ are NaN, and so no
values here. The greatest of nothing is −∞, as kernels have it. Elements of tensors count as finite, but for those that
nobody knows. A row of `SCALARS` says all that is asked of a function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product
from operator import mul

from samesame.formula import polynomials
from samesame.formula.expr import (
    Add,
    Expr,
    Extremum,
    Fn,
    Fold,
    Index,
    Leaf,
    Load,
    Mul,
    Named,
    NegInf,
    Num,
    Opaque,
    Pow,
    Where,
    add,
    le,
    lt,
    walk,
)
from samesame.formula.scalars import EVERYWHERE, LOGARITHMS, NOT_NEGATIVE, OF_ITS_SIGN, POSITIVE, ROUNDING, SCALARS

MINUS, FINITE, PLUS = -1, 0, 1
Tags = frozenset[int]                             # of these three
NUMBER: Tags = frozenset([FINITE])
NOTHING: Tags | None = None                       # it may be no number at all

Found = frozenset[int]                            # signs: of −1, 0 and 1
ANY: Found = frozenset([-1, 0, 1])
ABOVE, NOT_BELOW, NOT_ABOVE, BELOW = (frozenset(signs) for signs in ((1,), (0, 1), (-1, 0), (-1,)))

REMEMBERED = 1 << 14


@dataclass(frozen=True, slots=True)
class Unknown(Leaf):
    """Values that nobody knows. That a leaf is one of these tells it from a tensor, whatever tensors are called."""


@dataclass(frozen=True, slots=True)
class AboveZero(Leaf):
    """A tensor of reals of which each is known to be above zero, as a temperature is."""


def is_undefined(expr: Expr) -> bool:
    """Whether this is an undefined value itself."""
    return isinstance(expr, Load) and isinstance(expr.leaf, Unknown)


class Signs:
    """`least` knows a number that an integer is never below, and `holds` is asked whether a condition on integers holds
    where more is known of them than how they are written."""

    def __init__(
        self,
        least: Callable[[Expr], int | None] = polynomials.least,
        holds: Callable[[Expr], bool] = lambda condition: False,
    ) -> None:
        self.least, self.holds = least, holds
        self.tags = lru_cache(maxsize=REMEMBERED)(self._tags)
        self.signs = lru_cache(maxsize=REMEMBERED)(self._signs)

    # ---------------------------------------------------------------------------------- wherever there is a value

    def above_zero(self, e: Expr) -> bool:
        return self.signs(e) == ABOVE

    def never_negative(self, e: Expr) -> bool:
        return -1 not in self.signs(e)

    def never_zero(self, e: Expr) -> bool:
        return 0 not in self.signs(e)

    def is_finite(self, e: Expr) -> bool:
        """Whether no value of it is infinite."""
        found = self.tags(e)
        return found == NUMBER or (found is NOTHING and not any(map(self._is_infinity, walk(e))))

    def _is_infinity(self, e: Expr) -> bool:
        match e:
            case Fn(name, argument):              # −∞ at an end of its domain, as log 0
                return not self.in_domain(name, argument)
            case Fold("max" | "min", bound, _):
                return not self.some(bound)
        return isinstance(e, NegInf) or is_undefined(e) or (isinstance(e, Opaque) and e.kind == "real")

    def some(self, bound: Iterable[Index]) -> bool:
        """Whether there is something in these ranges."""
        return all(self.above_zero(v.extent) for v in bound)

    # ----------------------------------------------------------------------------------- whatever the leaves hold

    def is_number(self, e: Expr) -> bool:
        """Whether it has a finite value."""
        return self.tags(e) == NUMBER

    def is_positive(self, e: Expr) -> bool:
        return self.is_number(e) and self.above_zero(e)

    def is_nonnegative(self, e: Expr) -> bool:
        return self.is_number(e) and self.never_negative(e)

    def is_nonzero(self, e: Expr) -> bool:
        return self.is_number(e) and self.never_zero(e)

    def in_domain(self, name: str, argument: Expr) -> bool:
        """Whether a function has a value wherever its argument has a finite one, as far as that one's sign says."""
        row = SCALARS.get(name)
        enough = row.enough if row else ""
        return (name in EVERYWHERE or (enough == "> 0" and self.above_zero(argument))
                or (enough == "≥ 0" and self.never_negative(argument)))

    def _tags(self, expr: Expr) -> Tags | None:
        """The tags that the value may have; None where it may be NaN, undefined, or infinite by a division by zero."""
        match expr:
            case NegInf():
                return frozenset([MINUS])
            case Load():
                return NOTHING if is_undefined(expr) else NUMBER
            case Num() | Named():
                return NUMBER
            case Where(_, then, otherwise):
                return joined(map(self.tags, (then, otherwise)))
            case Extremum(op, parts):
                return combined(map(self.tags, parts), max if op == "max" else min)
            case Add(terms):
                return combined(map(self.tags, terms), plus)
            case Mul(factors):
                return self.of_product(factors, [self.tags(factor) for factor in factors])
            case Pow(base, q):
                fits = (q > 0 or self.never_zero(base)) and (q.denominator == 1 or self.never_negative(base))
                return NUMBER if fits and self.is_number(base) else NOTHING
            case Fn("exp", argument):
                found = self.tags(argument)
                return found and frozenset(PLUS if t == PLUS else FINITE for t in found)
            case Fn(name, argument):
                return NUMBER if self.is_number(argument) and self.in_domain(name, argument) else NOTHING
            case Fold(monoid, bound, body):
                return self._of_fold(monoid, bound, self.tags(body))
            case Opaque() if expr.kind == "real":
                return NOTHING
        return NUMBER if expr.kind in ("int", "bool") else NOTHING

    def of_product(self, factors: tuple[Expr, ...], found: list[Tags | None]) -> Tags | None:
        """The tags of a product of factors that have these: an infinity times what has no known sign is nothing."""
        infinite = [one for one in found if one != NUMBER]
        if not infinite:
            return NUMBER
        signs = [self.signs(factor) for factor, one in zip(factors, found, strict=True) if one == NUMBER]
        one = infinite[0]
        if len(infinite) > 1 or one is None or not {*signs} <= {ABOVE, BELOW}:
            return NOTHING                        # an infinity times what may be zero
        turned = -1 if signs.count(BELOW) % 2 else 1
        return frozenset(turned * t for t in one)

    def _of_fold(self, monoid: str, bound: tuple[Index, ...], body: Tags | None) -> Tags | None:
        if body is None:
            return NOTHING
        if monoid in ("sum", "prod"):
            return NUMBER if body == NUMBER else NOTHING if monoid == "prod" or {MINUS, PLUS} <= body else body | NUMBER
        return body if self.some(bound) else body | {{"max": MINUS, "min": PLUS}.get(monoid, FINITE)}

    # ------------------------------------------------------------------------------------------------------ signs

    def _signs(self, e: Expr) -> Found:
        found = self._as_written(e)
        if e.kind == "int":
            least = self.least(e)
            found &= ANY if least is None or least < 0 else ABOVE if least else NOT_BELOW
            if found != ABOVE:
                found &= ABOVE if self.holds(lt(0, e)) else NOT_BELOW if self.holds(le(0, e)) else ANY
        return found or ANY                       # of what never has a value, nothing is said

    def _as_written(self, e: Expr) -> Found:
        match e:
            case Num(value):
                return frozenset([(value > 0) - (value < 0)])
            case Named() | Load(AboveZero()):
                return ABOVE
            case NegInf():
                return BELOW
            case Where(_, then, otherwise):
                return self.signs(then) | self.signs(otherwise)
            case Extremum(op, parts):
                return made_of(max if op == "max" else min, map(self.signs, parts))
            case Add(parts):
                return ABOVE if is_rest_of_one(parts) else _added([self.signs(part) for part in self.blended(parts)])
            case Mul(parts):                      # x·x is a square
                several = Counter(parts).items()
                return made_of(mul, (frozenset(n**times for n in self.signs(part)) for part, times in several))
            case Pow(base, q):
                return self._of_power(base, q)
            case Fn(name, argument):
                return self._of_function(name, argument)
            case Fold(monoid, bound, body):
                return self._folded(monoid, bound, self.signs(body))
        return ANY

    def blended(self, parts: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """a + w·(b − a) as what has its signs, a and b, where w lies between 0 and 1."""
        for a, rest in (parts, parts[::-1]) if len(parts) == 2 else ():
            factors = rest.factors if isinstance(rest, Mul) else ()
            for d in factors:
                weights = [factor for factor in factors if factor is not d]
                terms = d.terms if isinstance(d, Add) else ()
                b = [term for term in terms if term != mul(-1, a)]
                if len(b) == len(terms) - 1 and all(self.signs(w) == ABOVE and is_below_one(w) for w in weights):
                    return a, add(*b)
        return parts

    def _of_power(self, base: Expr, q: Fraction) -> Found:
        """Nothing is 0 to a power below it, or a fractional power of what is below 0; and 1/∞ is 0."""
        even, whole = q.numerator % 2 == 0, q.denominator == 1
        powers = frozenset(n * n if even else n for n in self.signs(base) if (n or q > 0) and (n >= 0 or whole))
        return powers if q > 0 or self.is_finite(base) else powers | {0}

    def _of_function(self, name: str, argument: Expr) -> Found:
        found = self.signs(argument)
        if name in POSITIVE:
            return ABOVE if self.is_finite(argument) else NOT_BELOW
        if name == "abs":
            return frozenset(map(abs, found))
        if name in LOGARITHMS:
            return BELOW if is_below_one(argument) else self.signs(add(argument, -1))
        if name in ROUNDING:
            return found | {0}
        return found if name in OF_ITS_SIGN else NOT_BELOW if name in NOT_NEGATIVE else ANY

    def _folded(self, monoid: str, bound: tuple[Index, ...], body: Found) -> Found:
        neutral = {"sum": 0, "prod": 1, "max": -1, "min": 1}.get(monoid)
        if neutral is None or (monoid == "sum" and body >= {-1, 1}) or (monoid == "prod" and -1 in body):
            return ANY
        return body if self.some(bound) else body | {neutral}


def made_of(combine: Callable[[int, int], int], parts: Iterable[Found]) -> Found:
    return reduce(lambda a, b: frozenset(combine(x, y) for x, y in product(a, b)), parts)


def _added(parts: list[Found]) -> Found:
    for one, or_zero in ((ABOVE, NOT_BELOW), (BELOW, NOT_ABOVE)):
        if all(part <= or_zero for part in parts):
            return one if one in parts else or_zero
    return ANY


def is_rest_of_one(parts: tuple[Expr, ...]) -> bool:
    """Whether a sum is what is left of 1, or more, once something below one is taken away, as 1 − sigmoid(x) is."""
    number = next((part.value for part in parts if isinstance(part, Num)), Fraction(0))
    rest = [part for part in parts if not isinstance(part, Num)]
    return number >= 1 and len(rest) == 1 and is_below_one(mul(-1, rest[0]))


def is_below_one(e: Expr) -> bool:
    """Whether it is below one wherever it has a value."""
    match e:
        case Num(value):
            return value < 1
        case Extremum("min", parts):
            return any(map(is_below_one, parts))
        case Extremum("max", parts):
            return all(map(is_below_one, parts))
        case Fn("sigmoid", argument):
            return EVIDENT.is_finite(argument)    # it is one at ∞
    return False


# ------------------------------------------------------------------------------------------------------------- of tags


def joined(found: Iterable[Tags | None]) -> Tags | None:
    total: Tags = frozenset()
    for one in found:
        if one is None:
            return NOTHING
        total |= one
    return total


def combined(found: Iterable[Tags | None], make: Callable[[int, int], int | None]) -> Tags | None:
    """The tags of sums, maxima or minima of values with these tags."""
    total: Tags | None = None
    for k, one in enumerate(found):
        if one is None or (k and total is None):
            return NOTHING
        if total is None:
            total = one
            continue
        pairs = [make(a, b) for a, b in product(total, one)]
        if None in pairs:
            return NOTHING
        total = frozenset(pair for pair in pairs if pair is not None)
    return total


def plus(a: int, b: int) -> int | None:
    """−∞ + ∞ is nothing; else the infinite one of both decides."""
    return None if a * b < 0 else a or b


EVIDENT = Signs()                                 # what is seen without anything given
