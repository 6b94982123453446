"""Formulas for people: comparisons with a size on each side, no quotient that a remainder says better, 1e-05 and not
1 / 100000, and an undefined value with the line that leaves it so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from samesame.formula import polynomials
from samesame.formula.binders import rebuilt
from samesame.formula.definite import Unknown
from samesame.formula.expr import (
    ZERO,
    Add,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fold,
    Leaf,
    Load,
    Mod,
    Mul,
    Not,
    Num,
    Opaque,
    Pow,
    add,
    mul,
    rebuild,
    walk,
)
from samesame.formula.order import order
from samesame.formula.polynomials import Polynomial, polynomial, without, written
from samesame.formula.show import SMALL_DENOMINATOR
from samesame.kernels.execution.values import WRAPS, place_of, undefined_at
from samesame.kernels.indices import integers


def presentable(expr: Expr) -> Expr:
    """The same expression, written as a person would."""
    memo: dict[Expr, Expr] = {}
    bits: dict[Expr, int] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = _shown(e, go) if not _is_of_bits(e) else _some_bits(e, bits.setdefault(e, len(bits) + 1))
        return memo[e]

    return go(expr)


def _shown(e: Expr, go: Callable[[Expr], Expr]) -> Expr:
    match e:
        case Load(Unknown() as leaf, indices):
            where = place_of(leaf).rpartition("/")[2]
            return Load(replace(leaf, name=undefined_at(where)), tuple(map(go, indices)))
        case Num(value) if value.denominator > SMALL_DENOMINATOR and abs(value) < 1:
            return Num(Fraction(float(value))) if Fraction(repr(float(value))) == value else e
        case Not(Compare(op, a, b)) if op == "≤" and a is ZERO and b.kind == "int":
            return go(integers.at_least_zero(integers.minus(-1, b)))
        case Compare(op, a, b) if a is ZERO and b.kind == "int":
            terms = polynomial(b)
            for sign in (1, -1) if op == "=" else ():
                rest = remainder_in({m: sign * c for m, c in terms.items()})
                if isinstance(rest, Mod):
                    return Compare("=", rebuild(rest, go), ZERO)
            left = {m: -c for m, c in terms.items() if c < 0 and m}
            right = {m: c for m, c in terms.items() if c > 0 and m}
            offset = terms.get((), 0)
            if op == "≤" and offset == -1 and right:
                return Compare("<", go(written(left)), go(written(right)))
            if offset:
                (right if offset > 0 else left)[()] = abs(offset)
            return Compare(op, go(written(left)), go(written(right)))
        case Fold(_, bound) if any(rounds(v.extent) is not v.extent for v in bound):
            extents = {v.extent: rounds(v.extent) for v in bound}
            return go(rebuilt(e, lambda part: extents.get(part, part)))
        case Add(terms) if e.kind == "real":
            factored = _factored(terms)
            if factored is not None:
                return go(factored)
    if e.kind == "int":
        found = remainder_in(polynomial(e))
        if found is not None:
            return rebuild(found, go)
    return rebuild(e, go)


def rounds(extent: Expr) -> Expr:
    """How far a fold goes, in fewer words: none are as few as less than none, and of min{c + a, b} − c is
    min{a, b − c} what is left."""
    if isinstance(extent, Extremum) and extent.op == "max" and ZERO in extent.arguments and len(extent.arguments) == 2:
        return rounds(next(part for part in extent.arguments if part is not ZERO))
    terms = polynomial(extent)
    for monomial, c in terms.items():
        (least, *others) = monomial or (ZERO,)
        if isinstance(least, Extremum) and least.op == "min" and not others and c == 1:
            rest = polynomials.plus(terms, {monomial: 1}, -1)
            parts = [polynomials.plus(polynomial(part), rest) for part in least.arguments]
            if sum(map(len, parts)) <= sum(len(polynomial(part)) for part in least.arguments):
                return integers.flattened("min", tuple(map(written, parts)))
    return extent


def _factored(terms: Sequence[Expr]) -> Expr | None:
    """Terms with one divisor that is itself a formula, such as a root of a sum, under one bar: (x − μ) / σ."""
    for divisor in (f for term in terms for f in _factors(term) if _is_divisor(f)):
        alike = [term for term in terms if divisor in _factors(term)]
        if len(alike) > 1:
            common = [f for f in _factors(alike[0]) if all(f in _factors(term) for term in alike)]
            common = [f for f in dict.fromkeys(common) if not isinstance(f, Num)]
            inside = add(*(mul(1, *(without(_factors(term), common) or ())) for term in alike))
            return add(mul(*common, inside), *(term for term in terms if term not in alike))
    return None


def _factors(term: Expr) -> tuple[Expr, ...]:
    return term.factors if isinstance(term, Mul) else (term,)


def _is_divisor(factor: Expr) -> bool:
    return isinstance(factor, Pow) and factor.exponent < 0 and any(isinstance(e, Fold) for e in walk(factor.base))


def _is_of_bits(e: Expr) -> bool:
    return isinstance(e, Opaque) and e.name.startswith(WRAPS)


def _some_bits(e: Expr, number: int) -> Expr:
    """What is computed bit by bit, such as random numbers, is named and not spelled out: bits[i, j]."""
    indices = tuple(sorted(e.free, key=order))
    return Load(Leaf("bits" if number == 1 else f"bits{number}", (1,) * len(indices), "int"), indices)


def remainder_in(terms: Polynomial) -> Expr | None:
    """x − y·⌊x/y⌋ as x mod y, with what is left over."""
    for monomial, c in terms.items():
        for atom in monomial:
            if not isinstance(atom, FloorDiv):
                continue
            others = list(monomial)
            others.remove(atom)
            if written({tuple(others): -c}) is not atom.divisor:
                continue
            rest = polynomials.plus(terms, {monomial: c}, -1)
            over = polynomials.plus(rest, polynomial(atom.numerator), -1)
            if len(over) < len(rest):
                return written(over) + Mod(atom.numerator, atom.divisor) if over else Mod(atom.numerator, atom.divisor)
    return None
