"""Shares of a whole add up to one: Σ_j exp(x_j) / Σ_k exp(x_k) = 1, wherever it stands.

Where nothing else is bound, a common denominator shows it; under another sum, as in a mean over a batch, denominators
stay where they are. So a sum over exactly the terms of a positive denominator of its own is taken out of it."""

from __future__ import annotations

from itertools import permutations

from samesame.formula.effort import step
from samesame.formula.rewrite import Draft, positive, under
from samesame.formula.terms import Apply, Factors, Form, constant, next_open, opened


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
