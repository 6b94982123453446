"""Sums, products and powers as text, for a language in which these are infix.

A term with a negative factor is subtracted, a factor with a negative exponent divides, and what one statement uses
twice is named once, in front of it. A printed value knows over which lanes it is `wide`: a truth value for C++, where
there is one variable of lanes, and the variables themselves for Triton. How a language writes numbers, functions and
loads is its own affair.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import log2
from typing import Any

from samesame.formula.expr import Add, Expr, Extremum, Fn, Load, Mul, Num, Pow, Where, const, walk

OPERATORS = {"<": "<", "≤": "<=", "=": "=="}


@dataclass(frozen=True)
class Text:
    code: str
    wide: Any = False


def from_largest(exponent: Expr) -> tuple[list[Expr], list[Expr]] | None:
    """What is worked out in an exponent, and what is read and subtracted from it: this may be the largest of the
    others, which then have to be rounded as they were for it, and be no part of a multiply-add. None where nothing is
    worked out."""
    terms = exponent.terms if isinstance(exponent, Add) else ()
    taken: list[Expr] = [term for term in terms if isinstance(term, Mul) and len(term.factors) == 2
                         and term.factors[0] == const(-1) and isinstance(term.factors[1], Load)]
    others = [term for term in terms if term not in taken]
    return (others, taken) if taken and not all(isinstance(term, Load) for term in others) else None


def may_cancel(e: Expr) -> bool:
    """Whether a product stands in a difference: where both sides are equal they leave nothing if each is rounded, and
    in a multiply-add what rounding took from one of them."""
    if not isinstance(e, Add) or e.kind != "real":
        return False
    terms = [term for term in e.terms if not isinstance(term, Num)]
    negative = [isinstance(term, Mul) and isinstance(term.factors[0], Num) and term.factors[0].value < 0
                for term in terms]
    return any(negative) and not all(negative) and any(map(is_product, terms))


def is_product(term: Expr) -> bool:
    """Whether it is rounded: a change of sign is not."""
    return isinstance(term, Mul) and len([factor for factor in term.factors if factor != const(-1)]) > 1


LITTLE = Fraction(1, 1 << 20)


def by_size(terms: tuple[Expr, ...]) -> list[Expr]:
    """The terms, with a number that is a little more or less than a whole one in two: 1 − p + 10⁻⁸ is no more than 0
    where p is 1 if 1 + 10⁻⁸ is taken together, which is 1 in float32. What is little comes last."""
    split, last = list[Expr](), list[Expr]()
    for term in terms:
        value = term.value if isinstance(term, Num) else Fraction(0)
        whole = round(value)
        little = whole != 0 and 0 < abs(value - whole) < LITTLE
        split.append(const(whole) if little else term)
        last += [const(value - whole)] if little else []
    return [*split, *last]


class Shared:
    """What expressions read, and what occurs in them more than once; and the next name for such a part."""

    worth: tuple[type[Expr], ...] = (Add, Mul, Pow, Fn, Extremum, Where)

    def __init__(self) -> None:
        self.count = 0
        self.seen: dict[Expr, tuple[frozenset[str], frozenset[Expr]]] = {}

    def parts(self, e: Expr) -> tuple[frozenset[str], frozenset[Expr]]:
        """The buffers that an expression reads, and what occurs in it more than once and is worth a name."""
        if e not in self.seen:
            whole = list(walk(e))
            often = Counter(child for part in whole for child in part.children)
            worth = (part for part, n in often.items() if n > 1 and isinstance(part, self.worth))
            loads = frozenset(part.leaf.name for part in whole if isinstance(part, Load))
            self.seen[e] = loads, frozenset(worth)
        return self.seen[e]


class Arithmetic:
    """One statement's value. `lazy`: in a branch that may not be taken, so that nothing may be computed beforehand."""

    narrow: Any = False                              # over no lanes
    begin, end = "", ""                              # of a line that names a value

    def __init__(self, common: Shared, whole: Expr, lazy: bool = False) -> None:
        self.common, self.lazy = common, lazy
        self.shared = common.parts(whole)[1]
        self.known: dict[Expr, Text] = {}
        self.names: list[str] = []

    def value(self, e: Expr) -> Text:
        if e not in self.known:
            text = self.printed(e)
            if e not in self.shared or self.lazy or text.code.isidentifier():
                return text
            self.known[e] = self.named(text)
        return self.known[e]

    def named(self, text: Text) -> Text:
        """The same by a name, which a line in front of the statement gives it."""
        self.common.count += 1
        name = f"t{self.common.count}"
        self.names.append(f"{self.begin}{name} = {text.code}{self.end}")
        return Text(name, text.wide)

    def printed(self, e: Expr) -> Text:
        raise NotImplementedError

    def literal(self, value: Fraction) -> str:
        raise NotImplementedError

    def root(self, base: str) -> str:
        raise NotImplementedError

    def raised(self, base: Text, exponent: Fraction) -> Text:
        """A power other than 1 and 1/2, positive."""
        raise NotImplementedError

    def rounded(self, text: Text) -> Text:
        """The same as no part of a multiply-add, where a language has words for that."""
        return text

    def sum(self, terms: tuple[Expr, ...], apart: bool = False) -> Text:
        """The terms one after another; products are rounded `apart` where that is asked for."""
        found, wide = "", self.narrow
        for term in by_size(terms):
            sign, inside = " + ", term
            if isinstance(term, Mul) and isinstance(term.factors[0], Num) and term.factors[0].value < 0:
                number, *rest = term.factors
                assert isinstance(number, Num)
                sign, inside = " - ", _product([*([] if number.value == -1 else [const(-number.value)]), *rest])
            elif isinstance(term, Num) and term.value < 0:
                sign, inside = " - ", const(-term.value)
            text = self.value(inside)
            text = self.rounded(text) if apart and is_product(inside) else text
            wide |= text.wide
            found += f"{sign}{text.code}" if found else f"{'-' if sign == ' - ' else ''}{text.code}"
        return Text(f"({found})", wide)

    def product(self, factors: tuple[Expr, ...], by_lanes: bool = False) -> Text:
        """In their order, so that it is rounded so wherever it stands; or factors over the same lanes first, a weight
        with its scale, which many rows then share."""
        above, below, wide, sign = dict[Any, list[str]](), list[str](), self.narrow, ""
        for factor in factors:
            if isinstance(factor, Num) and factor.value == -1:
                sign = "-"
                continue
            if isinstance(factor, Pow) and isinstance(factor.base, Num) and is_moderate(factor.base, factor.exponent):
                factor = const(Fraction(float(factor.base.value) ** float(factor.exponent)))      # no division by √2
            if isinstance(factor, Pow) and factor.exponent < 0:
                text = self.power(self.value(factor.base), -factor.exponent)
                below.append(text.code)
            else:
                text = self.value(factor)
                above.setdefault(text.wide if by_lanes else None, []).append(text.code)
            wide |= text.wide
        groups = [" * ".join(codes) for codes in above.values()]
        if len(groups) > 1:
            groups = [f"({group})" if len(codes) > 1 else group
                      for group, codes in zip(groups, above.values(), strict=True)]
        code = " * ".join(groups) if groups else self.literal(Fraction(1))
        for divisor in below:
            code = f"{code} / {divisor}"
        return Text(f"({sign}{code})", wide)

    def power(self, base: Text, exponent: Fraction) -> Text:
        if exponent < 0:
            return Text(f"({self.literal(Fraction(1))} / {self.power(base, -exponent).code})", base.wide)
        if exponent == 1:
            return base
        if exponent == Fraction(1, 2):
            return Text(self.root(base.code), base.wide)
        return self.raised(base, exponent)


def is_moderate(base: Num, exponent: Fraction) -> bool:
    """Whether the power is a number that every real dtype has."""
    return base.value > 0 and abs(float(exponent) * log2(base.value)) < 100


def _product(factors: list[Expr]) -> Expr:
    return factors[0] if len(factors) == 1 else Mul(tuple(factors))
