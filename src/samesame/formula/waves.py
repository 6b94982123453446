"""Waves: sums of cosines and sines over whole turns, which are nothing unless each of them is the same.

Σ_{k<n} cos(2π·k·m/n + a) is n·cos a where n divides m, and 0 otherwise; so with sines. Over half of a spectrum,
Σ_{k≤n/2} cos(2π·k·m/n) = (n·[n divides m] + 1 + cos πm)/2, without the last term where n is odd. A product of waves is
a sum of waves, so what comes back from a transform is what went there, and a product of spectra a circular convolution.
It is a late step, since what it writes out is longer."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from samesame.formula.functions import named
from samesame.formula.guards import Guards, zero_literal
from samesame.formula.left_out import with_all_places
from samesame.formula.poly import Atom, Poly, Var, at_least_zero, number, variable
from samesame.formula.rewrite import Draft, guarded, multiply, under
from samesame.formula.terms import (
    Apply,
    Factors,
    Form,
    Symbol,
    Term,
    add,
    as_poly,
    closed,
    constant,
    form_of,
    next_open,
    of_atom,
    of_poly,
    opened,
    scale,
    subtract,
)
from samesame.formula.turns import PI, is_half_turns

SINE, COSINE = "fn:sin", "fn:cos"
MOST_TERMS = 4_000          # written on the way
MOST_WAVES = 5              # that are multiplied
MOST_TURNS = 8              # by which an angle may be away

Wave = tuple[Fraction, str, Form]                          # how often, a sine or a cosine, of which angle


def by_waves(form: Form) -> Form | None:
    """The form with each sum of waves over whole turns as what it is; None where there is none."""
    if not any(map(_is_wave, form.atoms())):
        return None
    found, whole = form, with_all_places(form) or form
    while (less := _without_one(whole)) is not None:
        found = whole = less
        if len(whole.terms) > MOST_TERMS:
            return None
    return None if found is form else _without_squares(whole)


def _without_one(form: Form) -> Form | None:
    """The form with one bound variable less in each term where a wave is summed; None where there is no such term."""
    total, changed = list[Form](), False
    for term, c in form.terms:
        summed = _summed(term)
        changed = changed or summed is not None
        total.append(scale(Form(((term, Fraction(1)),)) if summed is None else summed, c))
    return add(*total) if changed else None


def _summed(term: Term) -> Form | None:
    bound, guards, factors = opened(term, next_open(term.free))
    for v in bound:
        waves = [(a, e) for a, e in factors if v in a.free]
        here = tuple(g for g in guards if v in g.free)
        if not waves or not _are_waves(waves) or not _is_range(v, here):
            continue
        outside = Draft(tuple(w for w in bound if w is not v), tuple(g for g in guards if v not in g.free),
                        tuple((a, e) for a, e in factors if v not in a.free))
        sums = [_sum(v, wave) for wave in _product([a for a, e in waves for _ in range(int(e))])]
        if all(s is not None for s in sums):
            return under(outside, add(*(s for s in sums if s is not None)))
    return None


def _is_wave(atom: Atom) -> bool:
    return isinstance(atom, Apply) and atom.head in (SINE, COSINE)


def _are_waves(factors: list[tuple[Atom, Fraction]]) -> bool:
    whole = all(_is_wave(a) and e.denominator == 1 and e > 0 for a, e in factors)
    return whole and sum(e for _, e in factors) <= MOST_WAVES


def _is_range(v: Var, guards: Guards) -> bool:
    """Whether the guards say no more than where v begins and ends, which is 0 and what it carries."""
    ends = {variable(v).key, (v.high - variable(v)).key} if v.high is not None else set()
    return v.low is not None and v.low.constant == 0 and len(guards) == 2 and {
        g.poly.key for g in guards if g.op == "≥0" and g.poly is not None} == ends


# ---------------------------------------------------------------------------------------------------- products of waves


def _product(atoms: list[Atom]) -> list[Wave]:
    """A product of sines and cosines as a sum: cos a·cos b = (cos(a − b) + cos(a + b))/2, and so on."""
    first, *rest = atoms
    assert isinstance(first, Apply)
    waves: list[Wave] = [(Fraction(1), first.head, first.argument)]
    for atom in rest:
        assert isinstance(atom, Apply)
        waves = [wave for one in waves for wave in _times(one, atom.head, atom.argument)]
    return waves


def _times(wave: Wave, head: str, angle: Form) -> Iterator[Wave]:
    c, mine, a = wave
    less, more = subtract(a, angle), add(a, angle)
    match mine == SINE, head == SINE:
        case False, False:
            yield from ((c / 2, COSINE, less), (c / 2, COSINE, more))
        case True, True:
            yield from ((c / 2, COSINE, less), (-c / 2, COSINE, more))
        case True, False:
            yield from ((c / 2, SINE, more), (c / 2, SINE, less))
        case _:
            yield from ((c / 2, SINE, more), (-c / 2, SINE, less))


# -------------------------------------------------------------------------------------------------------- sums of waves


def _sum(v: Var, wave: Wave) -> Form | None:
    """The sum of a wave over v from 0 to its end; None where that is no sum over turns."""
    c, head, angle = wave
    assert v.high is not None
    split = _split(v, angle)
    if split is None:
        return None
    turning, still = split
    count = v.high + 1
    if (m := _turns(turning, count)) is not None and (met := _divides(count, m)) is not None:
        return scale(multiply(multiply(of_poly(count), met), named(head.removeprefix("fn:"))(still)), c)
    last = v.high.constant
    if last is None or still.terms or head == SINE:
        return None
    for n in (2 * last, 2 * last + 1):
        if n and (m := _turns(turning, number(n))) is not None and (met := _divides(number(n), m)) is not None:
            end = _parity(m) if n == 2 * last else constant(0)
            return scale(add(scale(met, n), constant(1), end), c / 2)
    return None


def _split(v: Var, angle: Form) -> tuple[Form, Form] | None:
    """An angle as v times something, and the rest."""
    turning, still = list[tuple[Term, Fraction]](), list[tuple[Term, Fraction]]()
    for term, c in angle.terms:
        if v not in term.free:
            still.append((term, c))
            continue
        others: Factors = tuple((a, e) for a, e in term.factors if a is not v)
        if not term.plain or len(others) != len(term.factors) - 1 or any(v in a.free for a, _ in others):
            return None
        if (v, Fraction(1)) not in term.factors:
            return None
        turning.append((closed((), (), others), c))
    return form_of(turning), form_of(still)


def _turns(angle: Form, n: Poly) -> Poly | None:
    """m, where n times the angle is 2π·m for an integer m."""
    pi, whole = of_atom(Symbol(PI), -1), scale(of_poly(n), Fraction(1, 2))
    return as_poly(multiply(multiply(angle, whole), pi))


def _divides(n: Poly, m: Poly) -> Form | None:
    """[n divides m], as a sum over the multiples of n that m may be; None where there may be many."""
    found = constant(0)
    for direction in (1, -1):
        turns = 0 if direction == 1 else 1
        while not at_least_zero(n * turns - 1 - m * direction):
            if turns == MOST_TURNS:
                return None
            literal = zero_literal(m - n * turns * direction)
            if literal is not False:
                found = add(found, constant(1) if literal is True else guarded((literal,), constant(1)))
            turns += 1
    return found


def _parity(m: Poly) -> Form:
    """cos πm = Π cos(π·c·monomial), of which those with an even c are 1."""
    found = constant(1)
    for monomial, c in m.terms:
        if c % 2:
            angle = of_atom(Symbol(PI))
            for atom in monomial:
                angle = multiply(angle, of_atom(atom))
            found = multiply(found, named("cos")(angle))
    return found


def _without_squares(form: Form) -> Form:
    """The form with 1 for the square of each cosine of half turns."""
    total = list[Form]()
    for term, c in form.terms:
        bound, guards, factors = opened(term, next_open(term.free))
        less = tuple((a, e % 2 if _is_parity(a) and e.denominator == 1 and e > 1 else e) for a, e in factors)
        draft = Draft(bound, guards, tuple((a, e) for a, e in less if e))
        total.append(scale(Form(((term, Fraction(1)),)) if less == factors else under(draft, constant(1)), c))
    return add(*total)


def _is_parity(atom: Atom) -> bool:
    return isinstance(atom, Apply) and atom.head == COSINE and all(
        c.denominator == 1 and is_half_turns(term) for term, c in atom.argument.terms)
