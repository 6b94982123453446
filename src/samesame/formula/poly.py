"""Index arithmetic: integer polynomials over sizes, index variables, quotients, remainders and elements of integer
tensors.

Polynomials and their atoms are hash-consed for the length of one proof, so `is` compares them; `key` is a text that
depends on nothing but structure and gives every sort its order. A variable carries its own range, a fact that holds
wherever the variable is in scope; there is no table of ranges beside it. `at_least_zero` decides p ≥ 0 by putting each
variable at the end of its range that makes p smallest. Division keeps mixed-radix arithmetic exact: (h·D + d)//D is h
when 0 ≤ d < D is known, and an atom otherwise."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import blake2b
from itertools import chain
from math import gcd, prod
from typing import Any, TypeVar, cast

from samesame.formula.effort import on_forget, remember
from samesame.formula.expr import Leaf, Unsupported
from samesame.formula.polynomials import without

T = TypeVar("T")


class _Table(threading.local):
    """The objects of this thread's proof by their fields."""

    def __init__(self) -> None:
        self.held: dict[tuple[Any, ...], Any] = {}
        on_forget(self.held.clear)


_table = _Table()


class Consed(type):
    """Makes `Class(*fields)` return the one object of this proof that has these fields."""

    def __call__(cls: Callable[..., T], *fields: Any) -> T:
        key = (cls, *fields)
        held = _table.held
        found = held.get(key)
        if found is None:
            found = held[key] = type.__call__(cast(type, cls), *fields)
        return cast(T, found)


NOTHING: frozenset[Var] = frozenset()


def short(text: str) -> str:
    """A text of bounded length that stands for a longer one (a 128-bit digest, the same on every machine)."""
    return text if len(text) <= 600 else f"{text[:60]}…{blake2b(text.encode(), digest_size=16).hexdigest()}"


def free_of(parts: Iterable[Thing]) -> frozenset[Var]:
    """The variables free in any of the parts."""
    return frozenset(chain.from_iterable(part.free for part in parts))


class Thing(metaclass=Consed):
    """What the normal form is made of. `free`: its free variables; `height`: how deep binders nest inside."""

    __slots__ = ("free", "height", "key")
    key: str
    free: frozenset[Var]
    height: int

    def __repr__(self) -> str:
        return self.key


class Atom(Thing):
    """A factor of a monomial."""

    __slots__ = ()
    integer = False

    def rename(self, names: Renaming) -> Atom:
        """The same atom under new variable names; structure only, nothing is simplified."""
        return self


class IntegerAtom(Atom):
    """An atom that may occur in index polynomials."""

    __slots__ = ()
    integer = True

    def range(self, forgetting: frozenset[Var]) -> tuple[Poly | None, Poly | None]:
        """Inclusive bounds, None where none is known; ranges of the variables in `forgetting` may not be used."""
        return None, None

    def at(self, values: Substitution) -> Poly:
        """The atom with polynomials in place of variables, simplified."""
        return variable(self)


class Var(IntegerAtom):
    """An index variable with low ≤ variable ≤ high where known.

    `sort`: "free" (an index of the claim), "part" (half of a split free index), "open" (bound by the term being
    rewritten), "bound" (bound by a finished term; named by height and position, so that finished terms that differ in
    names only are identical), "mark" (a place holder while bound variables are being ordered)."""

    __slots__ = ("high", "low", "number", "sort")

    def __init__(self, sort: str, number: tuple[int, ...], low: Poly | None, high: Poly | None) -> None:
        self.sort, self.number, self.low, self.high = sort, number, low, high
        self.key = SORTS[sort] + ".".join(map(str, number))
        self.free, self.height = frozenset([self]), 0

    def rename(self, names: Renaming) -> Var:
        for old, new in names:
            if old is self:
                return new
        return self

    def range(self, forgetting: frozenset[Var]) -> tuple[Poly | None, Poly | None]:
        return (None, None) if self in forgetting else (self.low, self.high)

    def at(self, values: Substitution) -> Poly:
        for old, value in values:
            if old is self:
                return value
        return variable(self)


SORTS = {"free": "i", "part": "j", "open": "o", "bound": "%", "mark": "?"}


class SizeAtom(IntegerAtom):
    """A symbolic size, at least `minimum`."""

    __slots__ = ("minimum", "name")

    def __init__(self, name: str, minimum: int) -> None:
        self.name, self.minimum = name, minimum
        self.key, self.free, self.height = name, NOTHING, 0

    def range(self, forgetting: frozenset[Var]) -> tuple[Poly | None, Poly | None]:
        return number(self.minimum), None


class Ratio(IntegerAtom):
    """What division left over: `numerator // divisor` (op "//") or `numerator mod divisor` (op "mod"), divisor
    positive."""

    __slots__ = ("divisor", "numerator", "op")

    def __init__(self, op: str, numerator: Poly, divisor: Poly) -> None:
        self.op, self.numerator, self.divisor = op, numerator, divisor
        self.key = short(f"({numerator.key} {op} {divisor.key})")
        self.free, self.height = numerator.free | divisor.free, max(numerator.height, divisor.height)

    def rename(self, names: Renaming) -> Ratio:
        return Ratio(self.op, self.numerator.rename(names), self.divisor.rename(names))

    def at(self, values: Substitution) -> Poly:
        quotient, remainder = divide(self.numerator.at(values), self.divisor.at(values))
        return quotient if self.op == "//" else remainder

    def range(self, forgetting: frozenset[Var]) -> tuple[Poly | None, Poly | None]:
        if self.op == "mod":
            return number(0), self.divisor - 1
        if at_least_zero(self.numerator, forgetting):
            return number(0), self.numerator
        return None, None


class Element(IntegerAtom):
    """An element of a leaf tensor; an integer atom when the leaf holds integers."""

    __slots__ = ("bounds", "indices", "kind", "leaf")

    def __init__(self, leaf: Leaf, bounds: tuple[Poly, Poly] | None, indices: tuple[Poly, ...]) -> None:
        self.leaf, self.indices, self.kind, self.bounds = leaf, indices, leaf.kind, bounds
        self.key = short(f"{leaf.name}[{','.join(p.key for p in indices)}]")
        self.free, self.height = free_of(indices), max((p.height for p in indices), default=0)

    @property
    def integer(self) -> bool:  # type: ignore[override]
        return self.kind == "int"

    def rename(self, names: Renaming) -> Element:
        return Element(self.leaf, self.bounds, tuple(p.rename(names) for p in self.indices))

    def moved(self, values: Substitution) -> Element:
        return Element(self.leaf, self.bounds, tuple(p.at(values) for p in self.indices))

    def at(self, values: Substitution) -> Poly:
        return variable(self.moved(values))

    def range(self, forgetting: frozenset[Var]) -> tuple[Poly | None, Poly | None]:
        return self.bounds if self.bounds is not None else (None, None)


Monomial = tuple[Atom, ...]


def _text(terms: tuple[tuple[Monomial, int], ...]) -> str:
    text = ""
    for m, c in terms:
        size = [str(abs(c))] if abs(c) != 1 or not m else []
        text += ("-" if c < 0 else "+" if text else "") + "*".join([*size, *(a.key for a in m)])
    return text


class Poly(Thing):
    """Σ coefficient · Π atoms, with integer coefficients; terms and atoms in key order."""

    __slots__ = ("terms",)

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self.key = short(_text(terms) or "0")
        self.free = frozenset(chain.from_iterable(a.free for m, _ in terms for a in m))
        self.height = max((a.height for m, _ in terms for a in m), default=0)

    @property
    def constant(self) -> int | None:
        """The value, if no atom occurs."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    def coefficient(self, *atoms: Atom) -> int:
        return next((c for m, c in self.terms if m == atoms), 0)

    def __add__(self, other: Poly | int) -> Poly:
        return _add(self, poly(other), 1)

    def __sub__(self, other: Poly | int) -> Poly:
        return _add(self, poly(other), -1)

    def __rsub__(self, other: int) -> Poly:
        return _add(poly(other), self, -1)

    def __neg__(self) -> Poly:
        return _multiply(self, number(-1))

    def __mul__(self, other: Poly | int) -> Poly:
        return _multiply(self, poly(other))

    __radd__, __rmul__ = __add__, __mul__

    def atoms(self) -> Iterable[IntegerAtom]:
        return (cast(IntegerAtom, a) for m, _ in self.terms for a in m)

    def value(self, of: Callable[[Atom], Any]) -> Any:
        """The value where the atoms have these."""
        return sum(c * prod(map(of, m)) for m, c in self.terms)

    def rename(self, names: Renaming) -> Poly:
        names = tuple(pair for pair in names if pair[0] in self.free)
        return _rename(self, names) if names else self

    def at(self, values: Substitution) -> Poly:
        values = tuple(pair for pair in values if pair[0] in self.free)
        return _at(self, values) if values else self


Renaming = tuple[tuple[Var, Var], ...]
Substitution = tuple[tuple[Var, Poly], ...]


def collect(terms: Iterable[tuple[Monomial, int]]) -> Poly:
    """A polynomial from terms in any order, like terms joined, and digits, too."""
    found = _collected(terms)
    divided = len(found.terms) > 1 and any(isinstance(a, Ratio) for m, _ in found.terms for a in m)
    return _joined(found) if divided else found


def _collected(terms: Iterable[tuple[Monomial, int]]) -> Poly:
    total: dict[Monomial, int] = {}
    for monomial, c in terms:
        m = tuple(sorted(monomial, key=_key)) if len(monomial) > 1 else monomial
        total[m] = total.get(m, 0) + c
    kept = [(m, c) for m, c in total.items() if c]
    kept.sort(key=_monomial_key)
    return Poly(tuple(kept))


@remember
def _joined(p: Poly) -> Poly:
    """Digits put together: (x mod d) + d·⌊x / d⌋ is x, and x − d·⌊x / d⌋ is x mod d where d is a number, wherever that
    leaves less."""
    for m, c in p.terms:
        for a in m:
            if not isinstance(a, Ratio):
                continue
            d = 1 if a.op == "mod" else a.divisor.constant
            if d is None or c % d:
                continue
            times, others = c // d, without(m, (a,))
            quotient, rest = divide(a.numerator, a.divisor)
            below = [(n + s, -k * e) for n, k in quotient.terms for s, e in a.divisor.terms]
            zero = [*a.numerator.terms, *below, *((n, -k) for n, k in rest.terms)]
            found = _collected([*p.terms, *((cast(Monomial, others) + n, times * k) for n, k in zero)])
            if len(found.terms) < len(p.terms):
                return _joined(found)
    return p


def _key(thing: Thing) -> str:
    return thing.key


def _monomial_key(term: tuple[Monomial, int]) -> tuple[int, list[str]]:
    return -len(term[0]), [a.key for a in term[0]]


@remember
def number(value: int) -> Poly:
    return Poly((((), value),) if value else ())


@remember
def variable(atom: Atom) -> Poly:
    """An atom as a polynomial."""
    return Poly((((atom,), 1),))


def poly(value: Poly | int) -> Poly:
    return number(value) if isinstance(value, int) else value


@remember
def _add(a: Poly, b: Poly, sign: int) -> Poly:
    return collect([*a.terms, *((m, sign * c) for m, c in b.terms)])


@remember
def _multiply(a: Poly, b: Poly) -> Poly:
    return collect((m + n, c * d) for m, c in a.terms for n, d in b.terms)


@remember
def _rename(p: Poly, names: Renaming) -> Poly:
    return collect((tuple(a.rename(names) if a.free else a for a in m), c) for m, c in p.terms)


@remember
def _at(p: Poly, values: Substitution) -> Poly:
    total = number(0)
    for m, c in p.terms:
        product = number(c)
        for a in m:
            product = product * (cast(IntegerAtom, a).at(values) if a.free else variable(a))
        total = total + product
    return total


def product(factors: Iterable[Poly]) -> Poly:
    total = number(1)
    for factor in factors:
        total = total * factor
    return total


# --------------------------------------------------------------------------------------------------------------- ranges


@remember
def at_least_zero(p: Poly, forgetting: frozenset[Var] = NOTHING, depth: int = 12) -> bool:
    """Whether p ≥ 0 follows from the ranges of its atoms alone; `forgetting` names variables whose ranges may not be
    used."""
    if p.constant is not None:
        return p.constant >= 0
    if depth == 0:
        return False
    movable = [a for a in p.atoms() if not isinstance(a, SizeAtom)]
    if not movable:
        return all(c >= 0 for _, c in _above_minimum(p).terms)
    atom = max(movable, key=lambda a: (_has_moving_range(a, forgetting), a.key))
    low, high = atom.range(forgetting)
    slope, rest = linear(p, atom)
    if slope is None:
        return False
    for end, direction in ((low, 1), (high, -1)):
        if end is not None and at_least_zero(slope * direction, forgetting, depth - 1):
            return at_least_zero(slope * end + rest, forgetting, depth - 1)
    return False


def _has_moving_range(atom: IntegerAtom, forgetting: frozenset[Var]) -> bool:
    """Atoms whose range depends on other atoms go first."""
    ends = [end for end in atom.range(forgetting) if end is not None]
    return any(not isinstance(a, SizeAtom) for end in ends for a in end.atoms())


def _above_minimum(p: Poly) -> Poly:
    """A polynomial in sizes, rewritten in how far each size lies above its minimum (under the same atoms)."""
    return collect(
        term
        for m, c in p.terms
        for term in product([number(c), *(variable(a) + cast(SizeAtom, a).minimum for a in m)]).terms
    )


def linear(p: Poly, atom: Atom) -> tuple[Poly | None, Poly]:
    """p = slope·atom + rest with neither holding the atom as a factor; slope is None when p is not linear in it."""
    slope: list[tuple[Monomial, int]] = []
    rest: list[tuple[Monomial, int]] = []
    for m, c in p.terms:
        if atom in m:
            without = tuple(a for a in m if a is not atom)
            if len(without) != len(m) - 1:
                return None, p
            slope.append((without, c))
        else:
            rest.append((m, c))
    return collect(slope), collect(rest)


def at_least(p: Poly, bound: int) -> bool:
    return at_least_zero(p - bound)


# ------------------------------------------------------------------------------------------------------------- division


@remember
def divide(p: Poly, q: Poly) -> tuple[Poly, Poly]:
    """p // q and p mod q for q > 0: exact where mixed-radix reasoning decides it, atoms for what is left."""
    if q.constant is not None and q.constant <= 0:
        raise Unsupported("a division of indices by a number that is not positive")
    if q.constant == 1:
        return p, number(0)
    quotient, rest = _whole_part(p, q)
    for shift in (0, -1, 1):  # the rest may lie one divisor off
        candidate = rest - q * shift
        if at_least_zero(candidate) and at_least_zero(q - candidate - 1):
            return quotient + shift, candidate
    if rest.constant is not None and q.constant is not None:
        return quotient + rest.constant // q.constant, number(rest.constant % q.constant)
    down, left = _nested(rest, q)
    return quotient + down, left


def _whole_part(p: Poly, q: Poly) -> tuple[Poly, Poly]:
    """p = quotient·q + rest, taking out every monomial that q divides."""
    if len(q.terms) == 1:
        (divisor, size), quotient, rest = q.terms[0], [], []
        for m, c in p.terms:
            left = without(m, divisor)
            if left is None:
                rest.append((m, c))
            elif c % size == 0 or not divisor:
                quotient.append((left, c // size))
                rest.append((m, c % size))
            else:
                rest.append((m, c))
        return collect(quotient), collect(rest)
    total, rest_poly = number(0), p
    lead, size = q.terms[0]
    for m, c in p.terms:
        left = without(m, lead)
        if left is not None and c % size == 0:
            part = collect([(left, c // size)])
            smaller = rest_poly - part * q
            if len(smaller.terms) < len(rest_poly.terms):
                total, rest_poly = total + part, smaller
    return total, rest_poly


def exact_quotient(p: Poly, q: Poly) -> Poly | None:
    """p / q where q divides p without any division atom, else None."""
    if not p.terms:
        return p
    quotient, rest = divide(p, q)
    if rest.terms or any(isinstance(a, Ratio) for a in quotient.atoms()):
        return None
    return quotient


def _nested(rest: Poly, q: Poly) -> tuple[Poly, Poly]:
    """Atoms for rest // q and rest mod q, with a lone inner division folded in: (a//b)//q = a//(b·q), (a mod b·q) mod
    q = a mod q."""
    if not rest.terms:
        return rest, rest
    lone = (
        rest.terms[0][0][0] if len(rest.terms) == 1 and len(rest.terms[0][0]) == 1 and rest.terms[0][1] == 1 else None
    )
    if isinstance(lone, Ratio) and lone.op == "//":
        down = divide(lone.numerator, lone.divisor * q)[0]
        return down, variable(Ratio("mod", rest, q))
    if isinstance(lone, Ratio) and lone.op == "mod":
        factor = exact_quotient(lone.divisor, q)
        if factor is not None:  # a mod (q·f): its quotient by q is (a // q) mod f, its remainder a mod q
            return divide(divide(lone.numerator, q)[0], factor)[1], divide(lone.numerator, q)[1]
    shorter = _without_last_digit(rest, q)
    if shorter is not None:
        return shorter
    return variable(Ratio("//", rest, q)), variable(Ratio("mod", rest, q))


def _without_last_digit(rest: Poly, q: Poly) -> tuple[Poly, Poly] | None:
    """rest // q and rest mod q for rest = b·a + r and q = b·m with 0 ≤ r < b: a // m and b·(a mod m) + r. Of classes in
    rows of 5, the place 5·i + j is in a row of 10 the place 5·(i mod 2) + j."""
    if len(q.terms) != 1:
        return None
    ((divisor, size),) = q.terms
    sizes = Counter(divisor)
    shared = {collect([(tuple((sizes & Counter(m)).elements()), gcd(c, size))]) for m, c in rest.terms if m}
    for base in sorted(shared, key=_key):
        above, digit = _whole_part(rest, base)
        if base.constant != 1 and above.terms and at_least_zero(digit) and at_least_zero(base - 1 - digit):
            fewer = exact_quotient(q, base)
            if fewer is not None:
                down, left = divide(above, fewer)
                return down, left * base + digit
    return None
