"""Where the elements stood that topk or sort picked of a row: no two of these places are one.

A program that writes a 1 at each of them asks of every e whether there is such a place; another adds up what it finds
at one place after the other. As each place is another one, [e is among the places] is Σ_s [place s is e], and a sum
over all e that are among them is a sum over the places: loads of experts, and masks of what was chosen.

What a row holds at such a place is the element that was picked: `x.gather(topk(x).indices)` is `topk(x).values`
(`with_values`). Formulas are read so where they are not proved equal otherwise, for a mask asks for places alone.
"""

from __future__ import annotations

from fractions import Fraction

from samesame.formula.expr import Expr, Lambda, Load, Mod, Opaque, add, mul, rebuild, walk
from samesame.formula.guards import Guards, Literal, conjunction, of_op
from samesame.formula.poly import Poly, Var, variable
from samesame.formula.rewrite import Draft, positive, rewritten, under
from samesame.formula.terms import (
    SORTED,
    Apply,
    Factors,
    Form,
    OpaqueAtom,
    Term,
    constant,
    form_of,
    is_idempotent,
    next_open,
    opened,
    subtract,
)


def with_values(expr: Expr) -> Expr:
    """The expression with the elements that were picked, wherever it looks up the places of these in their row."""
    looked_up = ((e, _picked(e)) for e in walk(expr) if isinstance(e, Load))
    known: dict[Expr, Expr] = {e: picked for e, picked in looked_up if picked is not None}
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = rebuild(known.get(e, e), go)
        return memo[e]

    return go(expr) if known else expr


def _picked(load: Load) -> Expr | None:
    """The element of a sorted row that is looked up by where it stood; None where something else is."""
    for d, place in enumerate(load.indices):
        if isinstance(place, Mod) and isinstance(place.numerator, Opaque) and _length(place.numerator) is place.divisor:
            place = place.numerator                        # as torch wraps indices
        match place:
            case Opaque(name, ("indices", (*_, first, second) as options), (Lambda((k,), body) as row,), (p,), _):
                if name not in SORTED or body is not Load(load.leaf, (*load.indices[:d], k, *load.indices[d + 1 :])):
                    continue
                if name == "aten.topk" and not second:     # chosen, and in no known order
                    return Opaque(name, ("values", options), (row,), (p,), body.kind)
                falls = first
                return nth(row, add(k.extent, -1, mul(-1, p)) if falls else p, body.kind)
    return None


def _length(place: Opaque) -> Expr | None:
    return place.arguments[0].bound[0].extent if place.name in SORTED else None


def nth(row: Lambda, k: Expr, kind: str) -> Expr:
    """The k-th smallest element of a row, from 0."""
    return Opaque("aten.sort", ("values", (False, True)), (row,), (k,), kind)


def places_one_by_one(form: Form) -> Form | None:
    """[e is among the places] as Σ_s [place s is e], everywhere; None where nothing is said of such places."""
    items: list[tuple[Term, Fraction]] = []
    changed = False
    for term, c in form.terms:
        found = one_by_one(Draft(*opened(term, next_open(term.free))), None)
        changed = changed or found is not None
        items += [(term, c)] if found is None else [(t, c * d) for t, d in found.terms]
    return form_of(items) if changed else None


def one_by_one(draft: Draft, inside: frozenset[Var] | None) -> Form | None:
    """A condition that e is among the places that topk or sort gave of a row, as the sum over these places, of which no
    two are one: Σ_e [some place s is e]·x[e] is Σ_s x[place s]. Of conditions on the variables inside, if any are
    given: others are what cells are made of."""
    for literal in draft.guards:
        if inside is not None and not literal.free & inside:
            continue
        chosen = _among_places(literal, next_open(draft.inside))
        if chosen is None or (literal.op == "fails" and not _can_be_less(draft.factors)):
            continue
        bound, guards = chosen
        rest = tuple(g for g in draft.guards if g is not literal)
        among = conjunction((*rest, *guards))
        there = constant(0)
        if among is not None:
            there = under(Draft((*draft.bound, *bound), among, draft.factors), constant(1))
        if literal.op == "holds":
            return there
        return subtract(under(Draft(draft.bound, rest, draft.factors), constant(1)), there)
    return None


def one_place_twice(draft: Draft) -> Form | None:
    """Where two places of one row are one, they are those of one element: [place s is place t] is [s = t]."""
    for literal in draft.guards:
        same = of_one_element(literal.op, literal.poly) if literal.poly is not None else None
        if same is not None:
            guards = conjunction((*(g for g in draft.guards if g is not literal), same))
            return constant(0) if guards is None else rewritten(Draft(draft.bound, guards, draft.factors))
    return None


def of_one_element(op: str, p: Poly) -> Literal | bool | None:
    """What an equation of two places of one row, or that they are not equal, says of the elements; None of others."""
    match [*p.atoms()]:
        case [OpaqueAtom() as a, OpaqueAtom() as b] if op in ("=0", "≠0") and a.is_place_of_row and b.is_place_of_row:
            alike = (a.name, a.attributes, a.bodies) == (b.name, b.attributes, b.bodies)
            if alike and p in (variable(a) - variable(b), variable(b) - variable(a)):
                return of_op(op, a.indices[0] - b.indices[0])
    return None


def _can_be_less(factors: Factors) -> bool:
    """Whether these may be subtracted: they are no pieces of a maximum, and have a value."""
    return not is_idempotent(factors) and all(e > 0 or positive(a) for a, e in factors)


def _among_places(literal: Literal, first: int) -> tuple[tuple[Var, ...], Guards] | None:
    """The variable and the conditions of a literal that says that there is such a place, or none, if no two places
    fulfil them."""
    subject = literal.subject
    if not isinstance(subject, Apply) or subject.head != "exists" or len(subject.argument.terms) != 1:
        return None
    bound, guards, _ = opened(subject.argument.terms[0][0], first)
    if len(bound) != 1 or not any(tells(g, bound[0]) for g in guards):
        return None
    return bound, guards


def tells(guard: Literal, s: Var) -> bool:
    """Whether it is an equation of a place at s, which is another one at each s, with something else."""
    if guard.op != "=0" or guard.poly is None:
        return False
    places = [a for a in guard.poly.atoms() if isinstance(a, OpaqueAtom) and s in a.free]
    if len(places) != 1 or not places[0].is_place_of_row or guard.poly.coefficient(places[0]) not in (1, -1):
        return False
    (place,) = places
    rest = guard.poly - variable(place) * guard.poly.coefficient(place)
    (at,) = place.indices
    offset = at - variable(s) * at.coefficient(s)
    return not any(s in part.free for part in (rest, offset, *place.bodies))
