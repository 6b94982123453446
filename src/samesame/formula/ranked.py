"""Ranks: of what is counted up to each place, no two that are counted have the same number.

Tokens that go to an expert take its slots in turn, the n-th that it gets the n-th slot: a token's slot is how many of
those before it go there, `cumsum(mask) − 1`. Two tokens in one slot of one expert are one token,

    [m_i] [m_j] [Σ_{t≤i} [m_t] = Σ_{t≤j} [m_t]]  =  [m_i] [i = j]

as of i < j the second count has j, too, and the first has not. So a sum over all tokens in a slot is the token that is
there, wherever it stands. An index that a condition puts where a count says is that count, everywhere else (one-hot
vectors of slots): it lies in a range if the count does, which is 1 at least where something is counted, and at most as
many as there are places.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from samesame.formula.effort import remember
from samesame.formula.functions import is_whole, truth_of
from samesame.formula.guards import (
    NO_GUARDS,
    Guards,
    Literal,
    at_least_zero_literal,
    conjunction,
    implied,
    zero_literal,
)
from samesame.formula.inside import inner_polys
from samesame.formula.places import of_one_element, tells
from samesame.formula.poly import Poly, Var, at_least_zero, free_of, number, variable
from samesame.formula.presence import counted, is_count
from samesame.formula.rewrite import Draft, literal_at, of_integer, replaced, rewritten, under, whole_of
from samesame.formula.terms import (
    WHOLE,
    Apply,
    Form,
    OpaqueAtom,
    Term,
    add,
    as_poly,
    closed,
    constant,
    ends,
    form_of,
    laws,
    next_open,
    opened,
    scale,
    subtract,
)

Wanted = tuple[Literal | bool, ...]


def by_rank(draft: Draft) -> Draft | Form | None:
    """What equations with counts say of the indices in them, if anything."""
    simpler = _simpler(draft, NO_GUARDS, frozenset(draft.bound))
    if simpler is not None:
        return simpler
    for literal in draft.guards:
        for v in draft.bound if _says(literal, "holds", "zero") else ():
            value = _solved(_subject(literal), v)
            if value is not None:
                rest = tuple(g for g in draft.guards if g is not literal)
                return replaced(Draft(draft.bound, rest, draft.factors), ((v, value),))
    return _within_counts(draft)


def _says(literal: Literal, op: str, head: str) -> bool:
    return literal.op == op and isinstance(literal.subject, Apply) and literal.subject.head == head


def _subject(literal: Literal) -> Form:
    assert isinstance(literal.subject, Apply)
    return literal.subject.argument


def _simpler(draft: Draft, around: Guards, forgetting: frozenset[Var]) -> Form | None:
    """The draft with its equations as the guards simplify them, also those around it."""
    for literal in draft.guards:
        rest = tuple(g for g in draft.guards if g is not literal)
        said = _simplified(literal, (*rest, *around), forgetting)
        if said is not literal:
            guards = conjunction((*rest, said))
            return constant(0) if guards is None else rewritten(Draft(draft.bound, guards, draft.factors))
    for factor in draft.factors:
        atom, e = factor
        inside = _simpler_inside(atom, (*draft.guards, *around), forgetting) if isinstance(atom, Apply) else None
        if isinstance(atom, Apply) and inside is not None:
            others = tuple(one for one in draft.factors if one is not factor)
            whole = laws().power(laws().apply(atom.head, inside), e)
            return under(Draft(draft.bound, draft.guards, others), whole)
    return None


def _simpler_inside(atom: Apply, around: Guards, forgetting: frozenset[Var]) -> Form | None:
    """What an atom is applied to, as the guards around it simplify it."""
    if not _has_equations(atom.argument):
        return None
    items = list[tuple[Term, Fraction]]()
    changed = False
    for term, c in atom.argument.terms:
        draft = Draft(*opened(term, next_open(term.free, *(g.free for g in around))))
        found = _simpler(draft, around, forgetting | frozenset(draft.bound)) if _has_equations(term) else None
        changed = changed or found is not None
        items += [(term, c)] if found is None else [(t, c * d) for t, d in found.terms]
    return form_of(items) if changed else None


@remember
def _has_equations(part: Form | Term) -> bool:
    if isinstance(part, Form):
        return any(_has_equations(term) for term, _ in part.terms)
    atoms = (*(g.subject for g in part.guards), *(a for a, _ in part.factors))
    return any(map(_is_equation, part.guards)) or any(
        isinstance(a, Apply) and _has_equations(a.argument) for a in atoms)


def _is_equation(literal: Literal) -> bool:
    if literal.op == "=0" and literal.poly is not None:
        return any(isinstance(a, OpaqueAtom) and a.is_place_of_row for a in literal.poly.atoms())
    return _says(literal, "holds", "zero") or _says(literal, "fails", "positive")


def _simplified(literal: Literal, given: Guards, forgetting: frozenset[Var]) -> Literal | bool:
    """What an equation says where the guards hold: of two ranks that are one that their places are, of two chosen
    places that they are of one element, of what is above 0 that it is false. The literal itself where nothing simpler
    is found."""
    if literal.op == "=0" and literal.poly is not None:
        known = [g.poly for g in given if g.op == "=0" and g.poly is not None]
        gaps = (gap for p in known for gap in (literal.poly - p, literal.poly + p))
        return next((same for gap in gaps if (same := of_one_element("=0", gap)) is not None), literal)
    if not isinstance(literal.subject, Apply):
        return literal
    inside = _simpler_inside(literal.subject, given, forgetting)
    if inside is not None:
        truth = laws().boolean(literal.subject.head, inside)
        return truth == (literal.op == "holds") if isinstance(truth, bool) else Literal(literal.op, truth)
    form = _vanishing(literal, given, forgetting)
    if form is None:
        return literal
    others = [other for g in given if (other := _vanishing(g, given, forgetting)) is not None]
    for gap in (form, *(f(form, other) for other in others for f in (subtract, add))):
        same = _same_place(gap, given, forgetting)
        if same is not None:
            return same
    if any(_is_said(truth_of("positive", scale(form, sign)), given) for sign in (1, -1)):
        return False
    return literal


def _vanishing(literal: Literal, given: Guards, forgetting: frozenset[Var]) -> Form | None:
    """The form of which a literal says that it is 0: an equation, or that a count is not above what it is at least."""
    if _says(literal, "holds", "zero"):
        return _subject(literal)
    if _says(literal, "fails", "positive"):
        form = _subject(literal)
        count, more = counted(form)
        least = _range(count, given, forgetting)[0] if is_count(count) and more.denominator == 1 else None
        if least is not None and implied(given, at_least_zero_literal(least + number(int(more))), forgetting):
            return form
    return None


# ------------------------------------------------------------------------------------------------------- of equal ranks


def _same_place(form: Form, given: Guards, forgetting: frozenset[Var]) -> Literal | bool | None:
    """The equation of the places at which two equal counts of the same end, if both count what stands there."""
    if len(form.terms) != 2 or form.terms[0][1] != -form.terms[1][1]:
        return None
    if any(term.factors or not term.bound for term, _ in form.terms):
        return None
    first, second = (tuple(_ends(term)) for term, _ in form.terms)
    for one in first:
        for other in second:
            if one.at is not other.at and one.rest is other.rest and any(
                all(_has_point(end.bound, end.wanted(beside), given, forgetting) for end in (one, other))
                for beside in (0, one.way)
            ):
                return zero_literal(one.at - other.at)
    return None


@dataclass(frozen=True, slots=True)
class _End:
    """A place at which a count ends (`way` 1) or begins (−1), for one of its variables: what it is a count of
    otherwise, its other variables, and the conditions on a point of it, where it ends among them."""

    at: Poly
    way: int
    rest: Term
    counting: Var
    bound: tuple[Var, ...]
    conditions: Guards

    def wanted(self, beside: int) -> Wanted:
        """What is asked of the point that stands there, or just beyond."""
        return tuple(literal_at(g, ((self.counting, self.at + beside),)) for g in self.conditions)


def _ends(term: Term) -> Iterator[_End]:
    bound, guards, factors = opened(term, next_open(term.free))
    mark = variable(Var("mark", (0,), None, None))
    for literal in guards:
        for t in bound if literal.op == "≥0" and literal.poly is not None else ():
            assert literal.poly is not None
            way = -literal.poly.coefficient(t)
            at = variable(t) + literal.poly * way
            if way in (1, -1) and not at.free & frozenset(bound):
                others = tuple(g for g in guards if g is not literal)
                rest = closed(bound, (*others, Literal("≥0", (mark - variable(t)) * way)), factors)
                yield _End(at, way, rest, t, tuple(u for u in bound if u is not t), others)


@remember
def _has_point(bound: tuple[Var, ...], wanted: Wanted, given: Guards, forgetting: frozenset[Var]) -> bool:
    """Do the guards say of some values of the variables what is wanted? Ranges that stem from guards are forgotten."""
    if not bound:
        return all(g is True or g in given for g in wanted if not _is_range(g)) and all(
            implied(given, g, forgetting) for g in wanted if _is_range(g))
    v, *others = bound
    return any(_has_point(tuple(others), tuple(_at(g, v, p) for g in wanted), given, forgetting)
               for p in _values(v, wanted, given))


def _values(v: Var, wanted: Wanted, given: Guards) -> Iterator[Poly]:
    """What a variable may be: an index in sight, or what stands where it stands."""
    yield from map(variable, sorted(free_of(given), key=lambda u: u.key))
    used = [use for g in wanted if isinstance(g, Literal) for use in _indices(g)]
    known = [use for g in given for use in _indices(g)]
    for name, position, p in dict.fromkeys(used):
        sign, rest = p.coefficient(v), p - variable(v) * p.coefficient(v)
        if sign in (1, -1) and v not in rest.free:
            yield from dict.fromkeys((q - rest) * sign for other, k, q in known if (other, k) == (name, position))


def _indices(literal: Literal) -> Iterator[tuple[str, int, Poly]]:
    """Index expressions in an equation, with what is looked up there and the position; those in chosen rows, too."""
    for a in literal.poly.atoms() if literal.poly is not None else ():
        yield from inner_polys(a)
        for row in a.bodies if isinstance(a, OpaqueAtom) else ():
            yield from (use for inner in row.form.atoms() for use in inner_polys(inner))


def _is_range(literal: Literal | bool) -> bool:
    return isinstance(literal, Literal) and literal.op == "≥0"


def _at(literal: Literal | bool, v: Var, p: Poly) -> Literal | bool:
    return literal if isinstance(literal, bool) else literal_at(literal, ((v, p),))


# -------------------------------------------------------------------------------------------- indices that are counts


def _solved(form: Form, v: Var) -> Poly | None:
    """The whole number r that is no polynomial for which the form is ±(v − r)."""
    for item in form.terms:
        if item[1] in (1, -1) and item[0].plain and as_poly(Form((item,))) is variable(v) * int(item[1]):
            rest = scale(Form(tuple(other for other in form.terms if other is not item)), -item[1])
            if v in rest.free or not is_whole(rest):
                return None
            known = [one for one in rest.terms if as_poly(Form((one,))) is not None]
            count = Form(tuple(one for one in rest.terms if one not in known))
            return whole_of(count) + (as_poly(Form(tuple(known))) or number(0)) if count.terms else None
    return None


def _within_counts(draft: Draft) -> Draft | None:
    """Less conditions on a count that hold of every count of these points."""
    guards, bound = draft.guards, frozenset(draft.bound)
    for literal in draft.guards:
        rest = tuple(g for g in guards if g is not literal)
        if _holds_of_counts(literal, rest, bound):
            guards = rest
    return Draft(draft.bound, guards, draft.factors) if len(guards) < len(draft.guards) else None


def _holds_of_counts(literal: Literal, given: Guards, forgetting: frozenset[Var]) -> bool:
    p = literal.poly
    counts = [a for a in p.atoms() if isinstance(a, OpaqueAtom) and a.name == WHOLE] if p is not None else []
    if p is None or not counts or literal.op not in ("≥0", "≠0"):
        return False
    form = of_integer(p)
    if any(_is_said(truth_of("positive", add(form, constant(more))), given) for more in (0, 1)):
        return True
    for a in counts if literal.op == "≥0" else ():
        sign = p.coefficient(a)
        end = _range(a.bodies[0].form, given, forgetting)[0 if sign == 1 else 1] if sign in (1, -1) else None
        if end is not None and implied(given, at_least_zero_literal(p + (end - variable(a)) * sign), forgetting):
            return True
    return False


def _is_said(literal: Literal | bool, given: Guards) -> bool:
    return literal is True or literal in given


@remember
def _range(form: Form, given: Guards, forgetting: frozenset[Var]) -> tuple[Poly | None, Poly | None]:
    """What a count is at least, and at most, where the guards hold."""
    if not is_count(form):
        return None, None
    least, most = number(0), number(0)
    for term, c in form.terms:
        bound, wanted, _ = opened(term, next_open(term.free, *(g.free for g in given)))
        if _has_point(bound, wanted, given, forgetting):
            least += number(int(c))
        size = number(1)
        for v in _free_ones(bound, wanted):
            low, high = ends(v, bound, wanted)
            if low is None or high is None or not at_least_zero(high - low + 1):
                return least, None
            size *= high - low + 1
        most += size * int(c)
    return least, most


def _free_ones(bound: tuple[Var, ...], conditions: Guards) -> list[Var]:
    """The variables of a count that no condition tells when those before have values: an equation tells one."""
    free, open_ = list[Var](), list(bound)
    while open_:
        told = (v for v in open_ if any(tells(g, v) and not g.free & (frozenset(open_) - {v}) for g in conditions))
        v = next(told, None)
        if v is None:
            v = next((u for u in open_ if not any(tells(g, u) for g in conditions)), open_[0])
            free.append(v)
        open_.remove(v)
    return free
