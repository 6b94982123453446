"""Choices among choices: the largest of a long row, found among the largest of its parts.

A vocabulary that is cut over ranks is searched so: each takes the largest of its own part, all exchange these, and take
the largest again. Where a row consists of what was chosen from other rows, a choice from it is one from these rows,
joined:

    the k largest numbers       of parts that are each the k largest of a row, or more of them, are those of all rows
    where the greatest stands   among the greatest of each row: there stands the row in which the greatest of all does

Where something stood is read through two tables: x[w], where w is a place among the parts and x says of each part where
it came from. On the part that holds the greatest of all, at place q, the greatest of that part stands at q less what
lies before it. So x[w] is written part by part, and each choice that it names by the place in the joined rows. Of equal
numbers `argmax` takes the first, and the first part that has one holds the first of all. Of others, the k-th place is
told by the numbers only if no two are equal; that is taken for granted where nothing else helps, `with untied():`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from samesame.formula.assumptions import Assumption, Said
from samesame.formula.binders import put
from samesame.formula.expr import (
    FALSE,
    TRUE,
    ZERO,
    Add,
    Compare,
    Expr,
    FloorDiv,
    Fold,
    Index,
    Lambda,
    Load,
    Mod,
    Mul,
    Num,
    Opaque,
    Where,
    add,
    const,
    index,
    lt,
    mul,
    numeric,
    rebuild,
    substitute,
    walk,
    where,
)
from samesame.formula.monotone import apart, is_finite, place
from samesame.formula.polynomials import by_term, polynomial, written

MOST = 256                  # elements of a row that is written out
SORTED, PLACED = ("aten.sort", ("values", (False, True))), ("aten.sort", ("indices", (False, True)))
UNTIED = "no two elements of a row of {} are equal"
EXTREMES = {"aten.argmax": "max", "aten.argmin": "min"}
Element = Callable[[Expr], Expr]
_untied: ContextVar[set[Said] | None] = ContextVar("untied", default=None)


@contextmanager
def untied() -> Iterator[set[Said]]:
    """Inside, no two elements of a row from which several are chosen are equal, which is said of each row that it
    matters for."""
    told = set[Said]()
    token = _untied.set(told)
    try:
        yield told
    finally:
        _untied.reset(token)


def is_untied() -> bool:
    return _untied.get() is not None


def _tell(row: Lambda) -> None:
    """Write down that the elements of this row are taken to be different."""
    told, loads = _untied.get(), [e for e in walk(row.body) if isinstance(e, Load)]
    names = {e.leaf.name for e in loads if e.kind == row.body.kind}
    if told is not None:
        told.add(Said("ties", UNTIED, (min(names) if len(names) == 1 else "what several are chosen from",)))


def ties_excluded(assumptions: Iterable[Assumption]) -> list[str]:
    """Those that exclude ties."""
    return list(dict.fromkeys(str(one) for one in assumptions if isinstance(one, Said) and one.kind == "ties"))


def position(row: Lambda, k: Expr, largest: bool) -> Opaque | None:
    """Where the k-th largest, or smallest, element of a row stands, whichever operator finds it: the greatest, the
    least, or the one that so many are smaller than. None where elements may be equal."""
    if not is_untied():
        return None
    _tell(row)
    below = _from_below(row, k, largest)
    if below is ZERO:
        return place("aten.argmin", row)
    if add(below, 1) is row.bound[0].extent:
        return place("aten.argmax", row)
    return Opaque(*PLACED, (row,), (below,), "int")


@dataclass(frozen=True, slots=True)
class Part:
    """The choices at `count` places of a row from `start` on, and the row that they were chosen from."""

    start: int
    count: int
    row: Lambda

    @property
    def length(self) -> int:
        extent = self.row.bound[0].extent
        assert isinstance(extent, Num)
        return int(extent.value)

    def at(self, k: Expr) -> Expr:
        """An element of the row that was chosen from."""
        return substitute(self.row.body, {self.row.bound[0]: k})


def _from_below(row: Lambda, k: Expr, largest: bool) -> Expr:
    """How many elements are smaller than the k-th largest, or smallest."""
    return add(row.bound[0].extent, -1, mul(-1, k)) if largest else k


def in_order(row: Lambda, k: Expr, largest: bool, kind: str) -> Opaque:
    """The k-th largest element of a row, or the k-th smallest, from 0; of the rows that this one holds so many of the
    largest of, joined, where it does."""
    _, last = _range(k)
    parts = None if last is None else _ranked(row, last + 1, largest)
    row = row if parts is None else _joined(parts)
    return Opaque(*SORTED, (row,), (_from_below(row, k, largest),), kind)


def read_at(chosen: Expr, element: Element) -> Expr:
    """`element` at a place; where that is a choice among choices, part by part, in terms of the rows that these were
    chosen from."""
    match chosen:
        case Mod(inner, n) if _is_place_below(inner, n):
            return read_at(inner, element)
        case Opaque("aten.argmax" | "aten.argmin" as name, (), (row,), ()):
            found = _of_itself(name, row, element)
            found = _of_extremes(name, row, element) if found is None else found
        case Opaque("aten.sort", attributes, (row,), (k,)) if ("aten.sort", attributes) == PLACED and is_untied():
            found = _of_ranked(row, k, element)
        case _:
            found = None
    return element(chosen) if found is None else found


def _is_place_below(e: Expr, n: Expr) -> bool:
    """Whether it is where something stands in a row of so many elements."""
    match e:
        case Opaque("aten.argmax" | "aten.argmin", (), (Lambda((v,), _),), ()):
            return v.extent is n
        case Opaque("aten.topk" | "aten.sort", ("indices", _), (Lambda((v,), _),), (_,)):
            return v.extent is n
    return False


def _of_itself(name: str, row: Lambda, element: Element) -> Expr | None:
    """The number that was chosen, where it is read from the row that it was chosen from, or from one that is a function
    of that: the greatest of x stands where x is as great as that. Of several that were chosen `places` says so, where
    nothing else helps, for a mask asks where they stand."""
    if len(row.bound) != 1:
        return None
    (k,) = row.bound
    there = numeric(element(k))
    told = apart(there, frozenset((k,)))
    if told.core is not row.body or not (told.core is there or is_finite(told.core)):
        return None
    return told.back(Fold(EXTREMES[name], row.bound, row.body))


def _of_extremes(name: str, row: Lambda, element: Element) -> Expr | None:
    """The element at the first of the greatest, or least, part by part: the first part that has one holds the first of
    all, and its first."""
    parts = _ranked(row, 1, name == "aten.argmax")
    if parts is None:
        return None

    def on(part: Part, here: Expr) -> Expr:
        own = place(name, part.row)
        return put(_settled(element(const(part.start))), lambda e: here if _is(e, own) else None)

    return _by_parts(parts, place(name, _joined(parts)), on)


def _of_ranked(row: Lambda, below: Expr, element: Element) -> Expr | None:
    """The same for the one that so many elements of the row are smaller than."""
    for largest in (True, False):
        k = add(row.bound[0].extent, -1, mul(-1, below)) if largest else below
        _, last = _range(k)
        parts = None if last is None else _ranked(row, last + 1, largest)
        if parts is not None:
            where_all = position(_joined(parts), k, largest)
            return None if where_all is None else _ranked_at(parts, where_all, element, largest)
    return None


def _ranked_at(parts: Sequence[Part], where_all: Expr, element: Element, largest: bool) -> Expr | None:
    """The element part by part, where all that it says of a part's k-th choice is said of that one's place in its row.
    None where it says more: which of the choices it was."""
    fresh = [index(part.count) for part in parts]

    def on(part: Part, here: Expr) -> Expr:
        if part.length == 1:
            return _settled(element(const(part.start)))
        k = fresh[parts.index(part)]
        below = _from_below(part.row, k, largest)

        def known(e: Expr) -> Expr | None:
            match e:
                case Opaque("aten.sort" as name, told, (own,), (at,)) if at is below and _alike(own, part.row):
                    return here if (name, told) == PLACED else part.at(here) if (name, told) == SORTED else None
            return None

        return put(_settled(element(add(part.start, k))), known)

    told = _by_parts(parts, where_all, on)
    return None if told.free & frozenset(fresh) else told


# ---------------------------------------------------------------------------------------------------- what a row holds


def _ranked(row: Lambda, wanted: int, largest: bool) -> list[Part] | None:
    """The parts of a row of which each holds the largest of a row in falling order (or the smallest in rising order),
    as many as are wanted or all; an element of its own is a row of one. None where there are no others."""
    elements, parts = _elements(row), list[Part]()
    for k, e in enumerate(elements):
        own = _rank(e, largest)
        if own is None:
            parts.append(Part(k, 1, Lambda((index(1),), e)))
            continue
        source, rank = own
        last = parts[-1] if parts else None
        if last is not None and last.row is source and rank == last.count < last.length:
            parts[-1] = Part(last.start, last.count + 1, source)
        elif rank == 0:
            parts.append(Part(k, 1, source))
        else:
            return None
    if all(part.length == 1 for part in parts) or any(part.count < min(wanted, part.length) for part in parts):
        return None
    return parts


def _rank(e: Expr, largest: bool) -> tuple[Lambda, int] | None:
    """The row of which this is the largest element but so many, or the smallest but so many."""
    match e:
        case Opaque(name, attributes, (row,), (Num(k),)) if (name, attributes) == SORTED:
            extent = row.bound[0].extent
            if isinstance(extent, Num):
                return row, int(extent.value - 1 - k if largest else k)
        case Fold(monoid, (v,), body) if monoid == ("max" if largest else "min") and isinstance(v.extent, Num):
            return Lambda((v,), body), 0
    return None


def _elements(row: Lambda) -> list[Expr]:
    """Each element of a row that is chosen by place; none where it is one formula for all, or long."""
    if len(row.bound) != 1 or not isinstance(row.body, Where):
        return []
    (k,) = row.bound
    if not isinstance(k.extent, Num) or k.extent.value > MOST:
        return []
    return [_settled(substitute(row.body, {k: const(at)})) for at in range(int(k.extent.value))]


def _joined(parts: Sequence[Part]) -> Lambda:
    """The rows of all parts, one behind the other."""
    k = index(sum(part.length for part in parts))
    return Lambda((k,), _by_parts(parts, k, Part.at))


def _by_parts(parts: Sequence[Part], at: Expr, on: Callable[[Part, Expr], Expr]) -> Expr:
    """What is said of each part, with the place in its own row, on the part in which a place of the joined rows
    lies."""
    ends = [sum(part.length for part in parts[: k + 1]) for k in range(len(parts))]
    found: Expr | None = None
    for part, end in reversed(list(zip(parts, ends, strict=True))):
        here = on(part, add(at, part.length - end))
        found = here if found is None else where(lt(at, end), here, found)
    assert found is not None
    return found


# ------------------------------------------------------------------------------------------------------- expressions


def _alike(one: Lambda, other: Lambda) -> bool:
    """Whether two rows are the same but for the names of their indices."""
    (v,), (w,) = one.bound, other.bound
    return one is other or (v.extent is w.extent and substitute(one.body, {v: w}) is other.body)


def _is(e: Expr, wanted: Opaque) -> bool:
    return isinstance(e, Opaque) and e.name == wanted.name and not e.attributes and not e.indices and (
        len(e.arguments[0].bound) == 1 and _alike(e.arguments[0], wanted.arguments[0])
    )


def _settled(expr: Expr) -> Expr:
    """The expression with comparisons and quotients worked out that the ranges of indices decide, innermost first."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = _decided(rebuild(e, go))
        return memo[e]

    return go(expr)


def _decided(e: Expr) -> Expr:
    match e:
        case Compare("<" | "≤" as op, a, b):
            low, high = _range(add(b, mul(-1, a)))
            least = 1 if op == "<" else 0
            if low is not None and low >= least:
                return TRUE
            return FALSE if high is not None and high < least else e
        case FloorDiv(a, Num(d)) | Mod(a, Num(d)):
            times, rest = map(written, by_term(polynomial(a), {(): int(d)}))
            low, high = _range(rest)
            if low is None or high is None or low // int(d) != high // int(d):
                return e
            q = low // int(d)
            return add(times, q) if isinstance(e, FloorDiv) else add(rest, -q * int(d))
    return e


def _range(e: Expr) -> tuple[int | None, int | None]:
    """The least and the greatest value of an integer expression, where they are evident."""
    match e:
        case Num(value) if value.denominator == 1:
            return int(value), int(value)
        case Index() if isinstance(e.extent, Num):
            return 0, int(e.extent.value) - 1
        case Load(leaf, _) if leaf.bounds is not None:
            least, most = leaf.bounds
            return least if isinstance(least, int) else None, most if isinstance(most, int) else None
        case Add(terms):
            ranges = list(map(_range, terms))
            lows, highs = ([r[side] for r in ranges] for side in (0, 1))
            return _total(lows), _total(highs)
        case Mul((Num(c), rest)) if c.denominator == 1:
            low, high = (None if end is None else int(c) * end for end in _range(rest))
            return (low, high) if c >= 0 else (high, low)
    return None, None


def _total(ends: Sequence[int | None]) -> int | None:
    known = [end for end in ends if end is not None]
    return sum(known) if len(known) == len(ends) else None
