"""What a condition tells of a lookup: where [t[e] = i] holds, x[t[e]] is x[i].

A row that is gathered at the ends of edges, and summed where they lead, is read so; a token's expert, where a mask asks
which it is. Of the integers that an equation pins, the one that comes last is put away, everywhere but in the equation
itself: in indices, in other conditions, and inside functions, sums and opaque operators. The same condition says that
there is an e that leads to i (presence.py)."""

from __future__ import annotations

from fractions import Fraction

from samesame.formula.digits import equal_digits, equal_numbers
from samesame.formula.effort import remember
from samesame.formula.extreme_places import at_the_extreme
from samesame.formula.guards import Guards, Literal
from samesame.formula.places import one_by_one, one_place_twice
from samesame.formula.poly import Atom, Element, IntegerAtom, Poly, Ratio, Var, collect
from samesame.formula.presence import has_instance
from samesame.formula.ranked import by_rank
from samesame.formula.rewrite import Draft, positive, replaced
from samesame.formula.terms import Apply, Body, Form, OpaqueAtom, Term, body, closed, constant, next_open, opaque_of


def told(draft: Draft) -> Draft | Form | None:
    """What the conditions of a draft tell of each other and of its factors, if anything."""
    return (equal_digits(draft) or equal_numbers(draft) or _without_pinned(draft) or _without_presence(draft)
            or one_place_twice(draft) or at_the_extreme(draft) or by_rank(draft)
            or one_by_one(draft, frozenset(draft.bound)))


def _without_presence(draft: Draft) -> Draft | Form | None:
    """Less a condition that there is any of what the others name a point of; 0 where it says there is none. It stays
    where something divides that is 0 if there is none: 0/0, as in a row that is masked whole, is not what 0 is."""
    if any(e < 0 and not positive(a) for a, e in draft.factors):
        return None
    for literal in draft.guards:
        if has_instance(literal, draft.guards, draft.inside):
            rest = tuple(g for g in draft.guards if g is not literal)
            return constant(0) if literal.op == "fails" else Draft(draft.bound, rest, draft.factors)
    return None


def _without_pinned(draft: Draft) -> Form | None:
    """The draft without an integer that one of its equations pins, if it occurs elsewhere."""
    for literal in draft.guards:
        found = _pinned(literal)
        if found is None:
            continue
        integer, value = found
        new = Var("open", (next_open(draft.inside),), *integer.range(frozenset()))
        guards = tuple(g if g is literal else _literal(g, integer, new) for g in draft.guards)
        factors = tuple((_atom(a, integer, new), e) for a, e in draft.factors)
        if guards != draft.guards or factors != draft.factors:
            rest = tuple(g for g in guards if g is not literal)
            return replaced(Draft(draft.bound, rest, factors), ((new, value),), given=(literal,))
    return None


def _pinned(literal: Literal) -> tuple[IntegerAtom, Poly] | None:
    """The last integer e of an equation e = p, an element of a tensor or of an opaque result, with no e in p; and p."""
    p = literal.poly
    if p is None or literal.op != "=0":
        return None
    alone = [a for a in p.atoms() if isinstance(a, Element | OpaqueAtom) and p.coefficient(a) in (1, -1)]
    for integer in sorted(alone, key=lambda a: a.key, reverse=True):
        sign = p.coefficient(integer)
        rest = collect((m, -sign * c) for m, c in p.terms if m != (integer,))
        mark = Var("open", (next_open(p.free),), None, None)
        if _poly(rest, integer, mark) is rest:
            return integer, rest
    return None


# -------------------------------------------------------------------------- a variable in place of an integer, as it is


def _poly(p: Poly, old: IntegerAtom, new: Var) -> Poly:
    return collect((tuple(_integer(a, old, new) for a in m), c) for m, c in p.terms)


def _integer(atom: Atom, old: IntegerAtom, new: Var) -> Atom:
    if atom is old:
        return new
    if isinstance(atom, Element):
        return Element(atom.leaf, atom.bounds, tuple(_poly(p, old, new) for p in atom.indices))
    if isinstance(atom, Ratio):
        return Ratio(atom.op, _poly(atom.numerator, old, new), _poly(atom.divisor, old, new))
    if isinstance(atom, OpaqueAtom):
        bodies = tuple(_body(part, old, new) for part in atom.bodies)
        indices = tuple(_poly(p, old, new) for p in atom.indices)
        return opaque_of(atom.name, atom.attributes, atom.kind, bodies, indices)
    return atom


def _atom(atom: Atom, old: IntegerAtom, new: Var) -> Atom:
    if isinstance(atom, Apply):
        return Apply(atom.head, _form(atom.argument, old, new))
    return _integer(atom, old, new)


def _literal(literal: Literal, old: IntegerAtom, new: Var) -> Literal:
    subject = literal.subject
    return Literal(literal.op, _poly(subject, old, new) if isinstance(subject, Poly) else _atom(subject, old, new))


def _body(part: Body, old: IntegerAtom, new: Var) -> Body:
    return body(part.bound, tuple(_poly(p, old, new) for p in part.extents), _form(part.form, old, new))


@remember
def _form(form: Form, old: IntegerAtom, new: Var) -> Form:
    total: dict[Term, Fraction] = {}
    for term, c in form.terms:
        guards: Guards = tuple(_literal(g, old, new) for g in term.guards)
        now = closed(term.bound, guards, tuple((_atom(a, old, new), e) for a, e in term.factors))
        total[now] = total.get(now, Fraction(0)) + c
    return Form(tuple(sorted(((t, c) for t, c in total.items() if c), key=lambda item: item[0].key)))


