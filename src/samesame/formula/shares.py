"""Shares of a whole add up to one: Σ_j exp(x_j) / Σ_k exp(x_k) = 1, wherever it stands.

Where nothing else is bound, a common denominator shows it; under another sum, as in a mean over a batch, denominators
stay where they are. So a sum over exactly the terms of a positive denominator of its own is taken out of it. A count
of what a mask leaves may be 0: Σ_j m_j / Σ_k m_k is 1 where anything is left. That is taken out where both sides of a
claim divide by the count. Most programs have no value then; but one may divide only where the mask is, and be 0, and
so the headline says that something is left."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

from samesame.formula.assumptions import COUNT
from samesame.formula.effort import assume, step
from samesame.formula.guards import Literal
from samesame.formula.poly import Atom, Var
from samesame.formula.rewrite import Draft, positive, under
from samesame.formula.signs import never_vanishes
from samesame.formula.terms import Apply, Factors, Form, Term, constant, form_of, next_open, opened

Division = tuple[Atom, frozenset[Literal]]                 # a sum that divides, and the conditions under which it does


def shares(draft: Draft) -> Form | None:
    """The draft without the variables over which the terms of one of its denominators add up to that; None if there are
    no such."""
    for atom, e in draft.factors:
        if isinstance(atom, Apply) and atom.head == "sum" and e.denominator == 1 and e < 0 and positive(atom):
            found = _taken_out(draft, atom)
            if found is not None:
                return found
    return None


def _taken_out(draft: Draft, whole: Apply) -> Form | None:
    (term, c), *more = whole.argument.terms
    if more or not term.bound or len(term.bound) > len(draft.bound):
        return None
    bound, guards, factors = opened(term, next_open(draft.inside))
    for choice in permutations(draft.bound, len(bound)):
        step()
        inside, names = frozenset(choice), tuple(zip(bound, choice, strict=True))
        own = {(a.rename(names) if a.free else a, e) for a, e in factors}
        said = {g.rename(names) for g in guards}
        mine = {(a, e) for a, e in draft.factors if a.free & inside}
        if whole.free & inside or not mine <= own <= set(draft.factors):
            continue
        if said == {g for g in draft.guards if g.free & inside}:
            left: Factors = tuple((a, e + 1 if a is whole else e) for a, e in draft.factors if (a, e) not in own)
            rest = tuple(v for v in draft.bound if v not in inside), tuple(g for g in draft.guards if g not in said)
            return under(Draft(*rest, tuple((a, e) for a, e in left if e)), constant(1 / c))
    return None


def without_shares(difference: Form, left: Form, right: Form) -> Form:
    """The difference of two forms without sums over all terms of what both divide by, wherever that is not 0."""
    both = divided_by(left) & divided_by(right)
    items = ((t, c * d) for term, c in difference.terms for t, d in _without(term, both).terms)
    return form_of(items) if both else difference


def divided_by(form: Form) -> set[Division]:
    """What the form is divided by."""
    return {division for term, _ in form.terms for division in _divisions(term).values()}


def _without(term: Term, divisions: set[Division]) -> Form:
    """The term without such sums; what it is divided by then is not 0."""
    for whole, division in _divisions(term).items() if term.bound else ():
        if division not in divisions:
            continue
        bound, guards, factors = opened(term, next_open(term.free))
        renamed = whole.rename(tuple(zip(term.bound, bound, strict=True)))
        found = _taken_out(Draft(bound, guards, factors), renamed) if isinstance(renamed, Apply) else None
        if found is not None and isinstance(renamed, Apply):
            about = [g for g in guards if not g.free & (frozenset(bound) - renamed.free)]
            assume("≠ 0" if never_vanishes(whole.argument) else COUNT, renamed.argument, about)
            return form_of((t, c * d) for one, c in found.terms for t, d in _without(one, divisions).terms)
    return Form(((term, Fraction(1)),))


def _divisions(term: Term) -> dict[Apply, Division]:
    """The sums that a term is divided by, each with where that is: the conditions on what it hangs on, variables that
    sums around it bind called by their order."""
    found: dict[Apply, Division] = {}
    for atom, e in term.factors:
        if isinstance(atom, Apply) and atom.head == "sum" and e.denominator == 1 and e < 0:
            own = sorted((v for v in term.bound if v in atom.free), key=lambda v: v.number)
            names = tuple((v, Var("mark", (k,), None, None)) for k, v in enumerate(own))
            about = [g for g in term.guards if not g.free & (frozenset(term.bound) - frozenset(own))]
            found[atom] = atom.rename(names), frozenset(g.rename(names) for g in about)
    return found
