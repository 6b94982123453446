"""Where a form has a value: what a proof takes for granted when it asks whether a comparison holds.

Neither √x > y nor √x ≤ y holds where x is negative: torch's NaN is below nothing and above nothing. A proof knows two
cases, so each comparison is one of values: wherever its sides have any, as conditions that the report prints. And x = x
asks whether x is a number, which over the reals it always is; so it is kept as a question of its own, "number".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from samesame.formula.effort import Assumed, assume, remember
from samesame.formula.inside import inner_atoms
from samesame.formula.poly import Atom, Element
from samesame.formula.rewrite import positive, value_form
from samesame.formula.scalars import DOMAIN, SCALARS
from samesame.formula.signs import is_nonnegative, is_positive
from samesame.formula.terms import (
    MINUS_INFINITY,
    UNDEFINED,
    Apply,
    Form,
    OpaqueAtom,
    next_open,
    of_atom,
    opened,
    value_of,
)


def assume_defined(form: Form) -> None:
    """Write down where the form has a value, unless that is everywhere."""
    for one in _demands(form):
        assume(one.relation, one.subject, one.guards)


@remember
def _demands(form: Form) -> tuple[Assumed, ...]:
    found: list[Assumed] = []
    for term, _ in form.terms:
        _, guards, factors = opened(term, next_open(term.free))
        demands = (demand for a, e in factors for demand in demands_of(a, e))
        found += (replace(demand, guards=demand.guards.union(guards)) for demand in demands)
    return tuple(found)


def has_values(form: Form) -> bool:
    """Whether the form has a value wherever its indices are, whatever numbers the tensors hold."""
    return not form.has(UNDEFINED) and not form.has(MINUS_INFINITY) and not _demands(form)


def demands_of(atom: Atom, exponent: Fraction) -> Iterator[Assumed]:
    """Of an atom's power, and of what functions in it are applied to."""
    if exponent.denominator % 2 == 0 and not positive(atom) and not _never_negative(atom):
        yield Assumed("≥ 0", value_form(atom))
    if exponent < 0 and not positive(atom):
        yield Assumed("≠ 0", value_form(atom))
    if not isinstance(atom, Apply):
        return
    if atom.head == "log" and not is_positive(atom.argument):
        yield Assumed("> 0", atom.argument)
    row = SCALARS.get(atom.head.removeprefix("fn:"))
    if atom.head.startswith("fn:") and row is not None and row.domain:
        yield Assumed(f"{DOMAIN}{atom.head.removeprefix('fn:')}", atom.argument)
    yield from _demands(atom.argument)


def is_nowhere_defined(form: Form) -> bool:
    """Is a function in it applied to a number outside its domain, as log 0 is? Then nothing makes 0 of it."""
    return any(_is_outside(a) for term, _ in form.terms for a, _ in opened(term, next_open(term.free))[2])


def _is_outside(atom: Atom) -> bool:
    if not isinstance(atom, Apply):
        return False
    value = value_of(atom.argument)
    row = SCALARS.get(atom.head.removeprefix("fn:"))
    outside = value is not None and (value <= 0 if atom.head == "log" else row is not None and bool(row.domain))
    return outside or is_nowhere_defined(atom.argument)


def _never_negative(atom: Atom) -> bool:
    return is_nonnegative(atom.argument if isinstance(atom, Apply) and atom.head == "sum" else of_atom(atom))


def is_number(form: Form) -> bool:
    """Whether it is a number whatever torch's tensors hold: made of integers and constants only."""
    return not any(isinstance(a, Element | OpaqueAtom) and a.kind == "real" for a in inner_atoms(form))


def is_mean_of_exponentials(form: Form) -> bool:
    """Whether all that it is made of stands in exponentials, with a sum of such to divide by that is none of nothing: a
    softmax, which is a number for all finite scores. That these are finite is what every proof takes for granted."""
    factors = [(a, e) for term, _ in form.terms for a, e in opened(term, next_open(term.free))[2]]
    divides = any(e < 0 for _, e in factors)
    return divides and not _demands(form) and all(_of_exponentials(a) for a, _ in factors)


def _of_exponentials(atom: Atom) -> bool:
    if not isinstance(atom, Apply) or atom.head not in ("exp", "sum"):
        return False
    if atom.head == "exp":
        return True
    return all(_of_exponentials(a) for term, _ in atom.argument.terms
               for a, _ in opened(term, next_open(term.free))[2])
