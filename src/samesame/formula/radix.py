"""Radix: 7·a + r, for 0 ≤ r < 7, is no less than 0 where a is not: of a place in a flat table that is the row's number.

The last digit is made of integers that tensors hold, whose bounds are facts. Of an index the guards beside say where it
lies, and of those digits.py knows; so no digit here is made of one. The base is a number or a size.
"""

from __future__ import annotations

from collections.abc import Iterator

from samesame.formula.poly import Atom, Poly, SizeAtom, Var, at_least_zero, collect, number, variable


def first_digit(p: Poly) -> Poly | None:
    """A polynomial that is ≥ 0 exactly where p is, without the last digit of p."""
    for base, a, r in _in_bases(p):
        if any(isinstance(atom, Var) for atom in r.atoms()):
            continue
        if at_least_zero(r) and at_least_zero(base - 1 - r):
            return a
        if at_least_zero(-r - 1) and at_least_zero(base + r):
            return a - 1
    return None


def _in_bases(p: Poly) -> Iterator[tuple[Poly, Poly, Poly]]:
    """p as base · a + r, for bases that occur in it; only where a tensor's integers do."""
    atoms = {*p.atoms()}
    if all(isinstance(atom, Var | SizeAtom) for atom in atoms):
        return
    for size in sorted((a for a in atoms if isinstance(a, SizeAtom) and a.minimum > 0), key=lambda a: a.key):
        if any(size in m and len(m) > 1 for m, _ in p.terms):
            a = collect((_without(m, size), c) for m, c in p.terms if size in m)
            yield variable(size), a, p - a * variable(size)
    for base in sorted({abs(c) for m, c in p.terms if m} - {1}):
        a = collect((m, c // base) for m, c in p.terms if not m or c % base == 0)
        yield number(base), a, p - a * base


def _without(m: tuple[Atom, ...], size: SizeAtom) -> tuple[Atom, ...]:
    k = m.index(size)
    return m[:k] + m[k + 1 :]
