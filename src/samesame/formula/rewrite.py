"""Rewriting one term until nothing more can be done, and the only multiplication there is.

`under` multiplies a form into a term *under its binder*: whatever is multiplied may mention the term's bound
variables, and none can escape, because no other function puts factors into a term. As a permanent check, every
operation compares the free variables it returns with those it was given.

A term being rewritten is a `Draft`: its bound variables are open and carry ranges. laws.py lists the rewrites in order
(those of other files, too); each returns the form it leads to, or None where it does not apply. They solve equalities
for bound variables (which proves one-hot = gather), pin variables with one value, drop variables that only say `v = u
// E`, split a variable that is divided and merge a pair that occurs only as `h·E + l`, shift each variable to the first
index position it feeds, drop implied guards, and count unused variables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from samesame.formula.definite import AboveZero
from samesame.formula.effort import assume, current, remember, step
from samesame.formula.expr import Unsupported
from samesame.formula.guards import (
    NO_GUARDS,
    Guards,
    Literal,
    at,
    at_least_zero_literal,
    bounds,
    conjunction,
    implied,
    infeasible,
    less,
    negation,
    solved,
)
from samesame.formula.inside import inner_polys, ratios_in
from samesame.formula.poly import (
    Atom,
    Element,
    IntegerAtom,
    Poly,
    Substitution,
    Var,
    at_least,
    at_least_zero,
    exact_quotient,
    free_of,
    linear,
    number,
    variable,
)
from samesame.formula.terms import (
    MINUS_INFINITY,
    UNDEFINED,
    WHOLE,
    Apply,
    Factors,
    Form,
    OpaqueAtom,
    Radical,
    Symbol,
    Term,
    body,
    closed,
    constant,
    ends,
    form_of,
    is_idempotent,
    laws,
    next_open,
    of_atom,
    of_poly,
    opaque_of,
    opened,
    scale,
    value_of,
)


class BinderEscape(AssertionError):
    """An internal error: a bound variable got outside its binder. Nothing may be concluded from such a proof."""


def check_closed(result: Form, allowed: frozenset[Var], operation: str) -> Form:
    """`result`, if it mentions no variables but those allowed."""
    if not result.free <= allowed:
        raise BinderEscape(f"{operation} let {sorted(v.key for v in result.free - allowed)} escape")
    return result


@dataclass(frozen=True)
class Draft:
    """An opened term, without its coefficient."""

    bound: tuple[Var, ...]
    guards: Guards
    factors: Factors

    @property
    def inside(self) -> frozenset[Var]:
        """Every variable that occurs, bound ones included."""
        return free_of([*self.guards, *(a for a, _ in self.factors)]) | frozenset(self.bound)

    @property
    def free(self) -> frozenset[Var]:
        return self.inside - frozenset(self.bound)


# ------------------------------------------------------------------------------------------------------- multiplication


def under(draft: Draft, form: Form) -> Form:
    """Σ_{bound} [guards] · Π factors · form, where the form may mention the bound variables."""
    inside = draft.inside | form.free
    first = next_open(inside)
    items: list[tuple[Term, Fraction]] = []
    for term, c in form.terms:
        bound, guards, factors = opened(term, first)
        together = conjunction((*draft.guards, *guards))
        if together is not None:
            whole = Draft((*draft.bound, *bound), together, (*draft.factors, *factors))
            items += ((t, c * d) for t, d in rewritten(whole).terms)
    return check_closed(form_of(items), inside - frozenset(draft.bound), "a product")


@remember
def multiply(a: Form, b: Form) -> Form:
    """The product of two forms."""
    if value_of(a) is not None or value_of(b) is not None:
        number_first, other = (a, b) if value_of(a) is not None else (b, a)
        return scale(other, value_of(number_first) or 0)
    first = next_open(a.free, b.free)
    result = form_of((t, c * d) for term, c in a.terms for t, d in under(Draft(*opened(term, first)), b).terms)
    return check_closed(result, a.free | b.free, "a product")


def guarded(guards: Guards, form: Form) -> Form:
    """[guards] · form."""
    return under(Draft((), guards, ()), form) if guards else form


def bind(form: Form, variables: Iterable[tuple[Var, Poly]]) -> Form:
    """Σ over free variables v, each 0 ≤ v < extent, of a form. Extents may mention variables bound later in the
    list. Two that a mask joins (`h·E + l < n`) are bound together, as they may be digits of one."""
    left = list(variables)
    while left:
        several = [left.pop(0)]
        if left and not several[0][1].free & {left[0][0]} and _joined(form, several[0][0], left[0][0]):
            several.append(left.pop(0))
        first = next_open(form.free, free_of(extent for _, extent in several))
        new = [Var("open", (first + k,), number(0), extent - 1) for k, (_, extent) in enumerate(several)]
        inside = zip(new, several, strict=True)
        guards = conjunction([literal for v, (_, extent) in inside
                              for literal in (at_least_zero_literal(variable(v)), less(variable(v), extent))])
        if guards is None:
            return constant(0)
        form = under(Draft(tuple(new), guards, ()), form.rename(tuple(
            (old, v) for v, (old, _) in zip(new, several, strict=True))))
    return form


def _joined(form: Form, one: Var, other: Var) -> bool:
    return any(one in guard.free and other in guard.free for term, _ in form.terms for guard in term.guards)


# --------------------------------------------------------------------------------------------------------- substitution


def substitute(form: Form, values: Substitution) -> Form:
    """Polynomials in place of free variables, everything simplified again."""
    values = tuple(pair for pair in values if pair[0] in form.free)
    return _substitute(form, values) if values else form


@remember
def _substitute(form: Form, values: Substitution) -> Form:
    arriving = free_of(p for _, p in values)
    first = next_open(form.free | arriving)
    items: list[tuple[Term, Fraction]] = []
    for term, c in form.terms:
        items += ((t, c * d) for t, d in replaced(Draft(*opened(term, first)), values).terms)
    return check_closed(form_of(items), form.free - frozenset(v for v, _ in values) | arriving, "a substitution")


def replaced(draft: Draft, values: Substitution, added: tuple[Var, ...] = (), given: Guards = ()) -> Form:
    """A draft with polynomials in place of variables, which leave the binder; `added` variables enter it, with guards
    on them."""
    gone = frozenset(v for v, _ in values)
    guards = conjunction([*(literal_at(g, values) for g in draft.guards), *given])
    if guards is None:
        return constant(0)
    bound = (*(v for v in draft.bound if v not in gone), *added)
    kept: list[tuple[Atom, Fraction]] = []
    scattered: list[Form] = []
    for atom, e in draft.factors:
        if not atom.free & gone:
            kept.append((atom, e))
            continue
        new = atom_at(atom, values)
        if e != 1:
            new = laws().power(new, e)
        if len(new.terms) == 1 and new.terms[0][0].plain and new.terms[0][1] == 1:
            kept += new.terms[0][0].factors
        else:
            scattered.append(new)
    form = constant(1)
    for part in scattered:
        form = multiply(form, part)
    return under(Draft(bound, guards, tuple(kept)), form)


def atom_at(atom: Atom, values: Substitution) -> Form:
    """An atom with polynomials in place of variables: no longer an atom, in general."""
    if isinstance(atom, Element | OpaqueAtom):
        return of_atom(atom.moved(values))
    if isinstance(atom, IntegerAtom):
        return of_integer(atom.at(values))
    if isinstance(atom, Apply):
        return laws().apply(atom.head, substitute(atom.argument, values))
    return of_atom(atom)


def whole_of(form: Form) -> Poly:
    """An integer that is a count or a rounded number, of which nothing is known but what it is a function of: equal
    ones are equal places."""
    return variable(opaque_of(WHOLE, "", "int", (body((), (), form),), ()))


def of_integer(p: Poly) -> Form:
    """An index polynomial as a number, what is a form in it as that."""
    if not any(isinstance(a, OpaqueAtom) and a.name == WHOLE for a in p.atoms()):
        return of_poly(p)
    return form_of(item for m, c in p.terms for item in scale(reduce(multiply, map(_number, m), constant(1)), c).terms)


def _number(atom: Atom) -> Form:
    return atom.bodies[0].form if isinstance(atom, OpaqueAtom) and atom.name == WHOLE else of_atom(atom)


def literal_at(literal: Literal, values: Substitution) -> Literal | bool:
    """A literal with polynomials in place of variables."""
    if not literal.free & frozenset(v for v, _ in values):
        return literal
    if literal.poly is not None:
        return at(literal, values)
    if isinstance(literal.subject, Apply):
        truth = laws().boolean(literal.subject.head, substitute(literal.subject.argument, values))
        if isinstance(truth, bool):
            return truth == (literal.op == "holds")
        return Literal(literal.op, truth)
    assert isinstance(literal.subject, Element | OpaqueAtom)
    return Literal(literal.op, literal.subject.moved(values))


# ---------------------------------------------------------------------------------------------------------------- rules


def rewritten(draft: Draft) -> Form:
    """The form a draft simplifies to."""
    return _rewritten(draft.bound, draft.guards, tuple(sorted(draft.factors, key=lambda f: f[0].key)))


@remember
def _rewritten(bound: tuple[Var, ...], guards: Guards, factors: Factors) -> Form:
    step()
    draft = Draft(bound, guards, factors)
    for rule in laws().rules:
        result = rule(draft)
        if isinstance(result, Form):
            return check_closed(result, draft.free, rule.__name__)
        if result is not None:
            draft = result
    term = closed(draft.bound, draft.guards, draft.factors)
    return Form(((term, Fraction(1)),))


def combine_factors(draft: Draft) -> Draft | Form | None:
    """a^p · a^q = a^(p+q); whole powers of sums expand; numbers leave their radicals; absorbing values absorb."""
    symbols = {a.key for a, _ in draft.factors if isinstance(a, Symbol)}
    if UNDEFINED in symbols:
        return Draft(draft.bound, draft.guards, ((Symbol(UNDEFINED), Fraction(1)),)) if len(draft.factors) > 1 else None
    if MINUS_INFINITY in symbols:
        return _absorbed(draft)
    powers: dict[Atom, Fraction] = {}
    for atom, e in draft.factors:
        before = powers.get(atom, Fraction(0))
        if before * e < 0:
            cancel(atom, draft.guards)
        leave_root(atom, before, before + e, draft.guards)
        powers[atom] = before + e
    number_part, expanded = Fraction(1), list[tuple[Form, int]]()
    for atom, e in list(powers.items()):
        whole = e.numerator // e.denominator
        if isinstance(atom, Radical) and whole:
            number_part *= Fraction(atom.base) ** whole
            powers[atom] = e - whole
        elif isinstance(atom, Apply) and atom.head == "sum" and whole > 0:
            expanded.append((atom.argument, whole))
            powers[atom] = e - whole
    factors = tuple((a, e) for a, e in powers.items() if e)
    if len(factors) == len(draft.factors) and number_part == 1 and not expanded:
        return None
    simpler = Draft(draft.bound, draft.guards, tuple(sorted(factors, key=lambda f: f[0].key)))
    if number_part == 1 and not expanded:
        return simpler
    form = constant(number_part)
    for base, times in expanded:
        for _ in range(times):
            form = multiply(form, base)
    return under(simpler, form)


def cancel(atom: Atom, guards: Guards = NO_GUARDS) -> None:
    """Allow atom · atom^-1 = 1 under guards and note that it is not 0; refuse where the atom may well be zero."""
    if positive(atom):
        return
    if not laws().generic(atom):
        raise Unsupported(f"a quotient by {atom.key} cancels, which may be zero")
    assume("≠ 0", value_form(atom), guards)


def leave_root(atom: Atom, before: Fraction, after: Fraction, guards: Guards = NO_GUARDS) -> None:
    """Allow atom^before to become atom^after, and note that atom ≥ 0 where only the former asks for it."""
    known = positive(atom) or (isinstance(atom, Apply) and atom.head == "sum" and laws().nonnegative(atom.argument))
    if before.denominator > 1 and after.denominator == 1 and not known:
        assume("≥ 0", value_form(atom), guards)


def value_form(atom: Atom) -> Form:
    """An atom's value as a form."""
    return atom.argument if isinstance(atom, Apply) and atom.head == "sum" else of_atom(atom)


def positive(atom: Atom) -> bool:
    """Whether an atom is known to be > 0."""
    if isinstance(atom, Radical):
        return True
    if isinstance(atom, Symbol):
        return atom.key not in (UNDEFINED, MINUS_INFINITY)
    if isinstance(atom, Apply):
        if atom.head == "log":                             # of more than 1, as in a softplus
            return laws().positive(form_of([*atom.argument.terms, *scale(constant(1), -1).terms]))
        return atom.head in ("exp", "held exp") or (atom.head == "sum" and laws().positive(atom.argument))
    if isinstance(atom, Element) and isinstance(atom.leaf, AboveZero):
        return True
    return isinstance(atom, IntegerAtom) and atom.integer and at_least(variable(atom), 1)


def _absorbed(draft: Draft) -> Draft | None:
    """c · −∞ = −∞ for a factor known to be positive; anything else has no meaning."""
    if len(draft.factors) == 1 and draft.factors[0][1] == 1:
        return None
    for atom, e in draft.factors:
        absorbing = isinstance(atom, Symbol) and atom.key == MINUS_INFINITY
        if e != 1 if absorbing else not positive(atom):
            raise Unsupported("−∞ is multiplied by something that is not known to be positive")
    return Draft(draft.bound, draft.guards, ((Symbol(MINUS_INFINITY), Fraction(1)),))


def solve_equalities(draft: Draft) -> Form | None:
    """[v = p] removes the bound variable v."""
    for literal in draft.guards:
        if literal.op == "=0" and literal.poly is not None:
            for v in draft.bound:
                p = solved(literal.poly, v)
                if p is not None:
                    rest = tuple(g for g in draft.guards if g is not literal)
                    return replaced(Draft(draft.bound, rest, draft.factors), ((v, p),))
    return None


def contradiction(draft: Draft) -> Form | None:
    return constant(0) if draft.guards and infeasible(draft.guards) else None


def give_ranges(draft: Draft) -> Form | None:
    """Bound variables carry the ranges that the guards give; a variable that has just lost or gained one is
    replaced."""
    values: list[tuple[Var, Poly]] = []
    added: list[Var] = []
    first = next_open(draft.inside)
    for v in draft.bound:
        low, high = ends(v, draft.bound, draft.guards)
        new = Var("open", (first + len(added),), low or v.low, high or v.high)
        if new.low is not v.low or new.high is not v.high:
            values.append((v, variable(new)))
            added.append(new)
    return replaced(draft, tuple(values), tuple(added)) if added else None


def pin(draft: Draft) -> Form | None:
    """l ≤ v ≤ l means v = l."""
    for v in draft.bound:
        lows, highs, _ = bounds(v, draft.guards)
        for low, _ in lows:
            if any(low is high for high, _ in highs):
                return replaced(draft, ((v, low),))
    return None


def _used(v: Var, draft: Draft) -> bool:
    return any(v in a.free for a, _ in draft.factors)


def drop_quotients(draft: Draft) -> Form | None:
    """A bound variable that occurs only in E·v ≤ u < E·(v+1) is u // E, exactly one value; its own bounds move to
    u."""
    for v in draft.bound:
        if not _used(v, draft):
            guards = _without_quotient(v, draft.guards)
            if guards is not None:
                together = conjunction(guards)
                bound = tuple(w for w in draft.bound if w is not v)
                return constant(0) if together is None else rewritten(Draft(bound, together, draft.factors))
    return None


def _without_quotient(v: Var, guards: Guards) -> list[Literal | bool] | None:
    lows, highs, others = bounds(v, guards)
    if len(others) != 2 or len(lows) > 1 or len(highs) > 1 or any(g.op != "≥0" for g in others):
        return None
    for lower, upper in (others, others[::-1]):
        assert lower.poly is not None and upper.poly is not None
        size, above = linear(upper.poly, v)
        if size is None or v in size.free or v in above.free or not at_least(size, 1):
            continue
        u = lower.poly + size * variable(v)
        if v in u.free or size * variable(v) + size - 1 - u is not upper.poly:
            continue
        own = [g for _, g in (*lows, *highs)]
        rest: list[Literal | bool] = [g for g in guards if g not in (lower, upper, *own)]
        rest += [at_least_zero_literal(u - low * size) for low, _ in lows]
        rest += [at_least_zero_literal(high * size + size - 1 - u) for high, _ in highs]
        return rest
    return None


def split_divided(draft: Draft) -> Form | None:
    """A bound variable 0 ≤ v < E·q inside (v + …) // q or (v + …) mod q becomes h·q + l."""
    if not draft.bound:
        return None
    for ratio in (r for thing in (*(a for a, _ in draft.factors), *draft.guards) for r in ratios_in(thing)):
        for v in draft.bound:
            if ratio.numerator.coefficient(v) != 1 or ratio.divisor.free & frozenset(draft.bound):
                continue
            lows, highs, _ = bounds(v, draft.guards)
            counts = (exact_quotient(high + 1, ratio.divisor) for high, _ in highs)
            count = next((n for n in counts if n is not None and not n.free & frozenset(draft.bound)), None)
            if count is None or count.constant == 1 or not any(low.constant == 0 for low, _ in lows):
                continue
            first = next_open(draft.inside)
            high, low = (Var("open", (first + k,), number(0), e - 1) for k, e in enumerate((count, ratio.divisor)))
            given = conjunction([*within(high, count), *within(low, ratio.divisor)])
            whole = variable(high) * ratio.divisor + variable(low)
            return constant(0) if given is None else replaced(draft, ((v, whole),), (high, low), given)
    return None


def within(v: Var, extent: Poly) -> list[Literal | bool]:
    return [at_least_zero_literal(variable(v)), less(variable(v), extent)]


def start_window_at_zero(draft: Draft) -> Form | None:
    """A bound variable in a window l ≤ v < l + W that moves with other bound variables, W fixed, counts from the
    window's start."""
    bound = frozenset(draft.bound)
    for v in draft.bound:
        lows, highs, others = bounds(v, draft.guards)
        if len(lows) != 1 or len(highs) != 1 or others or not lows[0][0].free & bound:
            continue
        start, width = lows[0][0], highs[0][0] - lows[0][0] + 1
        if not width.free & bound:
            new = Var("open", (next_open(draft.inside),), number(0), width - 1)
            return replaced(draft, ((v, variable(new) + start),), (new,))
    return None


def shift_to_pivot(draft: Draft) -> Form | None:
    """A bound variable v that feeds an index ±v + r becomes that index: the first by tensor and position, least in
    offset."""
    if not draft.bound:
        return None
    bound = frozenset(draft.bound)
    uses = [use for a, _ in draft.factors for use in inner_polys(a)]
    for v in draft.bound:
        feeds = [
            (name, position, p)
            for name, position, p in uses
            if p.coefficient(v) in (1, -1) and p.free & bound == {v} and v not in linear(p, v)[1].free
        ]
        if not feeds:
            continue
        place = min((name, position) for name, position, _ in feeds)
        pivot = _least(variable(v), sorted({p for *at_, p in feeds if tuple(at_) == place}, key=lambda p: p.key))
        if pivot is variable(v):
            continue
        sign, offset = pivot.coefficient(v), linear(pivot, v)[1]
        new = Var("open", (next_open(draft.inside),), None, None)
        return replaced(draft, ((v, (variable(new) - offset) * sign),), (new,))
    return None


def _least(current: Poly, pivots: list[Poly]) -> Poly:
    """The pivot that lies below all others; where none does, the current one, or the first."""
    for pivot in pivots:
        if all(at_least_zero(other - pivot) for other in pivots):
            return pivot
    return current if current in pivots else pivots[0]


def drop_implied(draft: Draft) -> Draft | None:
    """Guards that the others imply say nothing. Ranges of bound variables stem from the guards, so they do not
    count."""
    guards, bound = draft.guards, frozenset(draft.bound)
    for literal in draft.guards:
        rest = tuple(g for g in guards if g is not literal)
        if implied(rest, literal, bound):
            guards = rest
    return Draft(draft.bound, guards, draft.factors) if len(guards) < len(draft.guards) else None


SMALL, LONGER = 4, 8  # values that a sum may take to be written out, and in the last attempt


def unroll_small(draft: Draft) -> Form | None:
    """Σ over a few constant values written out, in the second attempt at a proof and in later ones."""
    for v in draft.bound if current().thorough else ():
        lows, highs, _ = bounds(v, draft.guards)
        least = [p.constant for p, _ in lows if p.constant is not None]
        most = [p.constant for p, _ in highs if p.constant is not None]
        if least and most and min(most) - max(least) < (LONGER if current().longer else SMALL):
            points = (replaced(draft, ((v, number(k)),)) for k in range(max(least), min(most) + 1))
            return form_of(item for point in points for item in point.terms)
    return None


def count_unused(draft: Draft) -> Form | None:
    """A bound variable that no factor uses, low ≤ v ≤ high, counts high − low + 1 times; a maximum takes it once. Of
    two bounds on the same side, the domain is split by which one is tighter."""
    for v in draft.bound:
        if _used(v, draft):
            continue
        lows, highs, others = bounds(v, draft.guards)
        if others or not lows or not highs:
            continue
        for side, direction in ((lows, 1), (highs, -1)):
            if len(side) > 1:
                return _by_tighter_end(draft, side[0], side[1], direction)
        return _counted(draft, v, lows[0], highs[0])
    return None


End = tuple[Poly, Literal]


def _by_tighter_end(draft: Draft, one: End, other: End, direction: int) -> Form:
    first_is_tighter = at_least_zero_literal((one[0] - other[0]) * direction)
    items: list[tuple[Term, Fraction]] = []
    for side, looser in ((first_is_tighter, other[1]), (negation(first_is_tighter), one[1])):
        guards = conjunction([*(g for g in draft.guards if g is not looser), side])
        if guards is not None:
            items += rewritten(Draft(draft.bound, guards, draft.factors)).terms
    return form_of(items)


def _counted(draft: Draft, v: Var, low: End, high: End) -> Form:
    size = high[0] - low[0] + 1
    many = not is_idempotent(draft.factors)
    rest: list[Literal | bool] = [g for g in draft.guards if g not in (low[1], high[1])]
    guards = conjunction(rest)
    if guards is None or not implied(guards, at_least_zero_literal(size if many else size - 1)):
        guards = conjunction([*rest, at_least_zero_literal(size - 1)])
    if guards is None:
        return constant(0)
    without = Draft(tuple(w for w in draft.bound if w is not v), guards, draft.factors)
    return under(without, of_poly(size) if many else constant(1))


def simplify(term: Term) -> Form:
    """A finished term rewritten once more, after its guards have changed."""
    return rewritten(Draft(*opened(term, next_open(term.free))))


def at_point(term: Term, v: Var, value: Poly) -> Form:
    """A finished term without the sum over one bound variable, which takes the value instead."""
    first = next_open(term.free | value.free)
    names = tuple((w, Var("open", (first + k,), None, None)) for k, w in enumerate(term.bound))
    guards = conjunction(g.rename(names) for g in term.guards)
    if guards is None:
        return constant(0)
    factors = tuple((a.rename(names) if a.free else a, e) for a, e in term.factors)
    draft = Draft(tuple(w for _, w in names), guards, factors)
    return replaced(draft, ((dict(names)[v], value.rename(names)),))
