"""Normal forms read back as expressions: for what a proof assumed, which outlives the proof and its normal forms.

A term is Σ over its variables of its factors; its guards that limit a variable are the variable's range, and others
stay as a choice. A free variable becomes an index over its own range. Where one end of a range hangs on another
variable, a free variable runs as far as that lets it, and `limits` say where it stops.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import inf
from typing import Any

from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    TRUE,
    ZERO,
    Compare,
    Expr,
    Fn,
    Fold,
    Index,
    Lambda,
    Load,
    Named,
    Opaque,
    Size,
    Unsupported,
    add,
    and_,
    compare,
    const,
    eq,
    floordiv,
    index,
    le,
    lt,
    maximum,
    mod,
    mul,
    not_,
    or_,
    power,
    where,
)
from samesame.formula.guards import Guards, Literal, at_least_zero_literal, bounds
from samesame.formula.poly import (
    Atom,
    Element,
    Poly,
    Ratio,
    SizeAtom,
    Thing,
    Var,
    at_least_zero,
    linear,
    number,
    variable,
)
from samesame.formula.terms import (
    MINUS_INFINITY,
    UNDEFINED,
    Apply,
    Body,
    Factors,
    Form,
    OpaqueAtom,
    Radical,
    Symbol,
    Term,
    next_open,
    opened,
    tightest,
)

Inside = tuple[tuple[Var, ...], Guards, Factors]
MOST = 5_000                                  # parts of one expression; what is longer nobody reads


class Reader:
    """Reads parts of the normal form back that share their free variables. Raises Unsupported where a part has no
    spelling as an expression, or is very long."""

    def __init__(self) -> None:
        self.names: dict[Var, Expr] = {}
        self.limits: list[Expr] = []
        self.parts = 0

    def form(self, form: Form) -> Expr:
        return add(*(mul(c, self.term(term)) for term, c in form.terms))

    def term(self, term: Term) -> Expr:
        def product(factors: Factors) -> Expr:
            return mul(*(power(self.atom(a), e) for a, e in sorted(factors, key=_by_first_index)))

        return self.folded("sum", term, product, ZERO)

    def pieces(self, form: Form, monoid: str, empty: Expr) -> list[Expr]:
        """What each term of a maximum, or of a condition that something exists, is of."""
        def inside(factors: Factors) -> Expr:
            ((piece, _),) = factors
            if not isinstance(piece, Apply) or piece.head != "piece":
                raise Unsupported("a maximum of something else than pieces")
            return TRUE if monoid == "any" else self.form(piece.argument)

        return [self.folded(monoid, term, inside, empty) for term, _ in form.terms]

    def atom(self, atom: Atom) -> Expr:
        self.parts += 1
        if self.parts > MOST:
            raise Unsupported("it is too long to be read back")
        match atom:
            case Var():
                return self.variable(atom)
            case SizeAtom():
                return Size(atom.name, atom.minimum)
            case Ratio():
                parts = self.poly(atom.numerator), self.poly(atom.divisor)
                return floordiv(*parts) if atom.op == "//" else mod(*parts)
            case Element():
                self.infer(atom)
                return Load(atom.leaf, tuple(map(self.poly, atom.indices)))
            case OpaqueAtom():
                whole = tuple(map(self.whole, atom.bodies))
                places = tuple(map(self.poly, atom.indices))
                return Opaque(atom.name, _attributes(atom.attributes), whole, places, atom.kind)
            case Radical():
                return const(atom.base)
            case Symbol() if atom.name == MINUS_INFINITY:
                return NEG_INF
            case Symbol() if atom.name != UNDEFINED:
                return Named(atom.name)
            case Apply():
                return self.applied(atom.head, atom.argument)
        raise Unsupported(f"{atom.key[:100]} is not read back")

    def applied(self, head: str, argument: Form) -> Expr:
        match head:
            case "sum":
                return self.form(argument)
            case "exp" | "log" | "held exp":
                return Fn(head.removeprefix("held "), self.form(argument))
            case "max":
                return maximum(*self.pieces(argument, "max", NEG_INF))
            case "exists":
                return or_(*self.pieces(argument, "any", FALSE))
            case "positive":
                return self.positive(argument)
            case "zero":
                return eq(self.form(argument), 0)
            case "number":
                value = self.form(argument)
                return eq(value, value)
        if head.startswith("fn:"):
            return Fn(head.removeprefix("fn:"), self.form(argument))
        raise Unsupported(f"{head} is not read back")

    def positive(self, form: Form) -> Expr:
        """That a form is > 0, with what is subtracted on the other side."""
        more, less = (Form(tuple((t, abs(c)) for t, c in form.terms if c * sign > 0)) for sign in (1, -1))
        return lt(self.form(less), self.form(more))

    def poly(self, p: Poly) -> Expr:
        return add(*(mul(c, *map(self.atom, m)) for m, c in p.terms))

    def literal(self, literal: Literal) -> Expr:
        """A guard, with what is subtracted on the other side: −k + n − 1 ≥ 0 is k < n."""
        subject = literal.subject
        if isinstance(subject, Apply) and subject.head == "positive":
            holds = self.positive(subject.argument)
            fails = le(holds.right, holds.left) if isinstance(holds, Compare) else not_(holds)
            return holds if literal.op == "holds" else fails
        if not isinstance(subject, Poly):
            return self.atom(subject) if literal.op == "holds" else not_(self.atom(subject))
        more = [(m, c) for m, c in subject.terms if c > 0]
        less = [(m, -c) for m, c in subject.terms if c < 0]
        strict = literal.op == "≥0" and less and less[-1] == ((), 1) and len(less) > 1
        sides = (add(*(mul(c, *map(self.atom, m)) for m, c in part)) for part in (less[:-1] if strict else less, more))
        return compare({"≥0": "<" if strict else "≤", "=0": "=", "≠0": "≠"}[literal.op], *sides)

    # ---------------------------------------------------------------------------------------------------- what is bound

    def whole(self, part: Body) -> Lambda:
        bound = tuple(index(self.poly(extent)) for extent in part.extents)
        with self.scope(part.bound):
            self.names |= dict(zip(part.bound, bound, strict=True))
            return Lambda(bound, self.form(part.form))

    @contextmanager
    def scope(self, bound: Iterable[Var]) -> Iterator[None]:
        """Inside, these variables have other names than outside."""
        outside = {v: self.names.pop(v, None) for v in bound}
        try:
            yield
        finally:
            for v, name in outside.items():
                self.names.pop(v, None)
                self.names |= {} if name is None else {v: name}

    def folded(self, monoid: str, term: Term, inside: Callable[[Factors], Expr], empty: Expr) -> Expr:
        """A term with its variables folded, those first on which the ranges of others hang."""
        bound, guards, factors = opened(term, next_open(term.free))
        with self.scope(bound):
            return self.nested(monoid, (bound, guards, factors), inside, empty)

    def nested(self, monoid: str, opened: Inside, inside: Callable[[Factors], Expr], empty: Expr) -> Expr:
        bound, guards, factors = opened
        layers, left = list[tuple[Index, ...]](), list(bound)
        while left:
            known = {v: ends for v in left if (ends := _ends(v, guards, frozenset(left))) is not None}
            if not known:
                raise Unsupported("a sum over a range that has no two ends")
            layer: dict[Var, Index] = {}
            for v, (low, high) in known.items():
                layer[v] = index(self.poly(high - low + 1))
                self.names[v] = add(self.poly(low), layer[v])
            guards = tuple(g for g in guards if not any(_is_end(g, v, *ends) for v, ends in known.items()))
            layers.append(tuple(layer.values()))
            left = [v for v in left if v not in known]
        rest = [self.literal(g) for g in guards if not _goes_without_saying(g)]
        found = inside(factors)
        found = where(and_(*rest), found, empty) if monoid != "any" else and_(*rest, found)
        for layer_ in reversed(layers):
            found = Fold(monoid, layer_, found)
        return found

    # ----------------------------------------------------------------------------------------------------- what is free

    def variable(self, v: Var) -> Expr:
        """A variable as an index; free ones are named when they are first met."""
        if v not in self.names:
            low, high = (_furthest(v.low, -1), _furthest(v.high, 1))
            if low is None or high is None:
                raise Unsupported(f"the range of {v.key} is not known")
            self.names[v] = add(self.poly(low), index(self.poly(high - low + 1)))
            for end, direction in ((v.low, -1), (v.high, 1)):
                if end is not None and end not in (low, high):
                    sides = self.names[v], self.poly(end)
                    self.limits.append(le(*sides) if direction > 0 else le(*reversed(sides)))
        return self.names[v]

    def infer(self, element: Element) -> None:
        """A free variable without a range that is an index of a tensor runs over that."""
        for p, n in zip(element.indices, element.leaf.shape, strict=True):
            for v in p.free:
                if v not in self.names and (v.low is None or v.high is None) and p is variable(v):
                    self.names[v] = index(n)


def relevant(guards: Iterable[Literal], subject: Thing) -> list[Literal]:
    """The guards that say something: not what ranges say, nor about variables inside that nothing else is about. That
    some k is no less than i, where k is in nothing else, is what it says of the greatest k."""
    found = {g: None for g in guards if not _goes_without_saying(g)}
    for v in sorted(frozenset[Var]().union(*(g.free for g in found)) - subject.free, key=lambda v: v.key):
        holding = [g for g in found if v in g.free]
        if len(holding) == 1 and (there := _at_best(holding[0], v)) is not None:
            del found[holding[0]]
            found |= {there: None} if isinstance(there, Literal) and not _goes_without_saying(there) else {}
    about = subject.free.union(*(g.free for g in found if g.poly is None))
    named = [g for g in found if g.poly is None or all(v in about or v.sort in ("free", "part") for v in g.free)]
    return sorted(named, key=lambda g: g.key)


def leaves_in(*things: Thing) -> set[str]:
    """The names of the tensors of which elements occur anywhere inside."""
    found, seen, waiting = set[str](), set[Thing](), [*things]
    while waiting:
        thing = waiting.pop()
        if thing in seen:
            continue
        seen.add(thing)
        match thing:
            case Element():
                found.add(thing.leaf.name)
                waiting += thing.indices
            case OpaqueAtom():
                waiting += [*thing.bodies, *thing.indices]
            case Body():
                waiting.append(thing.form)
            case Form():
                waiting += [term for term, _ in thing.terms]
            case Term():
                waiting += [*thing.guards, *(a for a, _ in thing.factors)]
            case Literal():
                waiting.append(thing.subject)
            case Apply():
                waiting.append(thing.argument)
            case Poly():
                waiting += thing.atoms()
            case Ratio():
                waiting += [thing.numerator, thing.divisor]
    return found


def _by_first_index(factor: tuple[Atom, Fraction]) -> tuple[float, str]:
    """An order of factors: x[i, k]·w[k, j] for an element at (i, j), whatever the tensors are called."""
    return min((v.number[0] for v in factor[0].free if v.sort == "free"), default=inf), factor[0].key


def _attributes(text: str) -> Any:
    """What an opaque operator was given, from how it is written; the text itself where that is no plain value."""
    try:
        return literal_eval(text) if text else ()
    except (ValueError, SyntaxError):
        return text


def _goes_without_saying(literal: Literal) -> bool:
    return literal.op == "≥0" and literal.poly is not None and at_least_zero(literal.poly)


def _at_best(literal: Literal, v: Var) -> Literal | bool | None:
    """The literal at the value of a variable at which it holds, if it does at any; None where that is not known."""
    slope, rest = linear(literal.poly, v) if literal.poly is not None and literal.op == "≥0" else (None, number(0))
    c = None if slope is None else slope.constant
    end = None if not c else v.high if c > 0 else v.low
    there = None if c is None or end is None else at_least_zero_literal(rest + end * c)
    return None if there is False else there


def _ends(v: Var, guards: Guards, inside: frozenset[Var]) -> tuple[Poly, Poly] | None:
    """The range that guards give a variable, if no variable that is still inside has to do with it."""
    lows, highs, _ = bounds(v, guards)
    low = tightest([p for p, _ in lows if not p.free & inside], 1)
    high = tightest([p for p, _ in highs if not p.free & inside], -1)
    return None if low is None or high is None else (low, high)


def _is_end(literal: Literal, v: Var, low: Poly, high: Poly) -> bool:
    return literal.op == "≥0" and literal.poly in (variable(v) - low, high - variable(v))


def _furthest(end: Poly | None, direction: int) -> Poly | None:
    """An end of a range at whatever values its variables have: the greatest (1) or the least (−1)."""
    while end is not None and (others := sorted(end.free, key=lambda v: v.key)):
        slope, rest = linear(end, others[0])
        sign = None if slope is None or slope.free else slope.constant
        if slope is None or not sign:
            return None
        reached = others[0].high if (sign > 0) == (direction > 0) else others[0].low
        end = None if reached is None or others[0] in reached.free else slope * reached + rest
    return end
