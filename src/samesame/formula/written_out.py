"""Sums over a few values, written out: Σ_{c<3} a[c] is a[0] + a[1] + a[2].

A program that loops over classes or heads in Python adds up numbers; another sums over an index. Where the summands are
quotients and their denominators differ with the index, writing these sums out is what makes equal quotients meet, and
no common denominator is needed. A condition may have put a label in place of the index, as in Σ_e a[t[e]] / d[t[e]],
summed over the elements e that have one: that is such a sum for each value of the label. A window that moves with an
index takes few values, too, one for each of its places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import chain, product

from samesame.formula.guards import Literal, bounds, conjunction, negation, zero_literal
from samesame.formula.poly import NOTHING, Atom, Element, Poly, Var, linear, number, variable
from samesame.formula.rewrite import Draft, guarded, replaced, under
from samesame.formula.terms import Apply, Factors, Form, OpaqueAtom, Term, constant, form_of, next_open, opened

UNROLLED = 256  # terms that sums may be written out to
QUOTIENTS = 64  # … where that is tried before anything else
POINTS = 12     # … of which a condition says that there is any
ROUNDS = 12     # sums within sums

Pieces = Callable[[Draft, int], list[Form] | None]


def unrolled(form: Form) -> Form | None:
    """Sums over small constant ranges written out; None if there are none."""
    return _written_out(form, _over_any, UNROLLED)


def quotients_written_out(form: Form) -> Form | None:
    """Those sums alone whose index a denominator holds, and quotients by what few values of a label choose; None where
    there are none, or no other quotient that they could meet."""
    lone = (term for term, _ in form.terms if (held := _divisors(term.factors)) and not _moved(held, term.bound))
    return _written_out(form, _over_divisors, QUOTIENTS) if any(True for _ in lone) else None


def windows_written_out(form: Form) -> Form | None:
    """Sums over windows that move with an index written out, as Σ_{i−2≤u≤i+2} x[u] at the five places from i − 2 on;
    None if there are none."""
    return _written_out(form, _over_windows, UNROLLED)


def products_written_out(form: Form) -> Form | None:
    """Those sums alone in which nothing divides, where others are left as they are; None if there are none."""
    return _written_out(form, _over_any_undivided, UNROLLED)


def pinned_labels(form: Form) -> Form | None:
    """What is looked up with a label as the sum over all values of the label, where other terms of the form ask whether
    labels are certain numbers: Σ_s x[t[s]] as Σ_e Σ_s [t[s] = e]·x[e], beside which a program loops over e. None where
    nothing is so looked up."""
    asked = {_kind(a) for term, _ in form.terms for g in term.guards if (a := _pinned(g)) is not None}
    if not asked:
        return None

    def of_term(draft: Draft, most: int) -> list[Form] | None:
        known = {a for g in draft.guards if (a := _pinned(g)) is not None}
        held = {label for a, _ in draft.factors for label in _labels(a)} - known
        return next(_by_each([label for label in held if _kind(label) in asked], draft, most), None)

    return _written_out(form, of_term, UNROLLED)


def _pinned(guard: Literal) -> Element | OpaqueAtom | None:
    """The integer element of which a guard says what number it is."""
    atoms = set(guard.poly.atoms()) if guard.op == "=0" and guard.poly is not None else set()
    if len(atoms) != 1 or guard.poly is None:
        return None
    (atom,) = atoms
    alone = any((guard.poly + variable(atom) * sign).constant is not None for sign in (1, -1))
    return atom if alone and isinstance(atom, Element | OpaqueAtom) else None


def _kind(label: Element | OpaqueAtom) -> str:
    """What it is an element of."""
    return label.leaf.name if isinstance(label, Element) else f"{label.name} {label.attributes}"


def _written_out(form: Form, pieces_of: Pieces, most: int, rounds: int = ROUNDS) -> Form | None:
    items: list[tuple[Term, Fraction]] = []
    changed, left = False, most
    for term, c in form.terms:
        pieces = pieces_of(Draft(*opened(term, next_open(term.free))), left)
        if pieces is None:
            items.append((term, c))
            continue
        changed, left = True, left - len(pieces)
        items += ((t, c * d) for piece in pieces for t, d in piece.terms)
    if not changed:
        return None
    result = form_of(items)
    return (_written_out(result, pieces_of, most, rounds - 1) if rounds else None) or result


def _over_any(draft: Draft, most: int) -> list[Form] | None:
    """The summands over the first bound variable that takes few values, or the first of few points of which a
    condition says that there is any."""
    return next(chain(_sums(draft, draft.bound, most), _by_presence(draft, most)), None)


def _over_any_undivided(draft: Draft, most: int) -> list[Form] | None:
    return None if _divisors(draft.factors) else _over_any(draft, most)


def _over_divisors(draft: Draft, most: int) -> list[Form] | None:
    """The summands over the first of what denominators hold that takes few values: a label before an index, which
    may be there only for its label. Where a denominator is at least 1, comparisons hold the index in its place."""
    divisors = _divisors(draft.factors)
    held = [*divisors, *(g.subject for g in draft.guards if isinstance(g.subject, Apply))]
    return next(chain(_by_labels(draft, held, most), _sums(draft, _moved(held, draft.bound), most)), None)


def _divisors(factors: Factors) -> list[Apply]:
    """The sums that a product is divided by."""
    return [a for a, e in factors if e < 0 and isinstance(a, Apply) and a.head == "sum"]


def _moved(divisors: Iterable[Atom], bound: Iterable[Var]) -> list[Var]:
    """The bound variables that divisors hold."""
    inside = frozenset[Var]().union(*(a.free for a in divisors))
    return [v for v in bound if v in inside]


def _sums(draft: Draft, variables: Iterable[Var], most: int) -> Iterator[list[Form]]:
    for v in variables:
        lows, highs, _ = bounds(v, draft.guards)
        values = _between([p for p, _ in lows], [p for p, _ in highs])
        if values is not None and len(values) <= most:
            yield [replaced(draft, ((v, number(k)),)) for k in values]


def _over_windows(draft: Draft, most: int) -> list[Form] | None:
    """The summands at each place of a window, or at each value of a free index that is a factor where few are left."""
    for v in draft.bound:
        lows, highs, _ = bounds(v, draft.guards)
        places = _window([p for p, _ in lows], [p for p, _ in highs], most)
        if places is not None:
            return [replaced(draft, ((v, p),)) for p in places]
    outside = tuple(g for g in draft.guards if not g.free & frozenset(draft.bound))
    inside = tuple(g for g in draft.guards if g not in outside)
    for v in (a for a, _ in draft.factors if isinstance(a, Var) and a not in draft.bound):
        lows, highs, _ = bounds(v, outside)
        own = ([] if end is None else [end] for end in (v.low, v.high))
        low, high = ([p for p, _ in told] + end for told, end in zip((lows, highs), own, strict=True))
        places = _window(low, high, min(most, POINTS))
        if places is not None:
            body = Draft(draft.bound, inside, draft.factors)
            cells = ((conjunction((*outside, zero_literal(variable(v) - p))), p) for p in places)
            return [guarded(cell, replaced(body, ((v, p),))) for cell, p in cells if cell is not None]
    return None


def _window(lows: Iterable[Poly], highs: Iterable[Poly], most: int) -> list[Poly] | None:
    """The places from one of the low ends on that reach one of the high ends, for the two that are nearest; of two
    that are as near, from one that moves: a window may be as wide as all that it moves over."""
    ends = ((low, _largest(high - low + 1)) for low, high in product(lows, list(highs)))
    known = ((low, width) for low, width in ends if width is not None)
    low, width = min(known, key=lambda w: (w[1], w[0].constant is not None, w[0].key), default=(None, 0))
    return [low + number(k) for k in range(width)] if low is not None and width <= most else None


def _largest(p: Poly) -> int | None:
    """What a polynomial never exceeds, where it is linear in indices."""
    for v in (a for a in p.atoms() if isinstance(a, Var)):
        slope, _ = linear(p, v)
        end = None if slope is None or slope.constant is None else v.range(NOTHING)[slope.constant > 0]
        if end is None:
            return None
        p = p.at(((v, end),))
    return p.constant


def _by_labels(draft: Draft, divisors: Iterable[Atom], most: int) -> Iterator[list[Form]]:
    """The draft for each value of an integer that divisors hold: an element whose indices are known outside of them, or
    the place of an extremum."""
    yield from _by_each(set().union(*map(_labels, divisors)), draft, most)


def _by_each(labels: Iterable[Element | OpaqueAtom], draft: Draft, most: int) -> Iterator[list[Form]]:
    """The draft for each value of a label of which few are known."""
    for label in sorted(labels, key=lambda a: a.key):
        low, high = label.range(NOTHING)
        values = _between([low], [high]) if low is not None and high is not None else None
        if values is None or not 1 < len(values) <= most:
            continue
        cells = (conjunction((*draft.guards, zero_literal(variable(label) - number(k)))) for k in values)
        yield [under(Draft(draft.bound, cell, draft.factors), constant(1)) for cell in cells if cell is not None]


def _by_presence(draft: Draft, most: int) -> Iterator[list[Form]]:
    """[some point is there] as the point that is the first to be there, [none is there] as each that is not."""
    for literal in draft.guards:
        if not isinstance(literal.subject, Apply) or literal.subject.head != "exists":
            continue
        conditions = _conditions(literal.subject.argument, min(most, POINTS))
        if conditions is None:
            continue
        rest = [g for g in draft.guards if g is not literal]
        none = [[*rest, *map(negation, conditions)]]
        first = [[*rest, *map(negation, conditions[:k]), condition] for k, condition in enumerate(conditions)]
        cells = map(conjunction, first if literal.op == "holds" else none)
        yield [under(Draft(draft.bound, cell, draft.factors), constant(1)) for cell in cells if cell is not None]


def _conditions(points: Form, most: int) -> list[Literal] | None:
    """The condition for each point to be there; None where it is no single one, or points are many."""
    written = _written_out(points, lambda draft, left: next(_sums(draft, draft.bound, left), None), most) or points
    guards = [term.guards for term, _ in written.terms]
    if len(guards) > most or any(term.bound for term, _ in written.terms) or any(len(own) != 1 for own in guards):
        return None
    return [literal for (literal,) in guards]


def _labels(atom: Atom) -> frozenset[Element | OpaqueAtom]:
    """The integer elements inside an atom that no sum in it moves."""
    if isinstance(atom, Element | OpaqueAtom):
        own = {atom} if atom.integer and all(v.sort != "bound" for v in atom.free) else set()
        return frozenset(own).union(*(map(_labels, (a for p in atom.indices for a in p.atoms()))))
    if isinstance(atom, Apply):
        inner = atom.argument
        guards = (a for t, _ in inner.terms for g in t.guards if g.poly is not None for a in g.poly.atoms())
        return frozenset().union(*map(_labels, (*inner.atoms(), *guards)))
    return frozenset()


def _between(lows: Iterable[Poly], highs: Iterable[Poly]) -> range | None:
    """The integers that constant bounds leave; None where there is no such bound."""
    least = [p.constant for p in lows if p.constant is not None]
    most = [p.constant for p in highs if p.constant is not None]
    return range(max(least), min(most) + 1) if least and most else None
