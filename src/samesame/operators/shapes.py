"""Sizes, dimensions and broadcasting: what every family of operators needs to say which element belongs to which.

A size is an int or an integer polynomial over symbolic sizes, in canonical form: `H·D` and `D·H` are one object, and
`(2·s)//2` is s. Two sizes are equal when they are so whatever their symbols are. A meaning that would hold for some
values of the symbols only is refused, never guessed: `at_least`, `never_above` and `agreeing` are how meanings ask.
Inside `deciding` what depends on the sizes is answered as it is at an example, and each answer is a condition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from math import prod
from typing import Any, TypeGuard

from samesame.formula.expr import (
    ZERO,
    Add,
    Expr,
    Extremum,
    FloorDiv,
    Index,
    Load,
    Mod,
    Mul,
    Num,
    Opaque,
    Size,
    Unsupported,
    Where,
    add,
    const,
    fold,
    maximum,
    minimum,
    mul,
    numeric,
    walk,
)
from samesame.formula.region import Condition, holding, put
from samesame.formula.sizes import at_least, canonical, size_text, symbols, value_at
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.graph import Dtype
from samesame.operators.numbers import constant

Shape = tuple[Dim, ...]


# -------------------------------------------------------------------------------------------------------------- sizes


def plain(size: Dim) -> Dim:
    """The size in canonical form: an int where it is a number."""
    return size if isinstance(size, int) else _canonical(size)


@lru_cache(maxsize=1 << 14)
def _canonical(size: Expr) -> Dim:
    return canonical(size)


def static(size: Dim) -> int:
    """The size as an int; refused where it is symbolic."""
    known = plain(size)
    if isinstance(known, int):
        return known
    raise Unsupported(f"a size {size_text(known)} must be known here")


def _all_ints(sizes: tuple[Dim, ...]) -> TypeGuard[tuple[int, ...]]:
    return all(isinstance(n, int) for n in sizes)


def total(*sizes: Dim) -> Dim:
    """The sum of sizes."""
    return sum(sizes) if _all_ints(sizes) else plain(add(0, *sizes))


def difference(a: Dim, b: Dim) -> Dim:
    """a − b."""
    return a - b if isinstance(a, int) and isinstance(b, int) else plain(add(a, mul(-1, b)))


def greatest_of(*sizes: Dim) -> Dim:
    """The maximum of sizes."""
    return plain(maximum(*sizes))


def least_of(*sizes: Dim) -> Dim:
    """The minimum of sizes."""
    return plain(minimum(*sizes))


def count(sizes: Iterable[Dim]) -> Dim:
    """The product of sizes."""
    given = tuple(sizes)
    return prod(given) if _all_ints(given) else plain(mul(1, *given))


def same_size(a: Iterable[Dim], b: Iterable[Dim]) -> bool:
    """Whether two products of sizes are the same, whatever the symbols are."""
    own, other = count(a), count(b)
    return own == other or _is_here("=", own, other)


class Decisions:
    """What depends on sizes, answered as it is at an example; `conditions` are the answers."""

    def __init__(self, example: Mapping[str, int]) -> None:
        self.example = example
        self.conditions: dict[Condition, None] = {}

    def ask(self, op: str, a: Dim, b: Dim) -> bool:
        a, b = self.chosen(a), self.chosen(b)
        asked = holding(op, a, b, True)
        answer = asked.holds(self.example)
        if symbols(difference(a, b)) and (answer or op != "="):
            self.conditions[holding(op, a, b, answer)] = None
        return answer

    def chosen(self, size: Dim) -> Dim:
        """The size with each maximum and minimum replaced by that part of it which it is at the example."""
        parts = [e for e in walk(size) if isinstance(e, Extremum)] if isinstance(size, Expr) else []
        if not parts:
            return size
        extremum = parts[-1]                               # an inner one
        values = [value_at(plain(part), self.example) for part in extremum.arguments]
        best = extremum.arguments[values.index((max if extremum.op == "max" else min)(values))]
        for part in extremum.arguments:
            if part is not best:
                self.ask("≥" if extremum.op == "max" else "≤", plain(best), plain(part))
        return self.chosen(put(size, {extremum: best}))


_decisions: ContextVar[Decisions | None] = ContextVar("decisions", default=None)


@contextmanager
def deciding(example: Mapping[str, int]) -> Iterator[Decisions]:
    """Inside, meanings decide on sizes as they are at the example, by the names of symbols."""
    decisions = Decisions(example)
    token = _decisions.set(decisions)
    try:
        yield decisions
    finally:
        _decisions.reset(token)


def _is_here(op: str, a: Dim, b: Dim) -> bool:
    decisions = _decisions.get()
    return decisions is not None and decisions.ask(op, a, b)


def typical(size: Dim, otherwise: int) -> int:
    """The number that a size is at the example, while sizes are decided by one; else where every symbol is as large as
    told."""
    decisions = _decisions.get()
    return value_at(size, {s.name: otherwise for s in symbols(size)} if decisions is None else decisions.example)


def never_above(a: Dim, b: Dim) -> bool:
    """Whether a ≤ b whatever the symbols are, as far as their minima and the bounds of quotients show it."""
    return _never_negative(difference(b, a)) or _is_here("≤", a, b)


@lru_cache(maxsize=1 << 14)
def _never_negative(size: Dim) -> bool:
    """Whether a size is at least 0.

    A part of which only bounds are known is replaced by one of them. Of q = ⌊a/b⌋, what counts is a − b < b·q ≤ a:
    so b·(rest − m·q) ≥ b·rest − m·a, and an integer is not negative if b times it is more than −b.
    """
    least = at_least(size)
    if least is not None and least >= 0:
        return True
    if isinstance(size, int):
        return False
    atoms = dict.fromkeys(part for powers, _ in _terms(size) for part in powers)
    return any(all(map(_never_negative, lower)) for atom in atoms for lower in _below(atom, *_linear_in(atom, size)))


def _linear_in(atom: Expr, size: Dim) -> tuple[Dim, Dim | None]:
    """rest and factor with size = rest + factor · atom; no factor where the atom stands in other powers."""
    terms = _terms(size)
    if any(powers[atom] > 1 for powers, _ in terms):
        return size, None
    with_it = [(powers - Counter([atom]), c) for powers, c in terms if powers[atom]]
    return _size_of([(powers, c) for powers, c in terms if not powers[atom]]), _size_of(with_it)


def _below(atom: Expr, rest: Dim, factor: Dim | None) -> list[tuple[Dim, ...]]:
    """Groups of sizes such that rest + factor · atom is not negative if all of one group are not."""
    if factor is None:
        return []
    less = difference(0, factor)
    taken, added = (_never_negative(difference(n, 1)) for n in (less, factor))
    match atom:
        case FloorDiv(a, b) if taken and _never_negative(difference(b, 1)):
            return [(total(difference(count((b, rest)), count((less, a))), b, -1),)]
        case FloorDiv(a, b) if added and _never_negative(difference(b, 1)):
            return [(total(count((b, rest)), count((factor, total(difference(a, b), 1))), b, -1),)]
        case Mod(_, b) if taken and _never_negative(difference(b, 1)):
            return [(difference(rest, count((less, difference(b, 1)))),)]
        case Extremum(op, parts) if taken or added:
            each = [total(rest, count((factor, part))) for part in parts]
            return [tuple(each)] if (op == "max") == taken else [(lower,) for lower in each]
    return []


def not_above(a: Dim, b: Dim, what: str) -> None:
    """Refuse sizes of which a > b for some values of the symbols; numbers are taken to be as torch lets them be."""
    if any(isinstance(plain(n), Expr) for n in (a, b)) and not never_above(a, b):
        raise Unsupported(f"{what}: {size_text(plain(a))} may be more than {size_text(plain(b))}")


def agreeing(a: Sequence[Dim], b: Sequence[Dim], what: str) -> None:
    """Refuse two shapes that are not the same."""
    if len(a) != len(b) or any(not same_size((n,), (m,)) for n, m in zip(a, b, strict=True)):
        raise Unsupported(f"{what}: shapes {shape_text(a)} and {shape_text(b)}")


def shape_text(shape: Iterable[Dim]) -> str:
    """A shape as people write it: `[B, 2·T]`."""
    return f"[{', '.join(size_text(plain(n)) for n in shape)}]"


def divided(dividend: Iterable[Dim], by: Iterable[Dim]) -> Dim:
    """The quotient of two products of sizes, which must be exact."""
    a, b = count(dividend), count(by)
    found = _exact_quotient(_terms(a), _terms(b))
    if found is None:
        raise Unsupported(f"{size_text(a)} is no multiple of {size_text(b)}")
    return total(*(count((c, *powers.elements())) for powers, c in found))


Terms = list[tuple[Counter[Expr], int]]                    # of a polynomial: atoms with exponents, and a coefficient


def _terms(size: Dim) -> Terms:
    """The terms of a size in canonical form, the highest first, in the order by exponents of atoms."""
    sums = size.terms if isinstance(size, Add) else (size,)
    found: Terms = []
    for term in map(const, sums):
        parts = term.factors if isinstance(term, Mul) else (term,)
        number = prod(int(part.value) for part in parts if isinstance(part, Num))
        if number:
            found.append((Counter(part for part in parts if not isinstance(part, Num)), number))
    return sorted(found, key=lambda term: _rank(term[0]), reverse=True)


def _rank(powers: Counter[Expr]) -> list[str]:
    """Orders products so that multiplying two by a third keeps their order: by their atoms, repeats kept."""
    return sorted((repr(atom) for atom in powers.elements()), reverse=True)


def _exact_quotient(rest: Terms, by: Terms) -> Terms | None:
    """Division of polynomials, the highest term of what is left first; None where a term is left over."""
    found: Terms = []
    while rest and by:
        (high, a), (divisor, b) = rest[0], by[0]
        if a % b or divisor - high:
            return None
        step, share = high - divisor, a // b
        found.append((step, share))
        left = total(_size_of(rest), *(count((-share * c, *step.elements(), *powers.elements())) for powers, c in by))
        rest = _terms(left)
    return found if by else None


def _size_of(terms: Terms) -> Dim:
    return total(*(count((c, *powers.elements())) for powers, c in terms))


def dimension(d: int, rank: int) -> int:
    """A dimension counted from the front; a tensor of rank 0 takes 0 and -1."""
    limit = max(rank, 1)
    if not -limit <= d < limit:
        raise Unsupported(f"dimension {d} of a tensor of rank {rank}")
    return d % limit


def dimensions(dims: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Dimensions from the front, in ascending order; None and () mean all."""
    if dims is None or dims == () or dims == []:
        return tuple(range(rank))
    chosen = (dims,) if isinstance(dims, int) else dims
    return tuple(sorted({dimension(d, rank) for d in chosen})) if rank else ()


def lower_bound(e: Expr) -> int | None:
    """A number that an integer expression is never below, if one is evident."""
    found = _evident_bound(e)
    if found is not None or e.kind != "int" or not all(isinstance(part, SIZES) for part in walk(e)):
        return found
    return at_least(e)


SIZES = (Num, Size, Add, Mul, FloorDiv, Mod, Extremum)     # what expressions of sizes alone are made of


def _evident_bound(e: Expr) -> int | None:
    match e:
        case Num(value):
            return int(value) if value.denominator == 1 else None
        case Index() | Mod() | Opaque("aten.topk" | "aten.sort", ("indices", *_)):
            return 0
        case Opaque("aten.argmax" | "aten.argmin") | Opaque("aten.sort" | "aten.topk", ("indices", _)):
            return 0                                       # a place in a row
        case Size(_, minimum):
            return minimum
        case Load(leaf, _):
            low = leaf.bounds[0] if leaf.bounds else None
            return lower_bound(const(low)) if low is not None else None
        case Add(terms):
            return _all_known(map(lower_bound, terms), sum)
        case Mul(parts) | Extremum("min", parts):
            lows = [lower_bound(part) for part in parts]
            known = [low for low in lows if low is not None and low >= 0]
            if len(known) < len(lows):
                return None
            return min(known) if isinstance(e, Extremum) else prod(known)
        case Extremum(_, parts):
            known = [low for low in map(lower_bound, parts) if low is not None]
            return max(known) if known else None
        case Where(_, then, otherwise):
            return _all_known(map(lower_bound, (then, otherwise)), min)
        case FloorDiv(numerator, divisor):
            low = lower_bound(numerator)
            if low is not None and isinstance(divisor, Num):
                return low // int(divisor.value)
            return 0 if low is not None and low >= 0 else None
    return None


def _all_known(bounds: Iterable[int | None], combine: Callable[[list[int]], int]) -> int | None:
    found = list(bounds)
    known = [b for b in found if b is not None]
    return combine(known) if len(known) == len(found) else None


# ------------------------------------------------------------------------------------------------------- broadcasting


def broadcast(*shapes: Sequence[Dim]) -> Shape:
    """The common shape of operands, aligned at the right."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Dim] = []
    for k in range(-rank, 0):
        sizes = [size for shape in shapes if len(shape) >= -k and (size := plain(shape[k])) != 1]
        if any(size != sizes[0] for size in sizes):
            raise Unsupported(f"shapes {' and '.join(map(shape_text, shapes))} do not broadcast")
        result.append(sizes[0] if sizes else 1)
    return tuple(result)


def fits(shape: Sequence[Dim], into: Sequence[Dim], what: str) -> None:
    """Refuse a shape that does not broadcast to another one."""
    agreeing(broadcast(shape, into), into, what)


def at(x: Tensor, i: Sequence[Expr]) -> Expr:
    """The element of x that belongs to index i of a shape x is broadcast to."""
    own = i[len(i) - x.rank :]
    return x[tuple(ZERO if plain(size) == 1 else j for size, j in zip(x.shape, own, strict=True))]


def as_tensor(x: Any) -> Tensor:
    """A number as a tensor of rank 0; tensors pass through."""
    if isinstance(x, Tensor):
        return x
    if not isinstance(x, int | float | Expr):
        raise Unsupported(f"{x!r} is no number")
    value = constant(x)
    return tensor((), lambda: value, kind_of_number(x))


class Untold(Tensor):
    """One of several results, which has no formula, and whose shape may hang on the device."""


def untold(shape: Shape, what: str, kind: str = "real") -> Untold:
    """One of several results, which has no formula: whoever reads an element is refused."""

    def refuse(*_: Expr) -> Expr:
        raise Unsupported(what)

    return Untold(tuple(shape), refuse, kind)


def kind_of_number(x: float | Expr) -> str:
    if isinstance(x, Expr):
        return x.kind
    return "bool" if isinstance(x, bool) else "int" if isinstance(x, int) else "real"


def joined(*kinds: str) -> str:
    """The kind that operands of these kinds are promoted to."""
    return max(kinds, key=("bool", "int", "real").index)


def pointwise(function: Callable[..., Any], *operands: Any, kind: str | None = None) -> Tensor:
    """`function` of the operands' elements, broadcast; of the kind they are promoted to unless told."""
    xs = [as_tensor(x) for x in operands]
    shape, result = broadcast(*(x.shape for x in xs)), kind or joined(*(x.kind for x in xs))
    read: Callable[[Any], Expr] = const if result == "bool" else numeric
    return tensor(shape, lambda *i: read(function(*(at(x, i) for x in xs))), result)


# ---------------------------------------------------------------------------------------------------------- reductions


def folded(monoid: str, sizes: Sequence[Dim], body: Callable[..., Any]) -> Expr:
    """`body` folded over an index for each size; a size of one has the index 0 and no binder."""
    wide = [k for k, size in enumerate(sizes) if plain(size) != 1]

    def inside(*bound: Expr) -> Any:
        full: list[Expr] = [ZERO] * len(sizes)
        for k, index in zip(wide, bound, strict=True):
            full[k] = index
        return body(*full)

    return fold(monoid, tuple(sizes[k] for k in wide), inside)


def reduced(
    monoid: str,
    x: Tensor,
    dims: int | Sequence[int] | None,
    keepdim: bool = False,
    of: Callable[[Expr], Any] = numeric,
    kind: str | None = None,
) -> Tensor:
    """A fold of `of(element)` over some dimensions of x, which vanish, or stay with size one."""
    over = dimensions(dims, x.rank)
    if monoid in ("max", "min"):
        not_above(1, count(x.shape[d] for d in over), f"a {monoid} of at least one element")
    kept = [d for d in range(x.rank) if d not in over]
    shape = tuple(1 if d in over else x.shape[d] for d in range(x.rank) if keepdim or d not in over)

    def element(*i: Expr) -> Expr:
        outer = dict(zip(range(x.rank) if keepdim else kept, i, strict=True))

        def body(*bound: Expr) -> Any:
            inner = dict(zip(over, bound, strict=True))
            return of(x[tuple(inner[d] if d in inner else outer[d] for d in range(x.rank))])

        return folded(monoid, [x.shape[d] for d in over], body)

    return tensor(shape, element, kind or x.kind)


# -------------------------------------------------------------------------------------------------------------- dtypes


# Integers that arithmetic may make wrap around, and casts cut off: no formula's integers.
NARROW = ("int8", "uint8", "int16", "uint16", "uint32", "uint64")


def kind_of(dtype: Dtype | None, default: str = "real") -> str:
    """The kind of elements of a dtype."""
    if dtype is None:
        return default
    name = str(dtype)
    if name.startswith(("int", "uint")):
        return "int"
    return "bool" if name == "bool" else "complex" if name.startswith("complex") else "real"
