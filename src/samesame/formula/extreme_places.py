"""What stands where an extremum stands: where [argmax_j x[j] = c] holds, max_j x[j] is x[c].

A router's gate is the largest of a row on one side, and on the other the row under a mask that is 1 at the place of the
largest (`one_hot(argmax)`), expert by expert. Under such an equation the row's extremum is written as the element that
it is, wherever it stands in the draft, so that both sides have the element. Where no equation says the place, the
extremum is the element at the place itself, x[argmax_j x[j]], if someone asks for that place.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import TypeGuard

from samesame.formula.extrema import maximum
from samesame.formula.guards import conjunction
from samesame.formula.inside import inner_atoms, inner_polys
from samesame.formula.poly import Atom, Poly, variable
from samesame.formula.rewrite import Draft, substitute, under, within
from samesame.formula.terms import (
    MINUS_INFINITY,
    PLACES,
    Apply,
    Form,
    OpaqueAtom,
    Term,
    form_of,
    laws,
    lone_atom,
    next_open,
    opened,
    scale,
)


def at_the_extreme(draft: Draft) -> Form | None:
    """The draft with the element in the place of its row's extremum; None where no equation tells which one it is."""
    for literal in draft.guards:
        if literal.op != "=0" or literal.poly is None:
            continue
        for place, at in _told_by(literal.poly):
            known = None if at.free & frozenset(draft.bound) else _extremum(place, at)
            found = known and _put(draft, *known)
            if found is not None:
                return found
    return None


def at_its_place(form: Form) -> Form | None:
    """The element at its place instead of an extremum whose place is in sight; None where there is none."""
    inside = (p for a in inner_atoms(form) for _, _, p in inner_polys(a))
    polys = chain(inside, (g.poly for term, _ in form.terms for g in term.guards if g.poly is not None))
    places = dict.fromkeys(a for p in polys for a in p.atoms() if _is_place(a) and a.free <= form.free)
    changed = form
    for place in places:
        known = _extremum(place, variable(place))
        changed = changed if known is None else _put_in(changed, *known) or changed
    return None if changed is form else changed


def _is_place(atom: Atom) -> TypeGuard[OpaqueAtom]:
    return isinstance(atom, OpaqueAtom) and atom.name in PLACES and len(atom.bodies[0].bound) == 1


def _told_by(p: Poly) -> Iterator[tuple[OpaqueAtom, Poly]]:
    """Places of an extremum in a row, and where they are if p is 0."""
    for atom in p.atoms():
        if _is_place(atom):
            sign = p.coefficient(atom)
            if sign in (1, -1):
                rest = p - variable(atom) * sign
                yield atom, rest * -sign


def _extremum(place: OpaqueAtom, at: Poly) -> tuple[Atom, Form] | None:
    """The atom that is the extremum of the row, and the element at this place, of its sign."""
    (row,) = place.bodies
    ((v,), (extent,)) = row.bound, row.extents
    guards = conjunction(within(v, extent))
    if guards is None or row.form.has(MINUS_INFINITY):
        return None
    signed = scale(row.form, PLACES[place.name])
    atom = lone_atom(maximum([((v,), guards, signed)]), "max")
    return None if atom is None else (atom, substitute(signed, ((v, at),)))


def _put(draft: Draft, atom: Atom, element: Form) -> Form | None:
    """The draft with the element in the place of the atom; None where it has none."""
    for factor in draft.factors:
        inside = _inside(factor[0], atom, element)
        if inside is not None:
            others = tuple(one for one in draft.factors if one is not factor)
            return under(Draft(draft.bound, draft.guards, others), laws().power(inside, factor[1]))
    return None


def _inside(here: Atom, atom: Atom, element: Form) -> Form | None:
    """An atom that is the extremum or is applied to it, with the element instead."""
    if here is atom:
        return element
    argument = _put_in(here.argument, atom, element) if isinstance(here, Apply) else None
    return laws().apply(here.head, argument) if isinstance(here, Apply) and argument is not None else None


def _put_in(form: Form, atom: Atom, element: Form) -> Form | None:
    """A form with the element in the place of the atom; None where it has none."""
    items = list[tuple[Term, Fraction]]()
    changed = False
    for term, c in form.terms:
        found = _put(Draft(*opened(term, next_open(term.free, atom.free, element.free))), atom, element)
        changed = changed or found is not None
        items += [(term, c)] if found is None else [(t, c * d) for t, d in found.terms]
    return form_of(items) if changed else None
