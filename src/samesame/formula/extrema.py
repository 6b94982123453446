"""Maxima: the pieces of a maximum are the terms of a form, so that domains join there as they do in sums.

    max_{k<n} x[k]  =  max( Σ_{k<n} piece(x[k]) )       where Σ is a union, and a piece counts once

Families of −∞ drop out, an inner maximum becomes part of the outer one, and what all pieces share leaves: added terms
and positive numbers. A maximum of two elements is b + max(a − b, 0), signed so that relu(x) − relu(−x) = x."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce

from samesame.formula.assumptions import SOME
from samesame.formula.contents import common_number, content
from samesame.formula.effort import assume, current, remember, step
from samesame.formula.expr import Unsupported
from samesame.formula.functions import (
    boolean,
    by_cells,
    exp,
    is_minus_infinity,
    liftable,
    minus_infinity,
    piece,
    positive_part,
    restricted,
    truth_of,
)
from samesame.formula.guards import NO_GUARDS, Guards, Literal, conjunction, infeasible, negation
from samesame.formula.poly import Var
from samesame.formula.presence import is_count, points
from samesame.formula.rewrite import Draft, guarded, positive, rewritten, under
from samesame.formula.signs import have_point, is_nonnegative, piece_of
from samesame.formula.terms import (
    MINUS_INFINITY,
    UNDEFINED,
    Apply,
    Form,
    Term,
    add,
    closed,
    constant,
    form_of,
    next_open,
    of_atom,
    opened,
    scale,
    subtract,
    value_of,
)

NUMBERS = 4                                              # different ones in a maximum of numbers, at most

Family = tuple[tuple[Var, ...], Guards, Form]            # a form for every point of guarded open variables


def maximum(drafts: Iterable[Family]) -> Form:
    """The maximum over a union of families.

    Families of −∞ drop out. An empty maximum is −∞.
    """
    found: list[tuple[Term, Fraction]] = []
    for bound, guards, form in drafts:
        _place(bound, guards, form, found)
    return by_cells(form_of(found), _maximum_on_cell)


def _place(bound: tuple[Var, ...], guards: Guards, form: Form, found: list[tuple[Term, Fraction]]) -> None:
    """Add a family to the pieces: its guards shrink the domain, an inner maximum becomes part of this one."""
    step()
    literal = liftable(form)
    if literal is not None:
        for side in (literal, negation(literal)):
            together = conjunction((*guards, side))
            if together is not None and isinstance(side, Literal) and not infeasible(together):
                _place(bound, together, restricted(form, side, together), found)
        return
    if form.has(UNDEFINED):
        raise Unsupported("a maximum over something undefined appears")
    if is_minus_infinity(form):
        current().dropped = True
        return
    inner = [(t, c) for t, c in form.terms if _is_maximum(t)]
    if len(inner) == 1 and inner[0][1] > 0:
        ((term, c),) = inner
        rest = subtract(form, Form(((term, c),)))
        atom = term.factors[0][0]
        assert isinstance(atom, Apply)
        first = max(next_open(form.free), next_open(frozenset(bound)))
        for part, _ in atom.argument.terms:
            more, conditions, factors = opened(part, first)
            together = conjunction((*guards, *conditions))
            assert isinstance(factors[0][0], Apply)
            if together is not None:
                _place((*bound, *more), together, add(scale(factors[0][0].argument, c), rest), found)
        return
    found += rewritten(Draft(bound, guards, ((Apply("piece", form), Fraction(1)),))).terms


def _is_maximum(term: Term) -> bool:
    if not term.plain or len(term.factors) != 1 or term.factors[0][1] != 1:
        return False
    atom = term.factors[0][0]
    return isinstance(atom, Apply) and atom.head == "max"


def _maximum_on_cell(pieces: Form) -> Form:
    if not pieces.terms:
        return minus_infinity()
    terms = [t for t, _ in pieces.terms]
    if len(terms) == 1 and terms[0].plain:
        current().infinite |= current().dropped          # no maximum is left to show that there was a −∞ beside it
        return piece_of(terms[0])
    known = _of_numbers(terms)
    if known is not None:
        if not have_point(terms):
            assume(SOME, pieces)
        return known
    if current().by_signs and any(t.plain for t in terms):
        return _by_signs(terms)
    if len(terms) == 2 and all(t.plain for t in terms):
        return _larger(piece_of(terms[0]), piece_of(terms[1]))
    if not have_point(terms):
        assume(SOME, pieces)
    outer = _through_exp(terms) or _without_positive_factors(terms)
    if outer is not None:
        return outer
    shared = _shared(terms)
    if not shared.terms:
        shared = _pivot(terms)
    size = common_number(c for t in terms for _, c in piece_of(t).terms) or Fraction(1)
    if shared.terms or size != 1:
        smaller = form_of(
            (closed(t.bound, t.guards, ((Apply("piece", _less(piece_of(t), shared, size)), Fraction(1)),)), Fraction(1))
            for t in terms
        )
        return add(shared, scale(of_atom(Apply("max", smaller)), size))
    return of_atom(Apply("max", pieces))


def _of_numbers(terms: list[Term]) -> Form | None:
    """By signs, the least number, and how much more each larger one is where a piece has it: of zeros and ones, whether
    there is a one. None where a piece is no number."""
    if not current().by_signs:
        return None
    numbers = {t: n for t in terms if (n := value_of(piece_of(t))) is not None}
    known = set(numbers.values())
    if len(numbers) < len(terms) or len(known) > NUMBERS:
        return None
    current().infinite |= current().dropped              # no maximum is left to show that there was a −∞ beside it
    least, *larger = sorted(known)
    found, before = constant(least), least
    for n in larger:
        there = {closed(t.bound, t.guards, ()) for t in terms if numbers[t] >= n}
        some = boolean("exists", points(form_of((t, Fraction(1)) for t in there)))
        more = constant(n - before)
        found = add(found, guarded((Literal("holds", some),), more) if isinstance(some, Apply) else more)
        before = n
    return found


def _by_signs(terms: list[Term]) -> Form:
    """max(a, b) = b + [a − b > 0]·(a − b), one piece after the other; pieces over bound variables stay together."""
    parts = [piece_of(t) for t in terms if t.plain]
    families = form_of((t, Fraction(1)) for t in terms if not t.plain)
    if families.terms:
        parts.append(_maximum_on_cell(families))
    return reduce(lambda a, b: add(b, by_cells(subtract(a, b), positive_part)), parts)


def _through_exp(terms: list[Term]) -> Form | None:
    """max exp(f) = exp(max f), where every piece is such a power."""
    exponents: list[Term] = []
    for t in terms:
        form = piece_of(t)
        if len(form.terms) != 1 or not form.terms[0][0].plain or form.terms[0][1] != 1 or not form.terms[0][0].factors:
            return None
        factors = form.terms[0][0].factors
        if not all(isinstance(a, Apply) and a.head == "exp" for a, _ in factors):
            return None
        inner = add(*(scale(a.argument, e) for a, e in factors if isinstance(a, Apply)))
        exponents.append(closed(t.bound, t.guards, ((Apply("piece", inner), Fraction(1)),)))
    return exp(maximum_again(form_of((t, Fraction(1)) for t in exponents)))


def _without_positive_factors(terms: list[Term]) -> Form | None:
    """max c·f = c·max f for a positive c that all pieces share; None if they share none."""
    bound = frozenset(v for t in terms for v in t.bound)
    everything = form_of((t, abs(c)) for piece in terms for t, c in piece_of(piece).terms)    # none cancels another
    if not all(piece_of(t).terms for t in terms) or any(t.bound for t, _ in everything.terms):
        return None
    _, common, _ = content(everything, lambda a: positive(a) and not a.free & bound)
    if not common:
        return None
    inverse = Draft((), NO_GUARDS, tuple((a, -e) for a, e in common))
    smaller = form_of(
        (closed(t.bound, t.guards, ((Apply("piece", under(inverse, piece_of(t))), Fraction(1)),)), Fraction(1))
        for t in terms
    )
    return under(Draft((), NO_GUARDS, common), maximum_again(smaller))


def _less(form: Form, shared: Form, size: Fraction) -> Form:
    return scale(subtract(form, shared), 1 / size)


def _shared(terms: list[Term]) -> Form:
    """What is added to every piece: it leaves the maximum."""
    first, *others = terms
    bound = frozenset(v for t in terms for v in t.bound)
    kept = {t: c for t, c in piece_of(first).terms if not t.free & bound}
    for other in others:
        there = dict(piece_of(other).terms)
        kept = {t: c for t, c in kept.items() if there.get(t) == c}
    return form_of(kept.items())


def _pivot(terms: list[Term]) -> Form:
    """The one piece that is not over a range, from which all are measured: max(c, max x) = c + max(0, max(x − c))."""
    plain = [t for t in terms if t.plain]
    return piece_of(plain[0]) if len(plain) == 1 else constant(0)


def _larger(a: Form, b: Form) -> Form:
    """max(a, b) = b + max(a − b, 0), signed so that the difference's first coefficient is positive."""
    floored = count_with_floor(a, b) or count_with_floor(b, a)
    if floored is not None:
        return floored
    difference = subtract(a, b)
    if is_nonnegative(difference):
        return a
    if is_nonnegative(scale(difference, -1)):
        return b
    if difference.terms[0][1] < 0:
        difference, b = scale(difference, -1), a
    size, common, rest = content(difference, positive)       # max(c·a, c·b) = c·max(a, b)
    pieces = form_of(item for part in (rest, constant(0)) for item in piece(part).terms)
    return add(b, under(Draft((), NO_GUARDS, common), scale(of_atom(Apply("max", pieces)), size)))


def count_with_floor(count: Form, floor: Form) -> Form | None:
    """max(n, c) = n + c·[n = 0] for a count n and 0 < c ≤ 1; None for anything else."""
    least = value_of(floor)
    if least is None or not 0 < least <= 1 or not is_count(count):
        return None
    nothing = truth_of("zero", count)
    return add(count, guarded((nothing,), floor)) if isinstance(nothing, Literal) else count


def of_multiples(a: Form, b: Form) -> Form | None:
    """max(a, c·a) = c·a + (1 − c)·max(a, 0) for 0 < c < 1; None for two forms that are no such multiples. Where a holds
    a maximum itself, its pieces and their multiples would be two families, of which nothing is known together."""
    if not a.terms or not any(map(_is_maximum, (t for t, _ in a.terms))) or a.has(MINUS_INFINITY):
        return None
    c = b.terms[0][1] / a.terms[0][1] if b.terms else Fraction(0)
    if not 0 < c < 1 or scale(a, c) is not b:
        return None
    return add(b, scale(maximum([((), NO_GUARDS, a), ((), NO_GUARDS, constant(0))]), 1 - c))


def minimum(drafts: Iterable[Family]) -> Form:
    """min = −max of the negatives."""
    return scale(maximum((bound, guards, scale(form, -1)) for bound, guards, form in drafts), -1)


@remember
def maximum_again(pieces: Form) -> Form:
    """A maximum whose pieces have changed."""
    drafts = []
    for term, _ in pieces.terms:
        bound, guards, factors = opened(term, next_open(term.free))
        assert isinstance(factors[0][0], Apply)
        drafts.append((bound, guards, factors[0][0].argument))
    return maximum(drafts)
