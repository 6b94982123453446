"""Matrices as a whole: inverses, Cholesky factors and determinants, and what is known of them.

Each is a function of a whole matrix, told by the normal form of its element, and is written where operators without a
meaning are: `inverse⟨λ i, j. a[i, j]⟩[p, q]`. A Cholesky factor L of a symmetric S is lower triangular with L·Lᵀ = S,
and W, its inverse, is lower triangular with Wᵀ·W = S⁻¹; both are written with the guard that says where they are not 0.
So what is solved by a factor is what is solved by the inverse, and 2·Σ log L[i, i] is log |S|. All this holds where
the factor exists: a matrix that has none gives no numbers. X is pushed through an inverse, from (λ + Xᵀ·X)⁻¹·Xᵀ to
Xᵀ·(λ + X·Xᵀ)⁻¹, towards the matrix that comes first, so that ridge regression by features and by samples is one.
"""

from __future__ import annotations

from fractions import Fraction

from samesame.formula.contents import content
from samesame.formula.effort import step
from samesame.formula.functions import log, named
from samesame.formula.guards import Literal, at_least_zero_literal, conjunction, less, zero_literal
from samesame.formula.inside import ratios_in
from samesame.formula.poly import Atom, Poly, Var, divide, exact_quotient, number, variable
from samesame.formula.rewrite import Draft, guarded, multiply, substitute, under
from samesame.formula.signs import is_generic
from samesame.formula.terms import (
    SYMMETRIC,
    Apply,
    Body,
    Form,
    OpaqueAtom,
    Term,
    add,
    body,
    closed,
    constant,
    form_of,
    lone_atom,
    next_open,
    of_atom,
    opaque_of,
    opened,
    scale,
)

INVERSE, FACTOR, DETERMINANT = "inverse", "cholesky", "determinant"
FUNCTIONS = frozenset((INVERSE, FACTOR, DETERMINANT))
WHITENER = "inverse of cholesky"
ROW, COLUMN = 0, 1


def element(atom: OpaqueAtom) -> Form:
    """An element of a function of a matrix, as its laws have it."""
    (whole,) = atom.bodies
    if atom.name == FACTOR:
        return _lower(FACTOR, symmetric(whole), *atom.indices)
    return _inverse(whole, *atom.indices) if atom.name == INVERSE else of_atom(atom)


def _of(name: str, whole: Body, *indices: Poly) -> OpaqueAtom:
    return opaque_of(name, "()", "real", (whole,), indices)


def _lower(name: str, whole: Body, p: Poly, q: Poly) -> Form:
    """An element of a lower triangular matrix."""
    below = at_least_zero_literal(p - q)
    if isinstance(below, bool):
        return of_atom(_of(name, whole, p, q)) if below else constant(0)
    return guarded((below,), of_atom(_of(name, whole, p, q)))


def _inverse(whole: Body, p: Poly, q: Poly) -> Form:
    """An element of an inverse: (c·A)⁻¹ = A⁻¹/c; of A and its transpose the one is inverted that comes first."""
    known = _factor_in(whole, p, q) or _of_kronecker(whole, p, q)
    if known is not None:
        return known
    (i, j), extents, form = _open(whole)
    size, common, rest = content(form, lambda a: is_generic(a) and not a.free & {i, j})
    smaller, turned = body((i, j), extents, rest), body((i, j), extents, exchanged(rest, i, j))
    inverse = _of(SYMMETRIC, smaller, p, q) if smaller is turned else (
        _of(INVERSE, smaller, p, q) if smaller.key < turned.key else _of(INVERSE, turned, q, p))
    outside = Draft((), (), tuple((a, -e) for a, e in common))
    return under(outside, scale(of_atom(inverse), 1 / size)) if size else of_atom(_of(INVERSE, whole, p, q))


def _of_kronecker(whole: Body, p: Poly, q: Poly) -> Form | None:
    """(G ⊗ A)⁻¹ = G⁻¹ ⊗ A⁻¹, where a matrix is a product of one element for the blocks and one inside of them."""
    (i, j), (n, _), form = _open(whole)
    for size in {r.divisor: None for r in ratios_in(form) if r.numerator in (variable(i), variable(j))}:
        blocks = exact_quotient(n, size)
        if blocks is None or size.free or blocks.constant == 1:
            continue
        first = next_open(form.free)
        places = [Var("open", (first + k,), number(0), end - 1) for k, end in enumerate((blocks, blocks, size, size))]
        i1, j1, i2, j2 = map(variable, places)
        apart = _apart(substitute(form, ((i, i1 * size + i2), (j, j1 * size + j2))), places[:2], places[2:])
        if apart is not None:
            outer, inner = (body(tuple(at), (end, end), part)
                            for at, end, part in zip((places[:2], places[2:]), (blocks, size), apart, strict=True))
            (above, beside), (below, right) = zip(divide(p, size), divide(q, size), strict=True)
            return multiply(_inverse(outer, above, beside), _inverse(inner, below, right))
    return None


def _apart(form: Form, one: list[Var], other: list[Var]) -> tuple[Form, Form] | None:
    """Two forms, each in some of the variables only, of which a form is the product; None where there are none."""
    parts: dict[Term, list[tuple[Term, Fraction]]] = {}
    for term, c in form.terms:
        halves = _halves(term, frozenset(one), frozenset(other))
        if halves is None:
            return None
        parts.setdefault(halves[0], []).append((halves[1], c))
    inner = [(term, form_of(items)) for term, items in parts.items()]
    if not inner:
        return None
    common = inner[0][1]
    outer: list[tuple[Term, Fraction]] = []
    for term, own in inner:
        times = own.terms[0][1] / common.terms[0][1] if own.terms else Fraction(0)
        if not times or scale(common, times) is not own:
            return None
        outer.append((term, times))
    return form_of(outer), common


def _halves(term: Term, one: frozenset[Var], other: frozenset[Var]) -> tuple[Term, Term] | None:
    """A term as a product of two, the first in these variables; None where something in it hangs on both."""
    bound, guards, factors = opened(term, next_open(term.free))
    things = [(thing, thing.free & (one | other | frozenset(bound))) for thing in (*guards, *(a for a, _ in factors))]
    reached, before = one, frozenset[Var]()
    while reached != before:
        before = reached
        reached = reached.union(*(free for _, free in things if free & reached))
    if reached & other:
        return None
    mine, yours = (
        closed(tuple(v for v in bound if (v in reached) == side),
               tuple(g for g in guards if bool(g.free & reached) == side),
               tuple((a, e) for a, e in factors if bool(a.free & reached) == side))
        for side in (True, False)
    )
    return mine, yours


def _factor_in(whole: Body, p: Poly, q: Poly) -> Form | None:
    """L⁻¹[p, q] where the matrix is a Cholesky factor L, or is Lᵀ; None where it is neither."""
    (i, j), _, form = _open(whole)
    if len(form.terms) != 1 or form.terms[0][1] != 1 or form.terms[0][0].bound:
        return None
    term = form.terms[0][0]
    (atom, exponent), *more = term.factors or ((None, Fraction(0)),)
    if more or exponent != 1 or not isinstance(atom, OpaqueAtom) or atom.name != FACTOR:
        return None
    for one, other, at in ((i, j, (p, q)), (j, i, (q, p))):
        below = at_least_zero_literal(variable(one) - variable(other))
        if atom.indices == (variable(one), variable(other)) and term.guards == (below,):
            return _lower(WHITENER, atom.bodies[0], *at)
    return None


def _open(whole: Body) -> tuple[tuple[Var, ...], tuple[Poly, ...], Form]:
    """A body under variables of its own, which carry their ranges."""
    first = next_open(whole.free, whole.form.free)
    new = tuple(Var("open", (first + k,), number(0), extent - 1) for k, extent in enumerate(whole.extents))
    return new, whole.extents, substitute(whole.form, tuple(zip(whole.bound, map(variable, new), strict=True)))


def symmetric(whole: Body) -> Body:
    """The symmetric matrix with this one's lower triangle, which is all that a Cholesky factor is made of."""
    (i, j), extents, form = _open(whole)
    turned = exchanged(form, i, j)
    if turned is form:
        return whole
    below, above = at_least_zero_literal(variable(i) - variable(j)), less(variable(i), variable(j))
    if isinstance(below, bool) or isinstance(above, bool):
        return whole
    return body((i, j), extents, add(guarded((below,), form), guarded((above,), turned)))


def exchanged(form: Form, i: Var, j: Var) -> Form:
    """The form with two variables exchanged."""
    return substitute(form, ((i, variable(j)), (j, variable(i))))


# --------------------------------------------------------------------------------------------------- sums over factors


def contracted(draft: Draft) -> Form | None:
    """The draft without a variable that runs through the rows or columns of factors, where a law says what their sum
    is; None where none does."""
    if not any(isinstance(a, OpaqueAtom) or (isinstance(a, Apply) and a.head == "log") for a, _ in draft.factors):
        return None
    for v in draft.bound:
        used = [(a, e) for a, e in draft.factors if v in a.free]
        known = _sum_over(v, used) if used else None
        if known is None:
            continue
        value, implied, inside = known
        guards = [g for g in draft.guards if v in g.free]
        if not set(guards) <= {g for g in implied if isinstance(g, Literal)}:
            continue
        step()
        rest = tuple((a, e) for a, e in draft.factors if v not in a.free)
        outside = conjunction((*(g for g in draft.guards if v not in g.free), *inside))
        if outside is None:
            return constant(0)
        return under(Draft(tuple(w for w in draft.bound if w is not v), outside, rest), value)
    return None


Literals = list[Literal | bool]
Known = tuple[Form, Literals, Literals]


def _sum_over(v: Var, used: list[tuple[Atom, Fraction]]) -> Known | None:
    """Σ_v of these factors over all rows or columns, the guards on v that leave none of them out, and what holds of the
    other indices, which guards on v may have said."""
    if any(e.denominator != 1 or e < 0 for _, e in used) or sum(e for _, e in used) > 2:
        return None
    atoms = [a for a, e in used for _ in range(int(e))]
    if len(atoms) == 1:
        return _log_of_diagonal(v, atoms[0])
    one, other = atoms
    pushed = _pushed(v, one, other) or _pushed(v, other, one)
    if pushed is not None:
        return pushed
    if not (isinstance(one, OpaqueAtom) and isinstance(other, OpaqueAtom)) or one.bodies != other.bodies:
        return None
    if one.name not in (FACTOR, WHITENER) or other.name not in (FACTOR, WHITENER) or v in one.bodies[0].free:
        return None                                          # … or of a matrix for each v
    return _pair(v, one, other)


def _pair(v: Var, one: OpaqueAtom, other: OpaqueAtom) -> Known | None:
    """L·Lᵀ = S, Wᵀ·W = S⁻¹, L·W = W·L = 1, summed over v."""
    (whole,) = one.bodies
    places = {(a.name, *(k for k in (ROW, COLUMN) if a.indices[k] is variable(v))) for a in (one, other)}
    free = [next((p for p in a.indices if v not in p.free), None) for a in (one, other)]
    p, q = free
    if p is None or q is None:
        return None
    if places == {(FACTOR, COLUMN)}:
        value = at(whole, p, q)
    elif places == {(WHITENER, ROW)}:
        value = _inverse(whole, p, q)
    elif len(places) == 2 and {name for name, *_ in places} == {FACTOR, WHITENER} and (
        {k for _, *k_ in places for k in k_} == {ROW, COLUMN}
    ):
        same = zero_literal(p - q)
        value = constant(int(same)) if isinstance(same, bool) else guarded((same,), constant(1))
    else:
        return None
    return value, _nowhere_else_zero(v, whole, one, other), _in_range(whole, p, q)


def _pushed(v: Var, one: Atom, other: Atom) -> Known | None:
    """(λ + Xᵀ·X)⁻¹·Xᵀ = Xᵀ·(λ + X·Xᵀ)⁻¹, if the second matrix comes first: where one exists, both do, as λ is not 0."""
    if not isinstance(one, OpaqueAtom) or one.name not in (INVERSE, SYMMETRIC) or v in one.bodies[0].free:
        return None
    (whole,) = one.bodies
    p = next((one.indices[1 - k] for k in (ROW, COLUMN) if one.indices[k] is variable(v)), None)
    gram = _gram(whole) if p is not None and v not in p.free else None
    if p is None or gram is None:
        return None
    i, k, x, dual = gram
    own, there = (getattr(atom, "indices", ()) for atom in (x, other))
    q = next((b for a, b in zip(own, there, strict=False) if a is variable(k)), None)
    if q is None or v in q.free or _with(x, (i, variable(v)), (k, q)) is not of_atom(other) or dual.key >= whole.key:
        return None
    n = dual.extents[0]
    w = Var("open", (next_open(whole.free, p.free, q.free, frozenset((v,))),), number(0), n - 1)
    inside = conjunction(_in_range(dual, variable(w)))
    assert inside is not None
    product = multiply(_with(x, (i, p), (k, variable(w))), _inverse(dual, variable(w), q))
    return under(Draft((w,), inside, ()), product), _in_range(whole, variable(v)), []


def _gram(whole: Body) -> tuple[Var, Var, Atom, Body] | None:
    """Of a matrix λ·[i = j] + c·Σ_k x[i, k]·x[j, k] with a number λ that is not 0: i, k, x[i, k], and the matrix
    λ·[k = l] + c·Σ_i x[i, k]·x[i, l]. None where it is no such matrix."""
    (i, j), (size, _), form = _open(whole)
    same = zero_literal(variable(i) - variable(j))
    if len(form.terms) != 2 or isinstance(same, bool):
        return None
    ((first, c), (second, d)) = sorted(form.terms, key=lambda item: len(item[0].factors))
    if first.factors or first.bound or first.guards != (same,) or len(second.bound) != 1:
        return None
    (k,), guards, factors = opened(second, next_open(form.free))
    if k.high is None or len(factors) != 2 or any(e != 1 for _, e in factors):
        return None
    x, y = sorted((a for a, _ in factors), key=lambda a: j in a.free)
    n = k.high + 1
    everywhere = set(guards) == {at_least_zero_literal(variable(k)), less(variable(k), n)}
    if not everywhere or j in x.free or _with(x, (i, variable(j))) is not of_atom(y):
        return None
    places = [Var("open", (k.number[0] + at,), number(0), end - 1) for at, end in ((1, n), (2, n), (3, size))]
    a, b, m = map(variable, places)
    product = multiply(_with(x, (i, m), (k, a)), _with(x, (i, m), (k, b)))
    over = conjunction((at_least_zero_literal(m), less(m, size)))
    alike = zero_literal(a - b)
    if isinstance(alike, bool) or over is None:
        return None
    dual = add(guarded((alike,), constant(c)), scale(under(Draft((places[2],), over, ()), product), d))
    return i, k, x, body((places[0], places[1]), (n, n), dual)


def _with(x: Atom, *values: tuple[Var, Poly]) -> Form:
    return substitute(of_atom(x), values)


def _nowhere_else_zero(v: Var, whole: Body, *atoms: OpaqueAtom) -> Literals:
    """What holds of v wherever the elements, of lower triangular matrices, are not 0."""
    return [*_in_range(whole, variable(v)), *(at_least_zero_literal(a.indices[ROW] - a.indices[COLUMN]) for a in atoms)]


def _log_of_diagonal(v: Var, atom: Atom) -> Known | None:
    """Σ_v log L[v, v] = ½·log |S|."""
    inner = lone_atom(atom.argument) if isinstance(atom, Apply) and atom.head == "log" else None
    if not isinstance(inner, OpaqueAtom) or inner.name != FACTOR or inner.indices != (variable(v), variable(v)):
        return None
    (whole,) = inner.bodies
    if v in whole.free:
        return None
    determinant = named("abs")(of_atom(_of(DETERMINANT, whole)))
    return scale(log(determinant), Fraction(1, 2)), _in_range(whole, variable(v)), []


def _in_range(whole: Body, *indices: Poly) -> Literals:
    """What holds of the indices of any element."""
    (n, _) = whole.extents
    return [literal for p in indices for literal in (at_least_zero_literal(p), less(p, n))]


def at(whole: Body, p: Poly, q: Poly) -> Form:
    """An element of a matrix."""
    return substitute(whole.form, tuple(zip(whole.bound, (p, q), strict=True)))
