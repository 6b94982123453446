"""Thresholds: what conditions say of an integer that a tensor holds, in terms of where it reaches a number.

    [e ≤ b]        =  1 − [e ≥ b + 1]
    [e = c]        =  [e ≥ c] − [e ≥ c + 1]
    e · [a ≤ e ≤ b]  =  Σ_{a≤c≤b} c · ([e ≥ c] − [e ≥ c + 1])

A loop over classes asks of each whether the label is beyond it, where another program counts those that it is beyond.
The functions [e ≥ c], one for each c, are independent, so in terms of these two sums over conditions are the same
function of a label only if they are the same sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

from samesame.formula.effort import step
from samesame.formula.guards import Guards, Literal, at_least_zero_literal, conjunction
from samesame.formula.poly import Element, IntegerAtom, at_least_zero, number, variable
from samesame.formula.terms import Factors, Form, OpaqueAtom, Term, closed, form_of, next_open, opened
from samesame.formula.written_out import unrolled

WINDOW = 16                 # values of an integer between two thresholds that are written out
TERMS = 256                 # that a form may have then

Steps = list[tuple[Fraction, int | None]]               # c · [e ≥ k], or c where k is None


def by_thresholds(form: Form) -> Form | None:
    """A difference with small sums written out and all conditions on integers in terms of thresholds; None where no
    term asks whether an integer is below a number."""
    written = unrolled(form) or form
    if not any(any(True for _ in _asked(term.guards)) for term, _ in written.terms):
        return None
    items: list[tuple[Term, Fraction]] = []
    for term, c in written.terms:
        parts = _in_steps(term, TERMS - len(items))
        if parts is None:
            return None
        items += ((part, c * d) for part, d in parts)
    return form_of(items)


def _asked(guards: Guards) -> Iterator[tuple[IntegerAtom, int, str, int]]:
    """The conditions on one integer that a tensor holds: the integer, its sign, how it is compared with 0, and what is
    added to it."""
    for guard in guards:
        atoms = set(guard.poly.atoms()) if guard.poly is not None else set()
        if guard.poly is None or len(atoms) != 1:
            continue
        (atom,) = atoms
        for sign in (1, -1):
            rest = (guard.poly - variable(atom) * sign).constant
            if rest is not None and isinstance(atom, Element | OpaqueAtom):
                yield atom, sign, guard.op, rest


def _in_steps(term: Term, most: int) -> list[tuple[Term, Fraction]] | None:
    """A term as a sum of terms whose conditions on integers are thresholds; None where these are more than so many."""
    bound, guards, factors = opened(term, next_open(term.free))
    atoms = dict.fromkeys(atom for atom, *_ in _asked(guards))
    others = tuple(g for g in guards if not any(_asked((g,))))
    choices = []
    for atom in atoms:
        steps, kept = _steps(atom, guards, factors)
        if kept:
            factors = tuple((a, e) for a, e in factors if a is not atom)
        choices.append([(atom, c, k) for c, k in steps])
    if prod(map(len, choices)) > most:
        return None
    found = []
    for chosen in product(*choices):
        step()
        reached = [_reaches(atom, k) for atom, _, k in chosen if k is not None]
        every = conjunction([*others, *reached])
        if every is not None:
            coefficient = Fraction(1)
            for _, c, _ in chosen:
                coefficient *= c
            found.append((closed(bound, every, factors), coefficient))
    return found


def _steps(atom: IntegerAtom, guards: Guards, factors: Factors) -> tuple[Steps, bool]:
    """What the conditions on an integer are in terms of thresholds, and whether powers of it are worked into that."""
    low: int | None = None
    high: int | None = None
    without = set[int]()
    for other, sign, op, rest in _asked(guards):
        if other is not atom:
            continue
        if op == "≠0":
            without.add(-rest * sign)
            continue
        if op == "=0" or sign == 1:                       # e + rest ≥ 0
            low = -rest * sign if low is None else max(low, -rest * sign)
        if op == "=0" or sign == -1:                      # −e + rest ≥ 0
            end = -rest * sign
            high = end if high is None else min(high, end)
    power = next((e for a, e in factors if a is atom), Fraction(0))
    small = low is not None and high is not None and high - low < WINDOW and power > 0 and power.denominator == 1
    if low is not None and high is not None and small:
        values = [c for c in range(low, high + 1) if c not in without]
        return [each for c in values for each in _at(c, Fraction(c) ** int(power))], True
    if low is not None and high is not None and high < low:
        return [], False
    ends: Steps = [(Fraction(1), low)]
    if high is not None:
        ends.append((Fraction(-1), high + 1))
    inside = (c for c in without if (low is None or c >= low) and (high is None or c <= high))
    return ends + [(-c, k) for point in inside for c, k in _at(point, Fraction(1))], False


def _reaches(atom: IntegerAtom, k: int) -> Literal | bool:
    """Whether an integer reaches a number, as far as its bounds do not say so."""
    beyond = variable(atom) - number(k)
    return at_least_zero(beyond) or (not at_least_zero(-beyond - 1) and at_least_zero_literal(beyond))


def _at(c: int, value: Fraction) -> Steps:
    """value · [e = c]."""
    return [(value, c), (-value, c + 1)] if value else []
