"""Sizes as polynomials in one canonical form, so that equal sizes are the same object.

A size is an int or an integer expression over size symbols: `2·T`, `B·T`, `T//4`. `canonical` multiplies out, sorts
and rebuilds; expressions are hash-consed, so after it `is` (and `==`, and a dictionary) compares sizes as polynomials.
Quotients, remainders, maxima and minima that do not simplify are atoms of the polynomial.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import prod
from typing import Any

from samesame.formula.binders import put
from samesame.formula.evaluate import Evaluation
from samesame.formula.expr import (
    Add,
    Expr,
    Extremum,
    FloorDiv,
    Fn,
    Mod,
    Mul,
    Named,
    Num,
    Pow,
    Size,
    Unsupported,
    add,
    const,
    floordiv,
    maximum,
    minimum,
    mod,
    mul,
    power,
    rebuild,
    walk,
)
from samesame.formula.order import order
from samesame.formula.polynomials import Polynomial, by_term, expanded, least, plus, written
from samesame.formula.show import unicode
from samesame.formula.tensor import Dim


def canonical(size: Dim) -> Dim:
    """The size in canonical form: an int if it is one. Raises Unsupported for what is no integer polynomial."""
    return size if isinstance(size, int) else _written(_polynomial(size))


def symbols(size: Any) -> frozenset[Size]:
    """The size symbols in a size."""
    return frozenset(e for e in walk(size) if isinstance(e, Size)) if isinstance(size, Expr) else frozenset()


def value_at(size: Dim, sizes: Mapping[str, int]) -> int:
    """The number that a size is at these values of its symbols, by name."""
    found = replaced(size, sizes)
    if not isinstance(found, int):
        raise KeyError(f"no value is given for a symbol of {size_text(size)}")
    return found


def replaced(size: Dim, values: Mapping[str, Dim]) -> Dim:
    """The size with other sizes in place of symbols, by name; symbols without a value stay."""
    if isinstance(size, int):
        return size
    match size:
        case Num(value) if value.denominator != 1:
            return size                                    # of a number such as 1/10·T^-1, which is no size
        case Fn() | Named():
            return size                                    # of one such as T·log 2π
        case Add() | Mul() | Pow() if size.kind == "real":
            return rebuild(size, lambda part: const(replaced(part, values)))
    return canonical(put(size, lambda e: const(values[e.name]) if isinstance(e, Size) and e.name in values else None))


def plain(size: Dim) -> Dim | float:
    """A number for what holds no symbols: an int, or a float for what is no size, such as 1/10·8^-1/2."""
    match size:
        case Num(value):
            return int(value) if value.denominator == 1 else float(value)
        case Fn() | Named():
            return float(Evaluation({}, {}, None).value(size).array)
        case Add(parts) | Mul(parts) if size.kind == "real" and not symbols(size):
            return float((sum if isinstance(size, Add) else prod)(map(_number, parts)))
        case Pow(base, exponent) if not _is_whole(exponent) and not symbols(size):
            return float(_number(base) ** float(exponent))
    return size


def _number(size: Dim) -> float:
    found = plain(size)
    assert not isinstance(found, Expr), f"{size_text(size)} holds symbols"
    return float(found)


def _is_whole(exponent: Fraction) -> bool:
    return exponent.denominator == 1 and exponent > 0


def size_text(size: Dim) -> str:
    """A size as people write it: `2·T`."""
    return str(size) if isinstance(size, int) else unicode(size)


def at_least(size: Dim) -> int | None:
    """A number that the size is never below, if one is evident from the symbols' minima."""
    return least(const(canonical(size)))


def encoded(size: Dim) -> Any:
    """The size as what the `json` module writes: a number, or an operator before its operands."""
    match size:
        case int():
            return size
        case Num(value):
            return int(value) if value.denominator == 1 else ["/", value.numerator, value.denominator]
        case Size(name, minimum):
            return ["size", name, minimum]
        case Add(parts):
            return ["+", *map(encoded, parts)]
        case Mul(parts):
            return ["·", *map(encoded, parts)]
        case FloorDiv(a, b):
            return ["//", encoded(a), encoded(b)]
        case Mod(a, b):
            return ["mod", encoded(a), encoded(b)]
        case Extremum(op, parts):
            return [op, *map(encoded, parts)]
        case Fn(name, argument):
            return ["fn", name, encoded(argument)]
        case Named(name):
            return ["named", name]
        case Pow(base, exponent):
            return ["^", encoded(base), exponent.numerator, exponent.denominator]
    raise Unsupported(f"{size_text(size)} is no size")


def decoded(form: Any) -> Dim:
    """The size that `encoded` wrote. Raises ValueError if it did not."""
    match form:
        case int():
            return form
        case ["size", str() as name, int() as minimum]:
            return Size(name, minimum)
        case ["/", int() as above, int() as below]:
            return Num(Fraction(above, below))
        case ["^", base, int() as above, int() as below]:
            return power(const(decoded(base)), Fraction(above, below))
        case ["fn", str() as name, argument]:
            return Fn(name, const(decoded(argument)))
        case ["named", str() as name]:
            return Named(name)
        case [str() as op, *parts] if op in MAKE:
            return MAKE[op](*(const(decoded(part)) for part in parts))
    raise ValueError(f"{form!r} is no size")


MAKE: dict[str, Callable[..., Expr]] = {
    "+": add, "·": mul, "//": floordiv, "mod": mod, "max": maximum, "min": minimum,
}


# ------------------------------------------------------------------------------------------------------- polynomials


def _polynomial(size: Dim) -> Polynomial:
    expr = const(size)
    found = expanded(expr, _polynomial)
    if found is not None:
        return found
    match expr:
        case FloorDiv(numerator, divisor):
            return _quotient(_polynomial(numerator), _polynomial(divisor))
        case Mod(numerator, divisor):
            return _remainder(_polynomial(numerator), _polynomial(divisor))
        case Extremum(op, parts):
            return _extremum(op, [canonical(part) for part in parts])
        case Size():
            return {(expr,): 1}
    raise Unsupported(f"{size_text(size)} is no size")


def _quotient(a: Polynomial, b: Polynomial) -> Polynomial:
    """a // b, where b is positive: what divides exactly leaves the quotient, and a number as much as leaves it a rest,
    so ⌊(n − 1)/2⌋ is ⌊(n + 1)/2⌋ − 1."""
    if len(b) == 1 and next(iter(b.values())) > 0:
        whole, rest = by_term(a, b)
        more, number = rest.get((), 0), b.get((), 0)
        if number > 0 and not 0 <= more < number:
            rest = {**rest, (): more % number}
            whole = plus(whole, {(): more // number})
        least = at_least(_written(b)) if set(rest) == {()} else None
        if least is not None and -least <= rest[()] < least:            # ⌊−1/n⌋ is −1
            return plus(whole, {(): -1}) if rest[()] < 0 else whole
        return plus(whole, _atom(floordiv, rest, b)) if rest else whole
    return {(): 1} if a == b else _atom(floordiv, a, b)


def _remainder(a: Polynomial, b: Polynomial) -> Polynomial:
    """a mod b, where b is positive: what divides exactly vanishes."""
    if len(b) == 1 and next(iter(b.values())) > 0:
        _, a = by_term(a, b)
    return {} if not a or a == b else _atom(mod, a, b)


def _atom(make: Callable[[Expr, Expr], Expr], a: Polynomial, b: Polynomial) -> Polynomial:
    made = make(const(_written(a)), const(_written(b)))
    return {(made,): 1} if isinstance(made, FloorDiv | Mod) else _polynomial(made)


def _extremum(op: str, parts: list[Dim]) -> Polynomial:
    """A maximum or minimum, without the parts that never decide it."""
    kept: list[Dim] = []
    for part in dict.fromkeys(parts):
        if not any(_never_beats(op, part, other) for other in kept):
            kept = [other for other in kept if not _never_beats(op, other, part)] + [part]
    if len(kept) == 1:
        return _polynomial(kept[0])
    make = maximum if op == "max" else minimum
    return {(make(*sorted(map(const, kept), key=order)),): 1}


def _never_beats(op: str, part: Dim, other: Dim) -> bool:
    more, less = (other, part) if op == "max" else (part, other)
    least = at_least(_written(plus(_polynomial(more), _polynomial(less), -1)))
    return least is not None and least >= 0


def _written(p: Polynomial) -> Dim:
    found = written(p)
    return int(found.value) if isinstance(found, Num) else found


def count(shape: tuple[Dim, ...]) -> Dim:
    """The number of elements of a shape."""
    return canonical(mul(*map(const, shape))) if any(isinstance(n, Expr) for n in shape) else prod(shape)
