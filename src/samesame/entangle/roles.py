"""Roles: which sizes of captured graphs are one and the same, and how the others are made of them.

A graph with fixed sizes shows 768 in twenty places: here the width of the model, there heads times their width, there
half of a sequence. Every size of an input starts as a role of its own, of which only the number is known. The shape
rules then say which roles must be one (the two sides of a product of matrices), which is a product of others (a view),
which a sum (a concat), and bind them. What stays free can be given any number: a small one, to run the graphs.

Whatever is guessed here (equal factors of equal products are taken to be the same role, in order) only ties sizes
together; the graphs with their own sizes remain a case of what comes out, and `shrink` checks that they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd, prod

from samesame.entangle.shapes import Mismatch

Monomials = dict[tuple[int, ...], int]                     # sorted numbers of roles → coefficient


@dataclass(eq=False, slots=True)
class Role:
    """A size of the graphs as they were captured, and what it turned out to be made of."""

    number: int
    size: int
    bound: Made | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """Factors in the order in which they were merged: the slowest first."""

    parts: tuple[Made, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """Pieces in the order in which they lie behind each other."""

    parts: tuple[Made, ...]


Made = int | Role | Product | Sum


class Roles:
    """Sizes made of roles; offers what shapes.Algebra asks for."""

    def __init__(self) -> None:
        self.roles: list[Role] = []
        self.kept: list[int] = []                          # sizes that are what they are, for nothing less would fit
        self._plain: dict[Made, Made] = {}                 # what sizes are made of; forgotten when a role is bound

    # ------------------------------------------------------------------------------------------------- what a size is

    def fresh(self, size: int) -> Made:
        """A size of which only the number is known; 0 and 1 are no roles, for they broadcast and vanish."""
        if size < 2:
            return size
        self.roles.append(Role(len(self.roles), size))
        return self.roles[-1]

    literal = fresh

    def value(self, a: Made) -> int:
        """The size in the graphs as they were captured."""
        match a:
            case int():
                return a
            case Role():
                return a.size
            case Product(parts):
                return prod(map(self.value, parts))
            case Sum(parts):
                return sum(map(self.value, parts))

    def plain(self, a: Made) -> Made:
        """The size in terms of free roles: a product of no products, a sum of no sums; equal pieces are a product."""
        if isinstance(a, int):
            return a
        found = self._plain.get(a)
        if found is None:
            found = self._plain[a] = self._unfolded(a)
        return found

    def _unfolded(self, a: Made) -> Made:
        match a:
            case Role(bound=bound):
                return a if bound is None else self.plain(bound)
            case Product(parts):
                kept = tuple(f for part in map(self.plain, parts) for f in _factors(part) if f != 1)
                if all(isinstance(f, int) for f in kept):
                    return self.value(Product(kept))
                return kept[0] if len(kept) == 1 else Product(kept)
            case Sum(parts):
                rows = (part.parts if isinstance(part, Sum) else (part,) for part in map(self.plain, parts))
                terms = [t for row in rows for t in row if t != 0]
                if all(isinstance(t, int) for t in terms):
                    return self.value(Sum(tuple(terms)))
                keys = {self.key(t) for t in terms}
                if len(keys) == 1:
                    return terms[0] if len(terms) == 1 else self.plain(Product((len(terms), terms[0])))
                return Sum(tuple(terms))
        raise AssertionError(a)

    def key(self, a: Made) -> frozenset[tuple[tuple[int, ...], int]]:
        """Equal for sizes that are the same polynomial."""
        return frozenset(self.polynomial(self.plain(a)).items())

    def polynomial(self, a: Made) -> Monomials:
        match a:
            case int():
                return {(): a} if a else {}
            case Role():
                return {(a.number,): 1}
            case Product(parts):
                found: Monomials = {(): 1}
                for part in parts:
                    factor = self.polynomial(part).items()
                    found = _gathered((tuple(sorted(m + n)), c * k) for m, c in found.items() for n, k in factor)
                return found
            case Sum(parts):
                return _gathered(pair for part in parts for pair in self.polynomial(part).items())

    def free(self, a: Made) -> Iterator[Role]:
        """The roles that a size is made of, from left to right."""
        match self.plain(a):
            case Role() as role:
                yield role
            case Product(parts) | Sum(parts):
                for part in parts:
                    yield from self.free(part)

    # --------------------------------------------------------------------------------------------------- what is bound

    def product(self, parts: Sequence[Made]) -> Made:
        return Product(tuple(parts)) if len(parts) != 1 else parts[0]

    def total(self, parts: Sequence[Made]) -> Made:
        return Sum(tuple(parts)) if len(parts) != 1 else parts[0]

    def _bind(self, role: Role, to: Made) -> None:
        assert role.bound is None and role not in set(self.free(to)) and self.value(to) == role.size
        role.bound = to
        self._plain.clear()

    def fix(self, a: Made) -> None:
        """Give every role in a size the number that it has in the graphs."""
        for role in list(self.free(a)):
            if role.bound is None:
                self._bind(role, role.size)
                self.kept.append(role.size)

    def same(self, a: Made, b: Made) -> Made:
        """Make two sizes one. Raises Mismatch where their numbers differ."""
        if self.value(a) != self.value(b):
            raise Mismatch(f"a size is {self.value(a)} and {self.value(b)}")
        while self.key(a) != self.key(b):
            self._closer(self.plain(a), self.plain(b))
        return a if isinstance(a, Product) else b

    def _closer(self, a: Made, b: Made) -> None:
        """Bind a role, so that two different sizes come closer to being one."""
        if isinstance(a, Role) and isinstance(b, Role):
            young, old = (a, b) if a.number > b.number else (b, a)
            return self._bind(young, old)
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Role) and one not in set(self.free(other)):
                return self._bind(one, other)
            if isinstance(one, int):
                return self.fix(other)
        if (isinstance(a, Sum) or isinstance(b, Sum)) and (
            self._pairs(_terms(a), _terms(b)) or self._differences(_copies(a), _copies(b))
        ):
            return None
        mine, yours = list(_factors(a)), list(_factors(b))
        _cancel(mine, yours, self)
        if self._match(mine, yours) or self._rest(mine, yours) or self._common(mine, yours):
            return None
        self.fix(a)
        self.fix(b)
        return None

    def _pairs(self, mine: Sequence[Made], yours: Sequence[Made]) -> bool:
        """Sums with the same numbers in the same places are the same, term by term."""
        if list(map(self.value, mine)) != list(map(self.value, yours)):
            return False
        for x, y in zip(mine, yours, strict=True):
            self.same(x, y)
        return True

    def _differences(self, mine: list[Made], yours: list[Made]) -> bool:
        """Sums are the same where what is left is, without the terms that both have: 4a = a + b makes b three a's."""
        count = len(mine)
        _cancel(mine, yours, self)
        if len(mine) == count:
            return False
        self.same(self.plain(self.total(mine)), self.plain(self.total(yours)))
        return True

    def _match(self, mine: Sequence[Made], yours: Sequence[Made]) -> bool:
        """The first factors with one number are one."""
        for x in mine:
            for y in yours:
                if self.value(x) == self.value(y) and not (isinstance(x, int) and isinstance(y, int)):
                    self.same(x, y)
                    return True
        return False

    def _rest(self, mine: Sequence[Made], yours: Sequence[Made]) -> bool:
        """A role by itself is what is left of the other side."""
        for one, other in ((mine, yours), (yours, mine)):
            others = Product(tuple(other))
            if len(one) == 1 and isinstance(one[0], Role) and one[0] not in set(self.free(others)):
                self._bind(one[0], self.plain(others))
                return True
        return False

    def _common(self, mine: Sequence[Made], yours: Sequence[Made]) -> bool:
        """Two roles with a common divisor share a factor."""
        for x in mine:
            for y in yours:
                shared = gcd(self.value(x), self.value(y))
                if shared > 1 and isinstance(x, Role) and isinstance(y, Role):
                    factor = self.fresh(shared)
                    for role in (x, y):
                        left = role.size // shared
                        self._bind(role, Product((factor, self.fresh(left))) if left > 1 else factor)
                    return True
                for one, number in ((x, y), (y, x)):
                    if shared > 1 and isinstance(one, Role) and isinstance(number, int):
                        self._bind(one, Product((shared, self.fresh(one.size // shared))))
                        return True
        return False

    # ------------------------------------------------------------------------------------------------ taken into parts

    def factors(self, parts: Sequence[Made], targets: Sequence[int]) -> list[Made]:
        """The product of sizes, taken apart into factors of these values, in order."""
        waiting = [f for part in map(self.plain, parts) for f in _factors(part)]
        if prod(map(self.value, waiting)) != prod(targets):
            raise Mismatch(f"{prod(map(self.value, waiting))} elements are taken for {prod(targets)}")
        found: list[Made] = []
        for target in targets:
            taken: list[Made] = []
            left = target
            while left > 1:
                atom = waiting.pop(0)
                value = self.value(atom)
                if left % value == 0:
                    taken.append(atom)
                    left //= value
                elif value % left == 0:
                    front, back = self._split(atom, left)
                    taken.append(front)
                    waiting.insert(0, back)
                    left = 1
                else:
                    for part in (*taken, atom, *waiting):
                        self.fix(part)
                    return [*found, *targets[len(found) :]]
            found.append(self.plain(Product(tuple(taken))))
        return found

    def _split(self, atom: Made, front: int) -> tuple[Made, Made]:
        """A factor as a product of one of this value and the rest."""
        atom = self.plain(atom)
        back = self.value(atom) // front
        match atom:
            case Role():
                halves = self.fresh(front), self.fresh(back)
                self._bind(atom, Product(halves))
                return halves
            case Sum(parts) if all(self.value(part) % back == 0 for part in parts):
                pairs = [self._last(part, back) for part in parts]
                for _, last in pairs[1:]:
                    self.same(pairs[0][1], last)
                return self.plain(Sum(tuple(first for first, _ in pairs))), self.plain(pairs[0][1])
        self.fix(atom)
        return front, back

    def _last(self, a: Made, back: int) -> tuple[Made, Made]:
        """A size as a product whose last factor has this value."""
        value = self.value(a)
        if value == back:
            return 1, a
        first, last = self.factors([a], [value // back, back])
        return first, last

    def cut(self, a: Made, bounds: Sequence[int]) -> list[Made]:
        """The size, taken apart into the pieces between bounds; the first is 0 and the last the size's value."""
        a, wanted = self.plain(a), [stop - start for start, stop in pairwise(bounds)]
        if len([n for n in wanted if n]) <= 1:
            return [a if n else 0 for n in wanted]
        match a:
            case Role():
                pieces = [self.fresh(n) for n in wanted]
                self._bind(a, Sum(tuple(pieces)))
                return pieces
            case Sum() | Product((int(), *_)):
                return self._cut_row(_terms(a), bounds)
            case Product((first, *rest)):
                row = self.value(Product(tuple(rest)))
                if all(bound % row == 0 for bound in bounds):
                    pieces = self.cut(first, [bound // row for bound in bounds])
                    return [self.plain(Product((piece, *rest))) for piece in pieces]
        self.fix(a)
        return list(wanted)

    def _cut_row(self, parts: Sequence[Made], bounds: Sequence[int]) -> list[Made]:
        """The same for sizes behind each other."""
        found: list[list[Made]] = [[] for _ in bounds[1:]]
        start = 0
        for part in parts:
            stop = start + self.value(part)
            inside = sorted({start, stop, *(b for b in bounds if start < b < stop)})
            pieces = self.cut(part, [b - start for b in inside])
            for low, piece in zip(inside, pieces, strict=False):
                found[max(k for k, b in enumerate(bounds[:-1]) if b <= low)].append(piece)
            start = stop
        return [self.plain(Sum(tuple(pieces))) for pieces in found]


def _factors(a: Made) -> Sequence[Made]:
    """A size as factors."""
    return a.parts if isinstance(a, Product) else (a,)


def _terms(a: Made) -> Sequence[Made]:
    """A size as a row of pieces."""
    match a:
        case Sum(parts):
            return parts
        case Product((int() as copies, *rest)):
            return [Product(tuple(rest))] * copies
    return [a]


def _copies(a: Made) -> list[Made]:
    """A size as a row of pieces, each by itself however often it occurs."""
    return [piece for term in _terms(a) for piece in _terms(term)]


def _gathered(pairs: Iterator[tuple[tuple[int, ...], int]]) -> Monomials:
    found: Monomials = {}
    for monomial, coefficient in pairs:
        found[monomial] = found.get(monomial, 0) + coefficient
    return found


def _cancel(mine: list[Made], yours: list[Made], roles: Roles) -> None:
    """Take away what both products have."""
    for x in list(mine):
        for y in yours:
            if roles.key(x) == roles.key(y):
                mine.remove(x)
                yours.remove(y)
                break
