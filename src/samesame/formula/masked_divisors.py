"""Divisors over what a mask leaves: Σ_j m_j·x_j² is 0 where the mask leaves nothing, whatever x is.

Two quotients by such sums are compared over their common denominator, as others are, where each side divides by a sum
that the same mask empties: neither has a value there, as of slopes by Σ m·(x − μ)² and by n·Σ m·x² − (Σ m·x)².
That a divisor is not 0 is written down, and that something is left of the mask, which the headline says. Nothing is
known of such a sum, so its powers are added up here, where others cancel by a law.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from samesame.formula.assumptions import COUNT
from samesame.formula.at_random import may_be_equal
from samesame.formula.effort import assume, remember
from samesame.formula.functions import power
from samesame.formula.guards import Guards, Literal
from samesame.formula.poly import Atom
from samesame.formula.rewrite import Draft, under
from samesame.formula.shares import divided_by
from samesame.formula.signs import never_vanishes
from samesame.formula.terms import Apply, Form, Term, closed, factored, form_of, next_open, opened, scale

Mask = Term                                                # the sum of 1 over what it leaves


def masks_of(left: Form, right: Form, everywhere: Collection[Literal]) -> frozenset[Mask]:
    """The masks of which each side divides, under equal conditions, by a sum that is empty where these are. All that
    the sides differ in stands under these conditions: what counts where neither divides is no quotient."""
    mine, yours = ({(mask, guards) for atom, guards in divided_by(side) for mask in _emptying(atom)}
                   for side in (left, right))
    return frozenset(mask for mask, guards in mine & yours if all(g in everywhere for g in guards))


def masked_divisor(form: Form, masks: Collection[Mask]) -> Apply | None:
    """A sum that terms of the form are divided by, whatever is summed in these, and that one of the masks empties."""
    found = {a for term, _ in form.terms for a, e in term.factors
             if e < 0 and e.denominator == 1 and isinstance(a, Apply) and not a.free & frozenset(term.bound)
             and any(mask in masks for mask in _emptying(a)) and not never_vanishes(a.argument)}
    return min(found, key=lambda a: a.key, default=None)


def multiplied_out(form: Form, divisor: Apply, masks: Collection[Mask], guards: Guards) -> Form:
    """The form, which counts where the guards hold, times the least power of a divisor that leaves no quotient by it;
    that it is not 0, and that its masks leave something, is written down."""
    assume("≠ 0", divisor.argument, guards)
    for mask in _emptying(divisor):
        if mask in masks:
            assume(COUNT, Form(((mask, Fraction(1)),)), guards)
    drafts = [(Draft(*opened(term, next_open(term.free))), c) for term, c in form.terms]
    least = min(_times(draft, divisor) for draft, _ in drafts)
    items = list[tuple[Term, Fraction]]()
    for draft, c in drafts:
        others = Draft(draft.bound, draft.guards, tuple((a, e) for a, e in draft.factors if a is not divisor))
        whole = under(others, power(divisor.argument, _times(draft, divisor) - least))
        items += ((t, c * d) for t, d in whole.terms)
    return form_of(items)


def _times(draft: Draft, divisor: Apply) -> Fraction:
    """How often the divisor is a factor."""
    return sum((e for a, e in draft.factors if a is divisor), Fraction(0))


def is_seen_not_to_vanish(form: Form) -> bool:
    """Whether it is not 0 for some numbers: what is added differs there from what is subtracted."""
    added = form_of((t, c) for t, c in form.terms if c > 0)
    subtracted = scale(form_of((t, c) for t, c in form.terms if c < 0), -1)
    return not may_be_equal(added, subtracted)


@remember
def _emptying(divisor: Atom) -> frozenset[Mask]:
    """The masks that each make it 0 where they leave nothing: all its terms are sums over what they leave."""
    if not isinstance(divisor, Apply) or divisor.head != "sum":
        return frozenset()
    return frozenset[Mask].intersection(*(
        frozenset(closed(part.bound, part.guards, ()) for part in factored(term)
                  if part.bound and any(g.poly is None for g in part.guards))
        for term, _ in divisor.argument.terms))
