"""Conditions that leave one value: an index that a mask pins, and reals whose comparison is an equality.

Where [i ≤ 0] holds of an index i ≥ 0, x[i] is x[0]. Where neither x − 1 > 0 nor 1 − x > 0 holds, x is 1, and erf(x) is
erf(1): the point at which two pieces of a function meet, and at which its two spellings choose different pieces. Here a
term's factors take that value; every comparison that occurs with both signs splits the terms into below, at and above
first. Conditions stay as they are, so each term says what it said. Of a sum that is compared no single element is
known: there the terms at Σ = 0 that together are a multiple of Σ are left out."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce

from samesame.formula.defined import is_nowhere_defined
from samesame.formula.effort import step
from samesame.formula.functions import apply, power
from samesame.formula.guards import Guards, Literal, conjunction, negated, solved
from samesame.formula.poly import Atom, Element, Poly, Var, linear
from samesame.formula.rewrite import Draft, guarded, multiply, replaced, under
from samesame.formula.terms import Apply, Form, Term, add, constant, next_open, of_atom, opened, scale, subtract

MOST = 3        # comparisons, and conditions on indices, by which terms are split


def at_boundaries(form: Form) -> Form | None:
    """The form with pinned values in place of what is pinned; None where nothing is."""
    total: dict[Term, Fraction] = {}
    changed = False
    cuts = [*_both_signs(form), *_pins(form)]
    for term, c in form.terms:
        for guards in _split(term.guards, cuts):
            step()
            whole = _valued(Term(term.bound, guards, term.factors))
            changed = changed or whole is not None or guards is not term.guards
            for t, d in ((Term(term.bound, guards, term.factors), Fraction(1)),) if whole is None else whole.terms:
                total[t] = total.get(t, Fraction(0)) + c * d
    left = {t: c for t, c in total.items() if c}
    kept = _without_multiples(left)
    return Form(tuple(sorted(kept.items(), key=lambda item: item[0].key))) if changed or kept != left else None


def _without_multiples(terms: Mapping[Term, Fraction]) -> dict[Term, Fraction]:
    """The terms without those under d = 0 that add up to a multiple of d, under each other condition by themselves."""
    left = dict(terms)
    said = ((_sum_of(g), g, t.guards) for t in terms for g in t.guards)
    zeros = {d for d, g, guards in said if d is not None and _says_zero(g, guards)}
    for d in sorted(zeros, key=lambda d: d.key):
        parts: dict[Guards, list[tuple[Term, Form]]] = {}
        for term, c in left.items():
            if any(_sum_of(g) == d and _says_zero(g, term.guards) for g in term.guards):
                bound, guards, factors = opened(term, next_open(term.free))
                inside = tuple(g for g in guards if g.free & frozenset(bound))
                others = tuple(g for g in guards if g not in inside and _sum_of(g) != d)
                alone = scale(under(Draft(bound, inside, factors), constant(1)), c)
                parts.setdefault(others, []).append((term, alone))
        for group in parts.values():
            whole = reduce(add, (alone for _, alone in group))
            ratios = {c / k for (_, c), (_, k) in zip(whole.terms, d.terms, strict=False)}
            if not whole.terms or (len(ratios) == 1 and whole == scale(d, ratios.pop())):
                for term, _ in group:
                    del left[term]
    return left


def _sum_of(literal: Literal) -> Form | None:
    """d, of a condition on d or on −d; the one of the two that comes first."""
    atom = literal.subject
    if not isinstance(atom, Apply) or atom.head not in ("zero", "positive"):
        return None
    return min((atom.argument, scale(atom.argument, -1)), key=lambda d: d.key)


# ------------------------------------------------------------------------------------------------------------ splitting


def _positive(form: Form) -> Apply:
    return Apply("positive", form)


Cut = tuple[tuple[Literal, ...], ...]        # sides, of which exactly one holds


def _both_signs(form: Form) -> list[Cut]:
    """Below, at and above d = 0, for comparisons d > 0 and −d > 0 that both occur, not more than a few."""
    found = {
        g.subject
        for t, _ in form.terms
        for g in t.guards
        if isinstance(g.subject, Apply) and g.subject.head == "positive"
    }
    pairs = [(a, b) for a in found if (b := _positive(scale(a.argument, -1))) in found and a.key < b.key]
    return [
        (
            (Literal("holds", a), Literal("fails", b)),
            (Literal("fails", a), Literal("holds", b)),
            (Literal("fails", a), Literal("fails", b)),
        )
        for a, b in (sorted(pairs, key=lambda pair: pair[0].key) if len(pairs) <= MOST else [])
    ]


def _pins(form: Form) -> list[Cut]:
    """At and off the one value that a condition leaves a free index, or that it leaves out, not more than a few."""
    said = [g for t, _ in form.terms for g in t.guards if g.op == "≥0" and g.free <= t.free]
    found = dict.fromkeys(g for one in said for g in (one, negated(one)) if _leaves_one_value(g))
    return [((g,), (negated(g),)) for g in found] if len(found) <= MOST else []


def _leaves_one_value(literal: Literal) -> bool:
    p = literal.poly
    return p is not None and any(_only_value(p, v, literal.op) is not None for v in literal.free)


def _split(guards: Guards, cuts: list[Cut]) -> list[Guards]:
    """The guards' domain on each side of each cut."""
    cells = [guards]
    for sides in cuts:
        cells = [cell for part in cells for side in sides if (cell := conjunction((*part, *side))) is not None]
    return cells


# --------------------------------------------------------------------------------------------------------------- values


def _valued(term: Term) -> Form | None:
    """The term with its factors at the one value that its guards leave; None if they leave no such thing."""
    bound, guards, factors = opened(term, next_open(term.free))
    pinned = _pinned_index(term, guards)
    if pinned is not None:
        outside = tuple(g for g in guards if not g.free & frozenset(bound))
        inside = tuple(g for g in guards if g.free & frozenset(bound))
        return guarded(outside, replaced(Draft(bound, inside, factors), (pinned,)))
    for atom, value in _known_reals(guards):
        if any(_mentions(a, atom) for a, _ in factors):
            parts = [power(_put(a, atom, value), e) for a, e in factors]
            product = reduce(multiply, parts, constant(1))
            if product.terms or not any(map(is_nowhere_defined, parts)):      # x·log x is not 0 where x is
                return under(Draft(bound, guards, ()), product)
    return None


def _pinned_index(term: Term, guards: Guards) -> tuple[Var, Poly] | None:
    """A free index that the factors mention, and the value that the guards on free indices leave it."""
    used = frozenset(v for a, _ in term.factors for v in a.free) - frozenset(term.bound)
    for literal in guards:
        if literal.poly is None or not literal.free <= term.free:
            continue
        for v in sorted(used & literal.free, key=lambda v: v.key):
            value = solved(literal.poly, v) if literal.op == "=0" else _only_value(literal.poly, v, literal.op)
            if value is not None and v not in value.free:
                return v, value
    return None


def _only_value(p: Poly, v: Var, op: str) -> Poly | None:
    """The end of v's range that is all p ≥ 0 leaves."""
    slope, rest = linear(p, v)
    if op != "≥0" or slope is None or slope.constant not in (1, -1):
        return None
    end = rest * -slope.constant
    return end if end is (v.low if slope.constant == -1 else v.high) else None


def _known_reals(guards: Guards) -> list[tuple[Element, Form]]:
    """Elements that an equality d = 0 gives a value, with the value."""
    zeros = [g.subject.argument for g in guards if isinstance(g.subject, Apply) and _says_zero(g, guards)]
    return [found for d in zeros for found in _solutions(d)]


def _says_zero(literal: Literal, guards: Guards) -> bool:
    atom = literal.subject
    assert isinstance(atom, Apply)
    if atom.head == "zero":
        return literal.op == "holds"
    return (
        atom.head == "positive"
        and literal.op == "fails"
        and Literal("fails", _positive(scale(atom.argument, -1))) in guards
    )


def _solutions(d: Form) -> list[tuple[Element, Form]]:
    """Real elements a with d = c·a + rest and no a in the rest, with −rest/c."""
    found: list[tuple[Element, Form]] = []
    for term, c in d.terms:
        if term.plain and len(term.factors) == 1 and term.factors[0][1] == 1:
            atom = term.factors[0][0]
            rest = subtract(d, Form(((term, c),)))
            if isinstance(atom, Element) and not atom.integer and not any(_mentions(a, atom) for a in rest.atoms()):
                found.append((atom, scale(rest, -1 / c)))
    return found


def _mentions(atom: Atom, wanted: Atom) -> bool:
    if atom is wanted:
        return True
    return isinstance(atom, Apply) and any(_mentions(a, wanted) for a in atom.argument.atoms())


def _put(atom: Atom, old: Element, value: Form) -> Form:
    """The atom as a form, with the value for the element wherever functions are applied to it."""
    if atom is old:
        return value
    if not isinstance(atom, Apply) or not _mentions(atom, old):
        return of_atom(atom)
    return apply(atom.head, _put_in_form(atom.argument, old, value))


def _put_in_form(form: Form, old: Element, value: Form) -> Form:
    total = constant(0)
    for term, c in form.terms:
        bound, guards, factors = opened(term, next_open(term.free | value.free | old.free))
        product = constant(1)
        for a, e in factors:
            product = multiply(product, power(_put(a, old, value), e))
        total = subtract(total, scale(under(Draft(bound, guards, ()), product), -c))
    return total

