"""Domains refined until they coincide: Σ_{k≤n} f = Σ_{k<n} f + f(n), wherever another sum has the smaller domain.

The normal form joins neighbouring domains of equal sums, which makes most claims about parts identical. It cannot where
the coefficients differ, as in Welford's (n + 1)·Σ_{k<n} f − n·Σ_{k≤n} f, or where one domain lies within the other, as
in Σ_{j<u≤i} f and Σ_{u≤i} f − Σ_{u≤j} f. Here every condition on a bound variable that one sum of a body has splits
the other sums of that body, and nothing is joined again: what is equal cancels. Exponents of exp and of products over
ranges are split likewise, where what the term around them demands is known."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from samesame.formula.effort import step
from samesame.formula.functions import exp, power
from samesame.formula.guards import NO_GUARDS, Guards, Literal, conjunction, implied, infeasible, negation
from samesame.formula.products import product_of
from samesame.formula.rewrite import Draft, multiply, simplify, under
from samesame.formula.terms import Apply, Form, Term, closed, constant, next_open, of_atom, opened

ROUNDS = 4          # a piece may bring new conditions for the others
MOST = 6            # conditions that one body is split by
HELD = {"exp": "held exp", "prod": "held prod"}


def refined(form: Form) -> Form | None:
    """The form with its exponents' and its sums' domains refined; None where there is nothing to refine."""
    split = with_exponents_split(form)
    again = with_sums_split(split or form)
    return again or split


def with_sums_split(form: Form) -> Form | None:
    """Sums of one body over different domains, split into sums over the same ones."""
    changed = False
    for _ in range(ROUNDS):
        pieces = _sums_split(form)
        if pieces is None:
            break
        form, changed = pieces, True
    return form if changed else None


def _sums_split(form: Form) -> Form | None:
    conditions = _conditions(t for t, _ in form.terms)
    total: dict[Term, Fraction] = {}
    changed = False
    for term, c in form.terms:
        cells = _cells(term, conditions.get(_body(term), ()), NO_GUARDS)
        changed = changed or len(cells) > 1
        for guards in cells:
            step()
            whole = simplify(closed(term.bound, guards, term.factors)) if len(cells) > 1 else None
            for t, d in ((term, Fraction(1)),) if whole is None else whole.terms:
                total[t] = total.get(t, Fraction(0)) + c * d
    return _unjoined(total) if changed else None


def _unjoined(total: dict[Term, Fraction]) -> Form:
    return Form(tuple(sorted(((t, c) for t, c in total.items() if c), key=lambda item: item[0].key)))


Body = tuple[object, ...]


def _body(term: Term) -> Body:
    """What is summed, without what leaves the sum."""
    bound = frozenset(term.bound)
    return (term.bound, *((a, e) for a, e in term.factors if a.free & bound))


def _conditions(terms: Iterable[Term]) -> dict[Body, tuple[Literal, ...]]:
    """For each body that is summed over different domains, the conditions in which these differ."""
    domains: dict[Body, dict[Guards, None]] = {}
    for term in terms:
        if term.bound:
            bound = frozenset(term.bound)
            own = tuple(g for g in term.guards if g.free & bound and g.poly is not None and g.op == "≥0")
            domains.setdefault(_body(term), {})[own] = None
    found: dict[Body, tuple[Literal, ...]] = {}
    for body, several in domains.items():
        every = dict.fromkeys(g for guards in several for g in guards)
        differing = tuple(g for g in every if not all(g in guards for guards in several))
        if len(several) > 1 and len(differing) <= MOST:
            found[body] = differing
    return found


def _cells(term: Term, conditions: tuple[Literal, ...], known: Guards) -> list[Guards]:
    """The term's domain in parts on which every condition is decided, given what is known around it."""
    cells = [term.guards]
    for literal in conditions:
        cells = [part for guards in cells for part in _divided(guards, literal, known)]
    return [_tidied(guards, term, known) for guards in cells] if len(cells) > 1 else cells


def _divided(guards: Guards, literal: Literal, known: Guards) -> list[Guards]:
    there = conjunction((*guards, *known))
    if there is None:
        return []
    if implied(there, literal) or implied(there, negation(literal)):
        return [guards]
    sides = (conjunction((*guards, side)) for side in (literal, negation(literal)))
    return [part for part in sides if part is not None and not infeasible(conjunction((*part, *known)) or part)]


def _tidied(guards: Guards, term: Term, known: Guards) -> Guards:
    """Without the guards that the others imply, given what is known."""
    for literal in guards:
        rest = tuple(g for g in guards if g is not literal)
        together = conjunction((*rest, *known))
        if literal.free & frozenset(term.bound) and together is not None and implied(together, literal):
            guards = rest
    return guards


# ------------------------------------------------------------------------------------------------------------ exponents


def with_exponents_split(form: Form) -> Form | None:
    """exp and products over different domains of one body, written as products over the same ones. The parts are held:
    a held part is any number, so that it does not join its neighbours again."""
    ranged = [a for a in form.atoms() if isinstance(a, Apply) and _is_ranged(a)]
    conditions = _conditions(a.argument.terms[0][0] for a in ranged)
    if not conditions:
        return None
    total: dict[Term, Fraction] = {}
    changed = False
    for term, c in form.terms:
        whole = _held(term, conditions)
        changed = changed or whole is not None
        for t, d in ((term, Fraction(1)),) if whole is None else whole.terms:
            total[t] = total.get(t, Fraction(0)) + c * d
    return _unjoined(total) if changed else None


def _is_ranged(atom: object) -> bool:
    return isinstance(atom, Apply) and atom.head in HELD and bool(atom.argument.terms[0][0].bound)


def _held(term: Term, conditions: dict[Body, tuple[Literal, ...]]) -> Form | None:
    """The term with its ranged exponents split and held; None where no condition concerns it."""
    concerned = [
        (a, e)
        for a, e in term.factors
        if isinstance(a, Apply) and _is_ranged(a) and _body(a.argument.terms[0][0]) in conditions
    ]
    if not concerned:
        return None
    parts: list[tuple[str, Term, list[Guards], Fraction]] = []
    for a, e in concerned:
        (inner, c), *_ = a.argument.terms
        parts.append((a.head, inner, _cells(inner, conditions[_body(inner)], term.guards), c * e))
    bound, guards, factors = opened(term, next_open(term.free))
    names = tuple(zip(term.bound, bound, strict=True))
    product = constant(1)
    for head, inner, cells, exponent in parts:
        for cell in cells:
            piece = simplify(closed(inner.bound, cell, inner.factors)).rename(names)
            product = multiply(product, _part(head, piece, exponent))
    left = tuple(new for new, old in zip(factors, term.factors, strict=True) if old not in concerned)
    return under(Draft(bound, guards, left), product)


def _part(head: str, exponent: Form, times: Fraction) -> Form:
    """exp or Π of one part of an exponent, a power of it: held if it is over a range."""
    product = constant(1)
    for t, c in exponent.terms:
        alone = Form(((t, Fraction(1)),))
        if t.bound:
            product = multiply(product, of_atom(Apply(HELD[head], alone), c * times))
        else:
            product = multiply(product, power((exp if head == "exp" else product_of)(alone), c * times))
    return product
