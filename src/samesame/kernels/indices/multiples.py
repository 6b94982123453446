"""Sizes that a number divides without a rest, in sums and quotients.

    c·⌊n/c⌋·f             n·f                     where c divides n
    ⌊(n·f + r)/c⌋         ⌊n/c⌋·f + ⌊r/c⌋
    ⌊(n·f + r)/⌊n/c⌋⌋     c·f + ⌊r/⌊n/c⌋⌋

A row of n numbers is taken in groups of c, or in c groups. The group in which element n·i + j lies is a group of row i
then, and begins where that of j does: so an offset into memory as one line is a row and a column again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from samesame.formula import polynomials
from samesame.formula.expr import Add, Expr, FloorDiv, Mul, Num, Size, const
from samesame.formula.polynomials import Polynomial, polynomial
from samesame.kernels.indices import integers

Divides = Callable[[int, Size], bool]


def in_whole_groups(expr: Expr, divides: Divides) -> Expr:
    """An integer, simpler by what `divides` which size."""
    match expr:
        case FloorDiv(a, b):
            for size, c in dict.fromkeys(groups(a, b)):
                if divides(c, size):
                    found = integers.quotient(counted(a, size, c), b)
                    if not isinstance(found, FloorDiv):
                        return found
        case Add() | Mul() if expr.kind == "int":
            total: Polynomial = {}
            for monomial, times in polynomial(expr).items():
                total = polynomials.plus(total, multiplied(monomial, times, divides))
            return polynomials.written(total)
    return expr


def groups(a: Expr, b: Expr) -> Iterator[tuple[Size, int]]:
    """A size in what is divided, and the number that would have to divide it for the quotient to be simpler."""
    sizes = dict.fromkeys(atom for monomial in polynomial(a) for atom in monomial if isinstance(atom, Size))
    if isinstance(b, Num) and b.value > 1:
        yield from ((size, int(b.value)) for size in sizes if size is not a)
    for atom in (atom for monomial in polynomial(b) for atom in monomial):
        match atom:
            case FloorDiv(Size() as size, Num(c)) if size in sizes:
                yield size, int(c)


def counted(a: Expr, size: Size, c: int) -> Expr:
    """A sum with c·⌊size/c⌋ in place of the size."""
    whole = polynomials.times({(): c}, polynomial(integers.quotient(size, const(c))))
    total: Polynomial = {}
    for monomial, times in polynomial(a).items():
        parts = (whole if atom is size else polynomial(atom) for atom in monomial)
        total = polynomials.plus(total, polynomials.product_of(parts), times)
    return polynomials.written(total)


def multiplied(monomial: polynomials.Monomial, times: int, divides: Divides) -> Polynomial:
    """times·monomial, in which c·⌊n/c⌋ is n."""
    for atom in monomial:
        match atom:
            case FloorDiv(Size() as size, Num(c)) if times % c == 0 and divides(int(c), size):
                others = polynomials.without(monomial, (atom,)) or ()
                return polynomials.times({(size,): 1}, multiplied(others, times // int(c), divides))
    return {monomial: times}
