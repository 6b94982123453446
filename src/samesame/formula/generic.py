"""Indices in generic position: a tensor read at places that hang on what is summed, read at every place.

`x[p] = Σ_u [u = p]·x[u]`, so a sum of x[p(i)] over i is one of x[u], weighted by how many i lead to u. Two sums that go
through the same places in other orders, or by other steps, then differ in their guards alone, and those are counted.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count

from samesame.formula.effort import step
from samesame.formula.guards import at, conjunction, solved, zero_literal
from samesame.formula.poly import Atom, Element, Poly, Var, variable
from samesame.formula.terms import Form, Term, closed, form_of, next_open, opened
from samesame.formula.written_out import windows_written_out


def in_generic_position(form: Form) -> Form | None:
    """x[p] = Σ_u [u = p]·x[u] at every index: bodies become tensor names, all the rest is counting. None where other
    atoms hold bound variables."""
    items: list[tuple[Term, Fraction]] = []
    for term, c in form.terms:
        step()
        whole = _generic_term(term)
        if whole is None:
            return None
        items += [(t, c) for t in whole]
    return form_of(items) if items else Form(())


def _generic_term(term: Term) -> list[Term] | None:
    """The term in generic position: none or one; None if that cannot be."""
    bound, guards, factors = opened(term, next_open(term.free))
    fresh = count(next_open(term.free, frozenset(bound)))
    points: list[tuple[Var, Poly]] = []
    moved: list[tuple[Atom, Fraction]] = []
    for atom, e in factors:
        if isinstance(atom, Element):
            own = [Var("open", (next(fresh),), None, None) for _ in atom.indices]
            points += zip(own, atom.indices, strict=True)
            moved.append((Element(atom.leaf, atom.bounds, tuple(variable(u) for u in own)), e))
        elif atom.free & frozenset(bound):
            return None
        else:
            moved.append((atom, e))
    solution: dict[Var, Poly] = {}
    equations: list[tuple[Var, Poly]] = []
    for u, p in points:
        p = p.at(tuple(solution.items()))
        v = next((v for v in bound if v not in solution and solved(p - variable(u), v) is not None), None)
        if v is None:
            equations.append((u, p))
            continue
        value = solved(p - variable(u), v)
        assert value is not None
        solution = {w: q.at(((v, value),)) for w, q in solution.items()} | {v: value}
    if len(solution) < len(bound) or any(g.poly is None and g.free & frozenset(bound) for g in guards):
        return None
    values = tuple(solution.items())
    together = conjunction(
        [
            *(at(g, values) if g.poly is not None else g for g in guards),
            *(zero_literal(p.at(values) - variable(u)) for u, p in equations),
        ]
    )
    return [] if together is None else [closed(tuple(u for u, _ in points), together, tuple(moved))]


def windows_in_generic_position(form: Form) -> Form | None:
    """What a window shows of an edge that is drawn out or cut off meets what is looked up there one by one."""
    written = windows_written_out(form)
    return None if written is None else in_generic_position(written)
