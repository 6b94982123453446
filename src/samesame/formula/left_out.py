"""Places that are left out: a sum over all c but t is one over all c, less what stands at t.

A margin loss adds up the classes other than the target's, by a mask or by taking the target's own away. One side has a
condition [c ≠ t] then, and the other has none. Here each such condition is put the second way, wherever what is added
up has a value at the place that is left out, too: Σ [c ≠ t]/(c − t) stays as it is."""

from __future__ import annotations

from samesame.formula.defined import has_values
from samesame.formula.guards import Literal, negation
from samesame.formula.rewrite import Draft, under
from samesame.formula.terms import Form, add, constant, next_open, opened, scale, subtract

MOST = 3                                                   # of such conditions in one term


def with_all_places(form: Form) -> Form | None:
    """The form without conditions that leave places out; None where there are none, or too many."""
    total, changed = constant(0), False
    for term, c in form.terms:
        bound, guards, factors = opened(term, next_open(term.free))
        left_out = [g for g in guards if g.op == "≠0" and g.free & frozenset(bound)]
        alone = Form(((term, c),))
        if not left_out or len(left_out) > MOST or not has_values(alone):
            total = add(total, alone)
            continue
        changed = True
        found = under(Draft(bound, tuple(g for g in guards if g not in left_out), factors), constant(1))
        for k, literal in enumerate(left_out):             # [a ≠ 0][b ≠ 0] = 1 − [a = 0] − [a ≠ 0][b = 0]
            there = negation(literal)
            assert isinstance(there, Literal)
            kept = tuple(g for g in guards if g not in left_out[k:])
            found = subtract(found, under(Draft(bound, (*kept, there), factors), constant(1)))
        total = add(total, scale(found, c))
    return total if changed else None
