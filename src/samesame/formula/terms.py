"""The normal form's data: a form is a sum of terms, a term is Σ over bound variables of [guards] · Π atom^exponent.

    form  =  coefficient · term  +  …                 no two terms alike
    term  =  Σ_{bound} [guard] … [guard] · atom^exponent · …

Everything is expanded, so reassociation, distribution and late division need no rules. Finished terms are *closed*:
their bound variables are named by nesting height and position, chosen from how the variables are used, so that terms
that differ only in the names of bound variables are the same object. To work inside, `opened` gives the variables
names of their own, with ranges read off the guards; `closed` names them back. Nothing here knows what exp or max mean:
functions.py does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import combinations
from operator import mul
from typing import Any

from samesame.formula.effort import current, remember, step
from samesame.formula.expr import Unsupported
from samesame.formula.guards import NO_GUARDS, Guards, Literal, bounds, conjunction, implied, negation
from samesame.formula.labelling import labellings
from samesame.formula.poly import (
    NOTHING,
    Atom,
    IntegerAtom,
    Poly,
    Renaming,
    Substitution,
    Thing,
    Var,
    at_least_zero,
    collect,
    free_of,
    linear,
    number,
    short,
    variable,
)

Factors = tuple[tuple[Atom, Fraction], ...]


class Symbol(Atom):
    """A named positive constant ("π"), or one of the two absorbing values, UNDEFINED (x/0) and −∞."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = self.key = name
        self.free, self.height = NOTHING, 0


UNDEFINED, MINUS_INFINITY = "undefined", "−∞"


class Radical(Atom):
    """A positive integer, mostly a prime, that occurs to fractional powers."""

    __slots__ = ("base",)

    def __init__(self, base: int) -> None:
        self.base, self.key = base, f"√{base}"
        self.free, self.height = NOTHING, 0


class Apply(Atom):
    """A head applied to a form. As a factor: "exp", "log", "sum" (the form itself, as the base of a power that is not
    expanded), "max" (over the form's terms; each holds one "piece" factor), "fn:erf" and the like. As a boolean:
    "positive" (form > 0), "zero" (form = 0), "number" (form = form), "exists" (some term has a point)."""

    __slots__ = ("argument", "head")

    def __init__(self, head: str, argument: Form) -> None:
        self.head, self.argument = head, argument
        self.key = short(f"{head}({argument.key})")
        self.free, self.height = argument.free, argument.height

    def rename(self, names: Renaming) -> Atom:
        return Apply(self.head, self.argument.rename(names))


class Body(Thing):
    """A form in bound indices, each running over an extent: a whole tensor as an opaque operator sees it."""

    __slots__ = ("bound", "extents", "form")

    def __init__(self, bound: tuple[Var, ...], extents: tuple[Poly, ...], form: Form) -> None:
        self.bound, self.extents, self.form = bound, extents, form
        self.key = short(f"λ{'×'.join(p.key for p in extents)}. {form.key}")
        self.free = free_of(extents) | form.free - frozenset(bound)
        self.height = form.height + 1

    def rename(self, names: Renaming) -> Body:
        return body(self.bound, tuple(p.rename(names) for p in self.extents), self.form.rename(names))


def body(bound: tuple[Var, ...], extents: tuple[Poly, ...], form: Form) -> Body:
    """A body whose bound variables are named by height and position."""
    names = tuple(Var("bound", (form.height + 1, k), None, None) for k in range(len(bound)))
    return Body(names, extents, form.rename(tuple(zip(bound, names, strict=True))))


class OpaqueAtom(IntegerAtom):
    """An element of an uninterpreted operator's result; equal arguments give equal results. Attributes count as they
    are written: 1, 1.0 and True differ."""

    __slots__ = ("attributes", "bodies", "indices", "kind", "name")

    def __init__(
        self, name: str, attributes: str, kind: str, bodies: tuple[Body, ...], indices: tuple[Poly, ...]
    ) -> None:
        self.name, self.attributes, self.kind, self.bodies, self.indices = name, attributes, kind, bodies, indices
        inside = "; ".join([attributes, *(b.key for b in bodies)])
        self.key = short(f"{name}⟨{inside}⟩[{','.join(p.key for p in indices)}]")
        self.free = free_of(bodies) | free_of(indices)
        self.height = max((part.height for part in (*bodies, *indices)), default=0)

    @property
    def integer(self) -> bool:  # type: ignore[override]
        return self.kind == "int"

    @property
    def is_place_of_row(self) -> bool:
        """Is it where a chosen or sorted element of a row stood? At another index it is another place."""
        return self.name in SORTED and self.attributes.startswith("('indices'") and len(self.indices) == 1

    def rename(self, names: Renaming) -> OpaqueAtom:
        return opaque_of(
            self.name,
            self.attributes,
            self.kind,
            tuple(b.rename(names) if b.free else b for b in self.bodies),
            tuple(p.rename(names) for p in self.indices),
        )

    def moved(self, values: Substitution) -> OpaqueAtom:
        return opaque_of(
            self.name,
            self.attributes,
            self.kind,
            tuple(_body_at(b, values) if b.free else b for b in self.bodies),
            tuple(p.at(values) for p in self.indices),
        )

    def at(self, values: Substitution) -> Poly:
        return variable(self.moved(values))

    def range(self, forgetting: frozenset[Var]) -> tuple[Poly | None, Poly | None]:
        """Where an extremum stands in a row, or the k-th of its elements, there is a place of that row."""
        if not (self.is_place_of_row or self.name in PLACES) or any(extent.free for extent in self.bodies[0].extents):
            return None, None
        return number(0), reduce(mul, self.bodies[0].extents) - 1


PLACES = {"aten.argmax": 1, "aten.argmin": -1}             # of the largest of a row times this
WHOLE = "whole"                                            # an integer that is a form, and no polynomial
SORTED = ("aten.topk", "aten.sort")                        # attributes say whether it is the elements, or their places
SYMMETRIC = "symmetric inverse"                            # the inverse of a symmetric matrix is symmetric


def opaque_of(
    name: str, attributes: str, kind: str, bodies: tuple[Body, ...], indices: tuple[Poly, ...]
) -> OpaqueAtom:
    """The atom; the indices of what is symmetric in an order of their own."""
    if name == SYMMETRIC:
        indices = tuple(sorted(indices, key=lambda p: p.key))
    return OpaqueAtom(name, attributes, kind, bodies, indices)


def _body_at(part: Body, values: Substitution) -> Body:
    arriving = free_of(p for _, p in values)
    names = tuple(
        (v, Var("open", (next_open(part.free | arriving) + k,), None, None)) for k, v in enumerate(part.bound)
    )
    form = laws().substitute(part.form.rename(names), values)
    return body(tuple(v for _, v in names), tuple(p.at(values) for p in part.extents), form)


class Term(Thing):
    """Σ_{bound} [guards] · Π atom^exponent, without its coefficient. Made by `closed` only."""

    __slots__ = ("bound", "factors", "guards")

    def __init__(self, bound: tuple[Var, ...], guards: Guards, factors: Factors) -> None:
        self.bound, self.guards, self.factors = bound, guards, factors
        text = "·".join(a.key if e == 1 else f"{a.key}^{e}" for a, e in factors)
        conditions = f"[{', '.join(g.key for g in guards)}]" if guards else ""
        self.key = short((f"Σ{len(bound)}" if bound else "") + conditions + (text or "1"))
        parts: list[Thing] = [*guards, *(a for a, _ in factors)]
        self.free = free_of(parts) - frozenset(bound)
        inner = max((part.height for part in parts), default=0)
        self.height = bound[0].number[0] if bound else inner

    def rename(self, names: Renaming) -> Term:
        names = tuple(pair for pair in names if pair[0] in self.free)
        return _rename_term(self, names) if names else self

    @property
    def plain(self) -> bool:
        """Neither bound variables nor guards."""
        return not self.bound and not self.guards


class Form(Thing):
    """Σ coefficient · term, terms in key order and all different."""

    __slots__ = ("terms",)

    def __init__(self, terms: tuple[tuple[Term, Fraction], ...]) -> None:
        self.terms = terms
        self.key = short(" + ".join(t.key if c == 1 else f"{c}·{t.key}" for t, c in terms) or "0")
        self.free = free_of(t for t, _ in terms)
        self.height = max((t.height for t, _ in terms), default=0)

    def rename(self, names: Renaming) -> Form:
        names = tuple(pair for pair in names if pair[0] in self.free)
        return _rename_form(self, names) if names else self

    def atoms(self) -> Iterator[Atom]:
        return (a for t, _ in self.terms for a, _ in t.factors)

    def has(self, symbol: str) -> bool:
        return any(isinstance(a, Symbol) and a.name == symbol for a in self.atoms())


@remember
def _rename_term(term: Term, names: Renaming) -> Term:
    factors = tuple((a.rename(names) if a.free else a, e) for a, e in term.factors)
    guards = tuple(g.rename(names) for g in term.guards)
    return closed(term.bound, guards, factors)


@remember
def _rename_form(form: Form, names: Renaming) -> Form:
    total: dict[Term, Fraction] = {}
    for term, c in form.terms:
        new = term.rename(names)
        total[new] = total.get(new, Fraction(0)) + c
    return Form(_in_order(total))


def _in_order(terms: dict[Term, Fraction]) -> tuple[tuple[Term, Fraction], ...]:
    return tuple(sorted(((t, c) for t, c in terms.items() if c), key=lambda item: item[0].key))


Function = Callable[[Form], Form]


@dataclass(frozen=True, slots=True)
class Laws:
    """What the lower files need of the higher ones, which build on them. Made once, at the top (laws.py), and handed to
    each proof, which holds it."""

    substitute: Callable[[Form, Substitution], Form]
    simplify: Callable[[Term], Form]
    at_point: Callable[[Term, Var, Poly], Form]  # a finished term with a polynomial for one bound variable
    power: Callable[[Form, Fraction], Form]
    apply: Callable[[str, Form], Form]  # a factor's head applied to a form that has changed
    boolean: Callable[[str, Form], Atom | bool]  # a boolean's head applied to a form that has changed
    positive: Callable[[Form], bool]  # is the form known to be > 0?
    nonnegative: Callable[[Form], bool]  # … or to be ≥ 0?
    generic: Callable[[Atom], bool]  # is the atom nonzero but for special values of the real inputs?
    rules: tuple[Callable[[Any], Any], ...]  # what a draft is rewritten by, in order; see rewrite.py
    heads: Mapping[str, Function]  # what `apply` does for each head that is no function by name


def laws() -> Laws:
    """Those of the proof under way."""
    held: Laws | None = current().laws
    if held is None:
        raise RuntimeError("forms are worked with inside of a proof only: with spending(budget, LAWS)")
    return held


# -------------------------------------------------------------------------------------------------- opening and closing


def next_open(*free: frozenset[Var]) -> int:
    """A number beyond every open variable in sight."""
    return max((v.number[0] + 1 for some in free for v in some if v.sort == "open"), default=0)


def opened(term: Term, first: int) -> tuple[tuple[Var, ...], Guards, Factors]:
    """The inside of a term under open variables numbered from `first`, which carry the ranges that the guards give."""
    if not term.bound:
        return (), term.guards, term.factors
    names = tuple((v, Var("open", (first + k,), *ends(v, term.bound, term.guards))) for k, v in enumerate(term.bound))
    guards = conjunction(g.rename(names) for g in term.guards)
    assert guards is not None
    return (
        tuple(new for _, new in names),
        guards,
        tuple((a.rename(names) if a.free else a, e) for a, e in term.factors),
    )


@remember
def factored(term: Term) -> list[Term]:
    """Terms whose product it is: Σ_i Σ_j a[i]·b[j] is Σ_i a[i] times Σ_j b[j]."""
    groups = list[frozenset[Var]]()
    for part in (*term.guards, *(a for a, _ in term.factors), *map(variable, term.bound)):
        own = part.free & frozenset(term.bound)
        joined = [group for group in groups if group & own]
        groups = [*(group for group in groups if group not in joined), own.union(*joined)] if own else groups
    return [Term(tuple(v for v in term.bound if v in group),
                 tuple(g for g in term.guards if _is_of(g.free, group, term)),
                 tuple((a, e) for a, e in term.factors if _is_of(a.free, group, term)))
            for group in (frozenset[Var](), *groups)]


def _is_of(free: frozenset[Var], group: frozenset[Var], term: Term) -> bool:
    """Whether what has these variables is about a group of those that a term binds; the empty one is of what is about
    none."""
    own = free & frozenset(term.bound)
    return own <= group and bool(own) == bool(group)


def ends(v: Var, bound: tuple[Var, ...], guards: Guards) -> tuple[Poly | None, Poly | None]:
    """The range that the guards give v; ends that mention other bound variables do not count."""
    lows, highs, _ = bounds(v, guards)
    inside = frozenset(bound)
    low = tightest([p for p, _ in lows if not p.free & inside], 1)
    high = tightest([p for p, _ in highs if not p.free & inside], -1)
    return low, high


def tightest(ends: list[Poly], direction: int) -> Poly | None:
    best: Poly | None = None
    for end in sorted(ends, key=lambda p: p.key):
        if best is None or at_least_zero((end - best) * direction):
            best = end
    return best


def closed(bound: tuple[Var, ...], guards: Guards, factors: Factors) -> Term:
    """The finished term, its bound variables named canonically."""
    if not bound:
        return Term((), _sorted(guards), _ordered(factors))
    return _closed(bound, guards, factors)


@remember
def _closed(bound: tuple[Var, ...], guards: Guards, factors: Factors) -> Term:
    height = 1 + max((part.height for part in (*guards, *(a for a, _ in factors))), default=0)
    names = tuple(Var("bound", (height, k), None, None) for k in range(len(bound)))
    best: Term | None = None
    for order in labellings(bound, guards, factors):
        term = _labelled(order, names, guards, factors)
        if best is None or _label_key(term) < _label_key(best):
            best = term
    assert best is not None
    return best


def _labelled(order: tuple[Var, ...], names: tuple[Var, ...], guards: Guards, factors: Factors) -> Term:
    naming = tuple(pair for pair in zip(order, names, strict=True) if pair[0] is not pair[1])
    if naming:
        guards = tuple(g.rename(naming) for g in guards)
        factors = tuple((a.rename(naming) if a.free else a, e) for a, e in factors)
    return Term(names, _sorted(guards), _ordered(factors))


def _label_key(term: Term) -> tuple[list[tuple[str, Fraction]], list[str]]:
    return [(a.key, e) for a, e in term.factors], [g.key for g in term.guards]


def _sorted(guards: Guards) -> Guards:
    return tuple(sorted(guards, key=lambda g: g.key)) if len(guards) > 1 else guards


def _ordered(factors: Factors) -> Factors:
    return tuple(sorted(factors, key=lambda f: f[0].key)) if len(factors) > 1 else factors


# ----------------------------------------------------------------------------------------------------------------- sums


def form_of(items: Iterable[tuple[Term, Fraction]]) -> Form:
    """A form from terms in any order: like terms joined, domains merged."""
    total: dict[Term, Fraction] = {}
    for term, c in items:
        if is_idempotent(term.factors):
            if c < 0 and term.factors[0][0].key == MINUS_INFINITY:
                raise Unsupported("+∞ appears: −∞ is subtracted or multiplied by a negative number")
            total[term] = Fraction(1)
        else:
            total[term] = total.get(term, Fraction(0)) + c
    return _merged(_in_order(total))


def is_idempotent(factors: Factors) -> bool:
    """Whether a term occurs or does not, however often: undefined, −∞, a piece of a maximum."""
    if len(factors) != 1:
        return False
    atom = factors[0][0]
    return (isinstance(atom, Symbol) and atom.key in ABSORBING) or (isinstance(atom, Apply) and atom.head == "piece")


ABSORBING = (UNDEFINED, MINUS_INFINITY)


@remember
def _merged(terms: tuple[tuple[Term, Fraction], ...]) -> Form:
    """Join terms whose domains join: Σ_{k<n} f + Σ_{n≤k<m} f = Σ_{k<m} f, and Σ_{k<n} f + f(n) = Σ_{k<n+1} f."""
    joined = _joined_domains(terms) or _joined_points(terms)
    if joined is None:
        return Form(terms)
    step()
    gone, whole = joined
    c = next(c for t, c in terms if t is gone[0])
    rest = [(t, d) for t, d in terms if t not in gone]
    return form_of([*rest, *((t, c * d) for t, d in laws().simplify(whole).terms)])


def _joined_domains(terms: tuple[tuple[Term, Fraction], ...]) -> tuple[tuple[Term, Term], Term] | None:
    """Two terms with the same body whose domains join, and the term over both."""
    alike: dict[tuple[Factors, tuple[Var, ...], Fraction], list[Term]] = {}
    for term, c in terms:
        if term.guards:
            alike.setdefault((term.factors, term.bound, c), []).append(term)
    for (factors, bound, _), group in alike.items():
        for one, other in combinations(group, 2):
            for spelled in (other.guards, *(_renamed(other.guards, names) for names in exchanges(bound, factors))):
                guards = joined_guards(one.guards, spelled, is_idempotent(factors))
                if guards is not None:
                    return (one, other), closed(bound, guards, factors)
    return None


@remember
def exchanges(bound: tuple[Var, ...], factors: Factors) -> tuple[Renaming, ...]:
    """Pairs of bound variables that a body does not tell apart, each exchanged: in Σ_k Σ_l x[k]·x[l] either may be the
    first."""
    swapped = (((a, b), (b, a)) for a, b in combinations(bound, 2))
    return tuple(names for names in swapped
                 if _ordered(tuple((a.rename(names) if a.free else a, e) for a, e in factors)) == factors)


def _renamed(guards: Guards, names: Renaming) -> Guards:
    return _sorted(tuple(g.rename(names) for g in guards))


def _joined_points(terms: tuple[tuple[Term, Fraction], ...]) -> tuple[tuple[Term, Term], Term] | None:
    """A sum, and a term that is its body just beside the domain; and the sum over the wider domain."""
    shapes: dict[tuple[object, ...], list[Term]] = {}
    for term, c in terms:
        shapes.setdefault((len(term.bound), c, *shape(term.factors)), []).append(term)
    for whole, c in terms:
        beside = shapes.get((len(whole.bound) - 1, c, *shape(whole.factors)), []) if whole.bound else []
        inside = (0,) if is_idempotent(whole.factors) else ()
        for v, step_back, literal in _edges(whole, inside) if beside else ():
            point, wider = _beside(whole, v, step_back, literal)
            for term in beside:
                if len(point.terms) == 1 and point.terms[0] == (term, Fraction(1)):
                    return (whole, term), wider
    return None


@remember
def shape(factors: Factors) -> tuple[tuple[str, Fraction], ...]:
    """What substitution for an index leaves alone: tensor names and heads, with exponents."""
    return tuple(sorted((a.key.split("[")[0].split("(")[0], e) for a, e in factors))


def _edges(term: Term, inside: tuple[int, ...]) -> Iterator[tuple[Var, int, Literal]]:
    """Bound variables with one lower or upper bound, the step that leads outside, and the bound's literal; a step of 0
    stays at the bound, where one more of what counts once says nothing."""
    for v in term.bound:
        lows, highs, _ = bounds(v, term.guards)
        if len(lows) == 1:
            yield from ((v, way, lows[0][1]) for way in (-1, *inside))
        if len(highs) == 1:
            yield from ((v, way, highs[0][1]) for way in (1, *inside))


def _beside(term: Term, v: Var, direction: int, literal: Literal) -> tuple[Form, Term]:
    """The term's body at the first value of v beyond one of its bounds, and the term with that bound moved there."""
    assert literal.poly is not None
    slope, rest = linear(literal.poly, v)
    assert slope is not None and slope.constant is not None
    end = rest * -slope.constant + direction
    guards = tuple(g for g in term.guards if g is not literal)
    point = laws().at_point(Term(term.bound, guards, term.factors), v, end)
    if not direction:
        return point, term
    moved = Literal("≥0", literal.poly + 1)
    return point, Term(term.bound, _sorted((*guards, moved)), term.factors)


@remember
def joined_guards(one: Guards, other: Guards, overlapping: bool) -> Guards | None:
    """Guards of the union of two domains, where that is a conjunction: they differ in two literals at least one of
    which always holds, and the rest covers both. The domains are disjoint, unless they may overlap."""
    if overlapping:
        for inner, outer in ((one, other), (other, one)):
            if all(implied(inner, g) for g in outer):
                return outer
    for literal in one:
        opposite = negation(literal)
        for facing in other if overlapping else (opposite,):
            if facing not in other:
                continue
            guards = conjunction([*(g for g in one if g is not literal), *(g for g in other if g is not facing)])
            if guards is None or not all(implied(one, g) and implied(other, g) for g in guards):
                continue
            outside = conjunction((*guards, opposite))
            if facing is opposite or outside is None or implied(outside, facing):
                return guards
    return None


def add(*forms: Form) -> Form:
    return form_of(item for form in forms for item in form.terms)


def scale(form: Form, c: Fraction | int) -> Form:
    """c·form. Zero times something undefined stays undefined, and zero times −∞ is refused."""
    if c == 1:
        return form
    if c == 0:
        if form.has(MINUS_INFINITY):
            raise Unsupported("0 · −∞ appears")
        if any(e < 0 and isinstance(a, Apply) and not laws().generic(a) for t, _ in form.terms for a, e in t.factors):
            raise Unsupported("zero times a quotient whose denominator may be zero appears")
        return Form(tuple(item for item in form.terms if item[0].factors and item[0].factors[0][0].key == UNDEFINED))
    return form_of((t, d * c) for t, d in form.terms)


def subtract(a: Form, b: Form) -> Form:
    return add(a, scale(b, -1))


def constant(value: Fraction | int) -> Form:
    return Form(((Term((), NO_GUARDS, ()), Fraction(value)),) if value else ())


def of_atom(atom: Atom, exponent: Fraction | int = 1) -> Form:
    """A form of one factor."""
    return Form(((Term((), NO_GUARDS, ((atom, Fraction(exponent)),)), Fraction(1)),))


@remember
def of_poly(p: Poly) -> Form:
    """An index polynomial as a number."""
    terms: dict[Term, Fraction] = {}
    for m, c in p.terms:
        powers: dict[Atom, Fraction] = {}
        for a in m:
            powers[a] = powers.get(a, Fraction(0)) + 1
        terms[closed((), NO_GUARDS, tuple(powers.items()))] = Fraction(c)
    return Form(_in_order(terms))


def as_poly(form: Form) -> Poly | None:
    """The index polynomial that the form is, if it is one."""
    terms: list[tuple[tuple[Atom, ...], int]] = []
    for term, c in form.terms:
        if not term.plain or c.denominator != 1:
            return None
        monomial: list[Atom] = []
        for a, e in term.factors:
            if not (isinstance(a, IntegerAtom) and a.integer) or e.denominator != 1 or e < 0:
                return None
            monomial += [a] * int(e)
        terms.append((tuple(monomial), int(c)))
    return collect(terms)


def value_of(form: Form) -> Fraction | None:
    """The number a form is, if it is one."""
    if not form.terms:
        return Fraction(0)
    (term, c), *more = form.terms
    return c if not more and term.plain and not term.factors else None


def lone_atom(form: Form, head: str | None = None) -> Atom | None:
    """The atom, if the form is exactly one atom (with the given head)."""
    if len(form.terms) != 1:
        return None
    term, c = form.terms[0]
    if c != 1 or not term.plain or len(term.factors) != 1 or term.factors[0][1] != 1:
        return None
    atom = term.factors[0][0]
    return atom if head is None or (isinstance(atom, Apply) and atom.head == head) else None
