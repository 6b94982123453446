"""Whether there is any: what a count is where nothing is counted, and what a sum is where nothing is added.

Means divide by max(count, 1), or by max(count, 1e-9), so that an empty segment gives 0 and not 0/0. A count n is a
whole number, so max(n, c) = n + c·[n = 0] for every 0 < c ≤ 1; n > 0 says that something is counted; and under [nothing
is counted] every sum over these same points is empty, while a sum over them says itself that there is something."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from samesame.formula.effort import step
from samesame.formula.guards import Guards, Literal, at_least_zero_literal, implied
from samesame.formula.poly import Var
from samesame.formula.terms import Apply, Form, Term, closed, constant, next_open, opened

MOST = 64                   # ways in which a point of a domain is looked for


def is_count(form: Form) -> bool:
    """Whether it says how many points there are, of one or several domains."""
    return bool(form.terms) and all(c > 0 and c.denominator == 1 and t.bound and not t.factors for t, c in form.terms)


def counted(form: Form) -> tuple[Form, Fraction]:
    """The form as its terms, and the number that is added to them."""
    number = sum((c for t, c in form.terms if t.plain and not t.factors), Fraction(0))
    return Form(tuple(item for item in form.terms if not item[0].plain or item[0].factors)), number


def points(count: Form) -> Form:
    """The domains of a count, each point a piece: what "exists" is said of."""
    mark = ((Apply("piece", constant(1)), Fraction(1)),)
    return Form(tuple(sorted(((closed(t.bound, t.guards, mark), Fraction(1)) for t, _ in count.terms), key=_key)))


def _key(item: tuple[Term, Fraction]) -> str:
    return item[0].key


def has_instance(literal: Literal, guards: Guards, inside: frozenset[Var]) -> bool:
    """Whether the guards, about these variables, name a point of the domain of which the literal says that it has any,
    or none."""
    if not isinstance(literal.subject, Apply) or literal.subject.head != "exists":
        return False
    others = tuple(g for g in guards if g is not literal)
    return any(_names(term, others, inside) for term, _ in literal.subject.argument.terms)


def _names(term: Term, guards: Guards, inside: frozenset[Var]) -> bool:
    bound, wanted, _ = opened(term, next_open(inside, term.free))
    places = sorted(inside, key=lambda v: v.key)
    if len(places) ** len(bound) > MOST:
        return False
    told = [g for g in wanted if g.op != "≥0"]
    for choice in product(places, repeat=len(bound)):
        step()
        names = tuple(zip(bound, choice, strict=True))
        if all(g.rename(names) in guards for g in told) and all(
            g.poly is not None and implied(guards, at_least_zero_literal(g.poly.rename(names)))
            for g in wanted if g.op == "≥0"
        ):
            return True
    return False
