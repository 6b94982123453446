"""Look-ups that are made whatever else holds: where both sides have a value, their indices are in range.

A recommender looks rows up in one table for each feature; another keeps all of them in one table, with an offset for
each. The second formula has cases, [t ≤ 6]·a[t] + [t > 6]·b[t − 7], of which the first one, a[t], allows one only: a
look-up beyond its table has no value. At every point of a term without further conditions one of the two sides makes
its look-ups, so all terms are only compared where these are in range.
"""

from __future__ import annotations

from collections.abc import Iterator

from samesame.formula.assumptions import BELOW
from samesame.formula.effort import assume
from samesame.formula.functions import restricted
from samesame.formula.guards import at_least_zero_literal, conjunction, less
from samesame.formula.poly import Element, IntegerAtom, Poly, number
from samesame.formula.rewrite import positive
from samesame.formula.signs import has_point
from samesame.formula.terms import Form, Term

MOST = 6                    # look-ups whose conditions are looked at


def where_lookups_reach(form: Form) -> Form | None:
    """The form where the look-ups that it makes in any case are in range; None where that changes nothing."""
    found = dict.fromkeys(look for term, _ in form.terms if has_point(term) for look in _lookups(term))
    looks = [*found][:MOST]
    ends = [end for p, size in looks for end in (at_least_zero_literal(p), less(p, number(size)))]
    reached = conjunction(ends)
    if not reached:
        return None
    smaller = form
    for literal in reached:
        smaller = restricted(smaller, literal, reached)
    if smaller is form:
        return None
    for p, size in looks:
        assume(f"{BELOW}{size}", p)
    return smaller


def _lookups(term: Term) -> Iterator[tuple[Poly, int]]:
    """Rows of tables that a term reads at what a tensor of integers holds, and how many rows there are. None of a term
    that may be counted no times, as n·x is where a sum of n terms x was."""
    bound = frozenset(term.bound)
    if any(isinstance(atom, IntegerAtom) and atom.integer and not positive(atom) for atom, _ in term.factors):
        return
    for atom, _ in term.factors:
        if isinstance(atom, Element):
            for p, size in zip(atom.indices, atom.leaf.shape, strict=True):
                if isinstance(size, int) and not p.free & bound and any(isinstance(a, Element) for a in p.atoms()):
                    yield p, size
