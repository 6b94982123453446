"""Standing: where the least of (x − c[k])² over k stands, the least of c[k]² − 2·x·c[k] does.

An operator that says where in a row an element stands hangs on the order of the row alone. What monotone.py takes off a
row it takes off an expression as it is built; here the row is a normal form, expanded, so that what all its elements
share shows as terms without the row's variable. Those are left out where they are numbers for all inputs, and what is
left is divided by its largest coefficient; where it is plainer turned round, the other end of the row is asked for. A
row that may hold −∞ is left as it is.
"""

from __future__ import annotations

from fractions import Fraction

from samesame.formula.guards import Literal
from samesame.formula.monotone import turned_round
from samesame.formula.poly import Atom, Element, Poly, SizeAtom, Var
from samesame.formula.terms import MINUS_INFINITY, UNDEFINED, Body, Form, Term, body, form_of, scale


def by_order(name: str, attributes: tuple[object, ...], row: Body) -> tuple[str, tuple[object, ...], Body]:
    """An operator that says where in a row an element stands, its options and the row, as plain as its order is."""
    form = row.form
    turned = turned_round(name, attributes)
    if turned is None or form.has(MINUS_INFINITY) or form.has(UNDEFINED):
        return name, attributes, row
    varying = form_of((t, c) for t, c in form.terms if t.free & frozenset(row.bound) or not _is_number(t))
    factor = 1 / max((abs(c) for _, c in varying.terms), default=Fraction(1))
    falls = not varying.terms and repr(turned) < repr((name, attributes))           # of a level row all say the same
    if _is_turned(varying) or falls:
        (name, attributes), factor = turned, -factor
    return name, attributes, body(row.bound, row.extents, scale(varying, factor))


def _is_turned(form: Form) -> bool:
    """Whether the row is better read the other way round, so that two ways of writing one are read alike. It hangs on
    no name, which may be another one tomorrow: the first kind of terms that all have one sign decides."""
    signs = dict[str, set[bool]]()
    for term, c in form.terms:
        signs.setdefault(_kind(term), set()).add(c < 0)
    return next((negative for _, (negative, *others) in sorted(signs.items()) if not others), False)


def _kind(term: Term) -> str:
    """What a term is but for the names in it."""
    factors = sorted((a.leaf.name if isinstance(a, Element) else type(a).__name__, e) for a, e in term.factors)
    return f"{factors} {len(term.bound)} {len(term.guards)}"


def _is_number(term: Term) -> bool:
    """Is it a number wherever its leaves hold numbers: a sum of products of elements at places that sizes bound?"""
    return all(map(_is_structural, term.guards)) and all(
        e > 0 and e.denominator == 1 and _is_element(a) for a, e in term.factors)


def _is_element(atom: Atom) -> bool:
    return isinstance(atom, SizeAtom | Var) or (
        isinstance(atom, Element) and all(map(_of_sizes, atom.indices)))


def _is_structural(guard: Literal) -> bool:
    return guard.poly is not None and _of_sizes(guard.poly)


def _of_sizes(p: Poly) -> bool:
    return all(isinstance(a, SizeAtom | Var) for a in p.atoms())
