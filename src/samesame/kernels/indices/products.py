"""What follows when an inequality is multiplied by a size.

From v ≤ n − 1 follows v·s ≤ (n − 1)·s. A solver that takes v·s and n·s for unknowns of their own does not see that,
so it is told: each inequality that is known, times each size that some product in the question has beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice

from samesame.formula.expr import (
    ZERO,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fold,
    Index,
    Lambda,
    Load,
    Mod,
    Mul,
    Not,
    Num,
    Pow,
    Size,
    walk,
)
from samesame.formula.polynomials import Monomial, by_sum, by_term, least, orders, polynomial, written
from samesame.kernels.indices import integers
from samesame.kernels.indices.ranges import is_never_negative

MOST = 60


def consequences(claims: Iterable[Expr]) -> list[Expr]:
    """Inequalities, as `0 ≤ p`, that follow from the claims and the ranges of what occurs in them; those of the last
    claim, which is what is asked about, first. Of a variable that a fold binds there may be no value at all."""
    claims = list(claims)
    bound = {v for claim in claims for e in walk(claim) if isinstance(e, Fold | Lambda) for v in e.bound}
    parts = dict.fromkeys(part for claim in claims for part in arithmetic_in(claim))
    wanted = {m for part in parts for m in products_in(part)}
    if not wanted:
        return []
    known = [q for claim in claims for p in inequalities(claim) for q in (p, *without_extrema(p))]
    known += [q for part in parts for p in ranges(part) for q in (p, *without_extrema(p))]
    sizes = [a for a in dict.fromkeys(a for m in sorted(wanted, key=orders) for a in m) if is_size(a)]
    asked, known = ([p for p in some if bound.isdisjoint(p.free)] for some in (inequalities(claims[-1]), known))
    found = chain(multiples(asked, sizes, wanted), multiples(known, sizes, wanted))
    return list(dict.fromkeys(islice(found, MOST)))


def multiples(known: Iterable[Expr], sizes: Sequence[Expr], wanted: set[Monomial]) -> Iterator[Expr]:
    """What is at least zero, times sizes, where that is about a product that is wanted."""
    todo = list(known)
    for _ in range(max(map(len, wanted)) - 1):
        products = [multiplied(p, size) for p in dict.fromkeys(todo) for size in sizes]
        todo = [p for p in products if any(divides(m, w) for m in polynomial(p) if len(m) > 1 for w in wanted)]
        yield from (at_least_zero(p) for p in todo if any(m in wanted for m in polynomial(p)))


multiplied = lru_cache(maxsize=1 << 15)(integers.times_)
at_least_zero = lru_cache(maxsize=1 << 15)(integers.at_least_zero)


def divides(part: Monomial, whole: Monomial) -> bool:
    """Whether every factor of one product is one of the other's."""
    return all(part.count(a) <= whole.count(a) for a in part)


@lru_cache(maxsize=1 << 14)
def arithmetic_in(claim: Expr) -> tuple[Expr, ...]:
    """The parts of a claim, and of the ranges of its indices, that say something of integers."""
    return tuple(e for e in walk(claim) if products_in(e) or ranges(e))


@lru_cache(maxsize=1 << 14)
def multiplies(claim: Expr) -> bool:
    """Whether a claim is about products of unknowns."""
    return any(products_in(e) or is_product(e) for e in walk(claim))


def is_product(e: Expr) -> bool:
    match e:
        case Mul(factors):
            return sum(not isinstance(factor, Num) for factor in factors) > 1
        case FloorDiv(_, divisor) | Mod(_, divisor):
            return not isinstance(divisor, Num)
    return isinstance(e, Pow)


def inequalities(claim: Expr) -> Iterator[Expr]:
    """What a claim says to be at least zero."""
    match claim:
        case Compare("≤", left, right) if left.kind == "int" == right.kind:
            yield integers.minus(right, left)
        case Compare("=", left, right) if left.kind == "int" == right.kind:
            yield integers.minus(right, left)
            yield integers.minus(left, right)
        case Not(Compare("≤", left, right)) if left.kind == "int" == right.kind:
            yield integers.minus(integers.minus(left, right), 1)


@lru_cache(maxsize=1 << 14)
def without_extrema(p: Expr) -> tuple[Expr, ...]:
    """What else is at least zero where p is: of min{a, b} − v both a − v and b − v; of max{a, 0} − v − 1, for an index
    v, a − v − 1."""
    terms = polynomial(p)
    for monomial, c in terms.items():
        (atom, *others) = monomial or (ZERO,)
        if others or not isinstance(atom, Extremum):
            continue
        rest = written({m: d for m, d in terms.items() if m != monomial})
        parts = [integers.plus_(rest, integers.times_(part, c)) for part in atom.arguments]
        if (c > 0) is not (atom.op == "min"):  # one of them is at least zero
            parts = [part for part in parts if not is_never_negative(integers.minus(-1, part))]
        if len(parts) == 1 or (c > 0) is (atom.op == "min"):
            return tuple(q for part in parts for q in (part, *without_extrema(part)))
    return ()


@lru_cache(maxsize=1 << 14)
def ranges(part: Expr) -> tuple[Expr, ...]:
    """What is at least zero by what an index or a quotient is."""
    match part:
        case Index(_, extent):
            return part, integers.minus(integers.minus(integers.tidied(extent), 1), part)
        case FloorDiv(a, b) if is_at_least_one(b):
            rest = integers.minus(a, integers.times_(b, part))
            return rest, integers.minus(integers.minus(b, 1), rest), *last_part(a, b, part)
        case Size(_, minimum):
            return (integers.minus(part, minimum),)
    return ()


def last_part(a: Expr, b: Expr, quotient: Expr) -> Iterator[Expr]:
    """Of an index of c·b things that is divided by b, that the quotient is below c: the number of a part of a row."""
    if isinstance(a, Index):
        divisor, extent = polynomial(b), polynomial(integers.tidied(a.extent))
        parts, rest = by_term(extent, divisor) if len(divisor) == 1 else by_sum(extent, divisor)
        if parts and not rest:
            yield integers.minus(integers.minus(written(parts), 1), quotient)


@lru_cache(maxsize=1 << 14)
def products_in(part: Expr) -> tuple[Monomial, ...]:
    """The products in the integers that a comparison, a range or a quotient is about."""
    return tuple(dict.fromkeys(m for p in (*sides(part), *ranges(part)) for m in polynomial(p) if len(m) > 1))


def sides(part: Expr) -> tuple[Expr, ...]:
    """The integers that a comparison or a quotient is about."""
    match part:
        case Compare(_, left, right) if left.kind == "int" == right.kind:
            return (integers.minus(right, left),)
        case FloorDiv(a, b):
            return a, integers.times_(b, part)
        case Index(_, extent):
            return (integers.tidied(extent),)
        case Load(_, indices):
            return indices
        case Lambda():
            return ()
    return ()


def is_size(atom: Expr) -> bool:
    """Whether it is at least one, or a quotient of sizes, as rows that each program has are: at least zero."""
    return is_at_least_one(atom) or (isinstance(atom, FloorDiv) and not atom.free and least(atom) == 0)


def is_at_least_one(atom: Expr) -> bool:
    return (least(atom) or 0) >= 1
