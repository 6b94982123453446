"""Signs and zeros: which forms are known to be positive, not negative, or nonzero but for special inputs.

A form whose terms are all squares and positive things, with positive coefficients, is not negative. A variance has
another sign in it, Σ f²/n − (Σ f)²/n², and is not negative either (Cauchy and Schwarz). So the variances in a form are
taken out of it before the signs of the rest are asked. What is so with each piece of a maximum is so with the
maximum; and log Σ exp(x) is no less than any x[j] of the row, so a log-probability is not above zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import lcm

from samesame.formula.effort import remember
from samesame.formula.guards import (
    NO_GUARDS,
    Guards,
    at,
    at_least_zero_literal,
    bounds,
    conjunction,
    implied,
    negation,
    solved,
)
from samesame.formula.inside import inner_polys
from samesame.formula.poly import Atom, IntegerAtom, Var, at_least, variable
from samesame.formula.rewrite import Draft, at_point, multiply, positive, rewritten, under
from samesame.formula.terms import (
    MINUS_INFINITY,
    UNDEFINED,
    Apply,
    Factors,
    Form,
    Symbol,
    Term,
    add,
    as_poly,
    laws,
    lone_atom,
    next_open,
    of_atom,
    opened,
    scale,
    subtract,
    value_of,
)


def has_point(term: Term) -> bool:
    """Whether the term's domain is provably not empty, for every value of its free variables."""
    bound, guards, _ = opened(term, next_open(term.free))
    return _has_point(bound, guards)


def have_point(terms: Sequence[Term]) -> bool:
    """Whether the domains of these terms together are provably not empty: one is not, or two are the halves of one that
    is not, cut by a condition that holds in the one and fails in the other."""
    return any(map(has_point, terms)) or any(_halves_have_point(a, b) for a, b in combinations(terms, 2))


def _halves_have_point(a: Term, b: Term) -> bool:
    first = next_open(a.free | b.free)
    (bound, mine, _), (same, yours, _) = opened(a, first), opened(b, first)
    for literal in mine if bound == same else ():
        rest = {*mine} - {literal}
        if {*yours} == rest | {negation(literal)}:
            return _has_point(bound, tuple(g for g in mine if g is not literal))
    return False


def _has_point(bound: tuple[Var, ...], guards: Guards) -> bool:
    if any(g.poly is None for g in guards):
        return False
    if not bound:
        return all(implied(NO_GUARDS, g) for g in guards)
    v, *rest = bound
    lows, highs, _ = bounds(v, guards)
    padded = [low + 1 for low, _ in lows] if len(lows) > 1 and len(highs) > 1 else []  # of a window that begins outside
    alike = {w: None for g in guards if g.op == "=0" and v in g.free for w in sorted(g.free - {v}, key=lambda w: w.key)}
    for end in (*(end for end, _ in (*lows, *highs)), *padded, *map(variable, alike)):     # of t[v] = t[w] there is w
        there = conjunction(at(g, ((v, end),)) for g in guards)
        if there is not None and _has_point(tuple(rest), there):
            return True
    return not rest and _has_more_than_it_leaves_out(v, guards)


def _has_more_than_it_leaves_out(v: Var, guards: Guards) -> bool:
    """Whether a range has more elements than the guards leave out one by one, as k ≠ p does for any p."""
    lows, highs, others = bounds(v, guards)
    if len(lows) != 1 or len(highs) != 1 or not all(v in g.free or implied(NO_GUARDS, g) for g in guards):
        return False
    if not all(g.op == "≠0" and g.poly is not None and solved(g.poly, v) is not None for g in others):
        return False
    return implied(NO_GUARDS, at_least_zero_literal(highs[0][0] - lows[0][0] - len(others)))


@remember
def is_positive(form: Form) -> bool:
    """Whether the form is provably > 0 wherever it is defined."""
    rest = _without_variances(form)
    above = any(all(positive(a) for a, _ in _inside(t)) and has_point(t) for t, _ in rest.terms)
    return (above and _all_nonnegative(rest)) or _is_at_least(form, 1)


@remember
def is_nonnegative(form: Form) -> bool:
    """Whether the form is provably ≥ 0 wherever it is defined."""
    shown = _all_nonnegative(_without_variances(form)) or _is_at_least(form, 0)
    return shown or _with_each_piece(form) or _exceeds_an_exponent(form)


def _is_at_least(form: Form, least: int) -> bool:
    """Whether a polynomial of integers is so in their ranges, as 5 − i is for i ≤ 4."""
    p = as_poly(scale(form, lcm(*(c.denominator for _, c in form.terms)))) if form.terms else None
    return p is not None and at_least(p, least)


def _all_nonnegative(form: Form) -> bool:
    return all(c > 0 and (all(_nonnegative(a, e) for a, e in _inside(t)) or _is_square(t)) for t, c in form.terms)


def _is_square(term: Term) -> bool:
    """Whether a sum over several variables is the square of a sum over half of them, times what is not negative:
    Σ f(j)·f(k) is (Σ f)². So the length of a transform is none of a negative number."""
    if len(term.bound) not in (2, 4):
        return False
    bound, guards, factors = opened(term, next_open(term.free))
    half = len(bound) // 2
    orders = (order for order in permutations(bound) if order[0] is bound[0])
    return any(_are_halves(order[:half], order[half:], guards, factors) for order in orders)


def _are_halves(one: tuple[Var, ...], other: tuple[Var, ...], guards: Guards, factors: Factors) -> bool:
    """Whether what hangs on some variables is what hangs on the others under their names, and nothing on both."""
    names = tuple(zip(one, other, strict=True))
    mine, yours = frozenset(one), frozenset(other)
    things = (*guards, *(a for a, _ in factors))
    if any(thing.free & mine and thing.free & yours for thing in things):
        return False
    renamed = sorted((a.rename(names).key, e) for a, e in factors if a.free & mine)
    limits = sorted(g.rename(names).key for g in guards if g.free & mine)
    return (
        renamed == sorted((a.key, e) for a, e in factors if a.free & yours)
        and limits == sorted(g.key for g in guards if g.free & yours)
        and all(_nonnegative(a, e) for a, e in factors if not a.free & (mine | yours))
    )


def _inside(term: Term) -> Factors:
    """The factors, under variables that carry their ranges."""
    return opened(term, next_open(term.free))[2]


def _nonnegative(atom: Atom, exponent: Fraction) -> bool:
    if exponent.numerator % 2 == 0 or exponent.denominator % 2 == 0 or positive(atom):
        return True
    if isinstance(atom, Apply):
        return atom.head in ("fn:abs",) or (atom.head == "max" and _has_nonnegative_piece(atom.argument))
    return isinstance(atom, IntegerAtom) and atom.integer and at_least(variable(atom), 0)


def _has_nonnegative_piece(pieces: Form) -> bool:
    return any(t.plain and is_nonnegative(piece_of(t)) for t, _ in pieces.terms)


def piece_of(term: Term) -> Form:
    """A piece of a maximum as a form."""
    (atom, _), *_ = term.factors
    assert isinstance(atom, Apply) and atom.head == "piece"
    return atom.argument


# ---------------------------------------------------------------------------------------------- maxima and logarithms


def _with_each_piece(form: Form) -> bool:
    """Whether it is so with each piece of a maximum in place of that, which is one of them if there is one at least."""
    found = _only(form, "max")
    if found is None or not any(t.plain for t, _ in found[0].argument.terms):
        return False
    atom, c = found
    rest = subtract(form, scale(of_atom(atom), c))
    pieces = (opened(t, next_open(t.free | rest.free))[2][0][0] for t, _ in atom.argument.terms)
    return all(isinstance(p, Apply) and is_nonnegative(add(rest, scale(p.argument, c))) for p in pieces)


def _exceeds_an_exponent(form: Form) -> bool:
    """Whether a form is c·log Σ f − x for c > 0, or more, and Σ f / exp(x/c) no less than 1: one of the f is exp(x/c),
    and none is below zero."""
    found = _only(form, "log")
    if found is None or found[1] < 0 or form.has(UNDEFINED) or form.has(MINUS_INFINITY):
        return False
    atom, c = found
    if not is_positive(atom.argument):
        return False
    less = Form(tuple((t, d) for t, d in form.terms if d < 0 or not t.plain or t.factors))
    quotient = laws().apply("exp", scale(less, 1 / c))
    return _all_nonnegative(quotient) and any(d * value >= 1 for t, d in quotient.terms for value in _values_of(t))


def _only(form: Form, head: str) -> tuple[Apply, Fraction] | None:
    """The one function of this name, but for such of numbers, that a form has as a term by itself; its coefficient."""
    found = [(a, c) for t, c in form.terms if isinstance(a := lone_atom(Form(((t, Fraction(1)),)), head), Apply)]
    found = [(a, c) for a, c in found if value_of(a.argument) is None]
    return found[0] if len(found) == 1 else None


def _values_of(term: Term) -> Iterator[Fraction]:
    """What a sum adds at some of its points, where that is a number: at indices that stand in it beside its own."""
    if len(term.bound) != 1:
        return
    (v,) = term.bound
    for place in dict.fromkeys(p for a, _ in term.factors for *_, p in inner_polys(a) if v not in p.free):
        value = value_of(at_point(term, v, place))
        if value is not None:
            yield value


# ------------------------------------------------------------------------------------------------------------ variances


def _without_variances(form: Form) -> Form:
    """The form less what is known not to be negative of its sums of squares: each with the term c·Σ (Σ f)² that it
    cancels."""
    negative = [t for t, c in form.terms if c < 0]
    if not negative or any(len(t.bound) < 2 for t in negative) or form.has(UNDEFINED) or form.has(MINUS_INFINITY):
        return form
    for term, c in form.terms:
        if c < 0 or not term.bound:
            continue
        variance = _variance(term)
        less = form if variance is None else subtract(form, scale(variance, c))
        if sum(d < 0 for _, d in less.terms) < len(negative):
            return _without_variances(less)
    return form


def _variance(term: Term) -> Form | None:
    """w·(Σ f² − (Σ f)²/n) for a term w·Σ f² over n points, w ≥ 0; None where the term is no such sum."""
    bound, guards, factors = opened(term, next_open(term.free))
    if any(g.poly is None or not g.free & frozenset(bound) for g in guards):
        return None                                        # how many points there are would hang on values
    root = tuple((a, e / 2) for a, e in factors if e.denominator == 1 and e % 2 == 0)
    weight = tuple((a, e) for a, e in factors if not (e.denominator == 1 and e % 2 == 0))
    if any(a.free & frozenset(bound) or not _nonnegative(a, e) for a, e in weight):
        return None
    total, points = rewritten(Draft(bound, guards, root)), rewritten(Draft(bound, guards, ()))
    if not (value_of(points) or is_positive(points)):
        return None
    mean = multiply(multiply(total, total), laws().power(points, Fraction(-1)))
    return subtract(Form(((term, Fraction(1)),)), under(Draft((), NO_GUARDS, weight), mean))


# --------------------------------------------------------------------------------------------------------------- zeros


@remember
def is_generic(atom: Atom) -> bool:
    """Whether an atom is nonzero but for special values of the real inputs: integers must be so everywhere."""
    if positive(atom):
        return True
    if isinstance(atom, Apply) and atom.head in ("prod", "held prod"):
        parts = [a for t, _ in atom.argument.terms for a, _ in _inside(t)]
        return all(is_generic(a) for a in parts if isinstance(a, Apply) and a.head == "factor")
    if isinstance(atom, Apply) and atom.head == "factor":
        return bool(atom.argument.terms) and (value_of(atom.argument) is not None or never_vanishes(atom.argument))
    if isinstance(atom, Apply):
        return atom.head != "sum" or never_vanishes(atom.argument)
    if isinstance(atom, IntegerAtom) and atom.integer:
        return at_least(variable(atom), 1) or at_least(-variable(atom), 1)
    return not isinstance(atom, Symbol)


@remember
def never_vanishes(form: Form) -> bool:
    """Whether some term survives on every cell of the free variables. Such a sum is nonzero but for special values of
    the real inputs; one that may be empty, or consists of integers only, may not be cleared from a denominator."""
    shapes = [(t.bound, t.factors) for t, _ in form.terms]
    sign_known = is_positive(form)
    return any(
        (sign_known or shapes.count((t.bound, t.factors)) == 1)
        and has_point(t)
        and all(is_generic(a) for a, _ in _inside(t))
        for t, _ in form.terms
    )
