"""What proofs take for granted, as data: kept with a proof, told again of each instance, printed once at the end.

    Holds       x[i] ≥ 0 where m[i]             a formula that holds, for all values of its indices, where another does
    Within      0 ≤ ids ≤ 52                    the elements of an integer tensor lie in a range
    Said        −3.4e+38 read as −∞             a reading, or anything else that is no formula; `kind` says of what sort

A formula is over the tensors that a proof is about. `changed` puts others in their place, or the sizes of an instance;
equal assumptions are equal objects, whatever their indices were called. So `simplified` leaves out what others imply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from samesame.formula import dag, sizes
from samesame.formula.effort import Assumed
from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    TRUE,
    ZERO,
    And,
    Compare,
    Expr,
    Fn,
    Index,
    Lambda,
    Leaf,
    Load,
    Not,
    Num,
    Or,
    Size,
    Unsupported,
    and_,
    compare,
    const,
    index,
    le,
    maximum,
    or_,
    rebuild,
    substitute,
    walk,
)
from samesame.formula.poly import Poly
from samesame.formula.read_back import Reader, leaves_in, relevant
from samesame.formula.region import listed
from samesame.formula.scalars import DOMAIN, SCALARS
from samesame.formula.show import ADD, Plain, Printer
from samesame.formula.sizes import canonical, size_text
from samesame.formula.tensor import Dim

SOME = "over at least one element"            # a maximum
NEITHER = f"{SOME}, or neither side is a number"   # NaN
BOTH_BELOW = f"{SOME}, or both sides are −∞"
BOTH_ABOVE = f"{SOME}, or both sides are +∞"
OF_MAXIMA = frozenset([SOME, NEITHER, BOTH_BELOW, BOTH_ABOVE])
COUNT = "a count ≠ 0"                         # which ordinary values break: a mask may leave nothing
NO_EMPTY_COUNT = "no count that both programs divide by is 0"
BELOW = "< "                                  # a number of rows: an index lies in a table
LONGEST = 400                                 # letters that are shown of one

Tensors = Callable[[Load], Expr]              # what stands in the place of a tensor's element
Call = str | Lambda                           # how a tensor is printed: a name, or what its elements are


class Assumption:
    """Base of all assumptions."""

    __slots__ = ()

    @property
    def names(self) -> frozenset[str]:
        """The tensors that it speaks of."""
        raise NotImplementedError

    def changed(self, tensors: Tensors | None = None, at: Mapping[str, Dim] | None = None) -> Assumption:
        """With elements of other tensors in place of its own, and with what sizes are."""
        raise NotImplementedError

    def form(self) -> dict[str, Any]:
        """As data for JSON, which `decoded` reads."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Holds(Assumption):
    """`that` holds wherever `where` does, for all values of the indices that are free in them. `kind` is COUNT, or one
    of OF_MAXIMA for the maximum `of`, or nothing. `calls` say how tensors are printed, by name."""

    that: Expr
    where: Expr = TRUE
    kind: str = ""
    of: Expr = TRUE
    calls: tuple[tuple[str, Call], ...] = ()

    def __str__(self) -> str:
        if self.kind == COUNT:
            return NO_EMPTY_COUNT
        called = self.changed(partial(_called, dict(self.calls))) if self.calls else self
        of_maximum = self.kind in OF_MAXIMA
        shown = called.of if of_maximum else called.that
        printer = Printer(Plain(), And((shown, called.where)))
        text = f"{printer.show(shown).text} is {self.kind}" if of_maximum else _relation(printer, shown)
        text += "" if called.where is TRUE else f" where {_relation(printer, called.where)}"
        return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()}…"

    @property
    def names(self) -> frozenset[str]:
        parts = (e for whole in (self.that, self.where, self.of) for e in walk(whole))
        return frozenset(e.leaf.name for e in parts if isinstance(e, Load))

    def changed(self, tensors: Tensors | None = None, at: Mapping[str, Dim] | None = None) -> Holds:
        known = at or {}

        def put(e: Expr) -> Expr:
            if isinstance(e, Size):
                return const(known.get(e.name, e))
            return tensors(e) if tensors is not None and isinstance(e, Load) else rebuild(e, const)

        form = dag.encoded((self.that, self.where, self.of))
        return holds(*dag.decoded(form, put=put, variable=lambda _, extent: index(_tidied(extent))), kind=self.kind)

    def form(self) -> dict[str, Any]:
        return {"holds": dag.encoded((self.that, self.where, self.of)), "kind": self.kind}


WIDEST = 2**63 - 1                                         # no integer of any dtype is larger


@dataclass(frozen=True, slots=True)
class Within(Assumption):
    """The elements of an integer tensor lie in a range; `of_labels`: they are classes, and those that a loss ignores
    are not covered. `called` says how the tensor is printed."""

    name: str
    low: Dim
    high: Dim
    of_labels: bool = False
    called: str = ""

    def __str__(self) -> str:
        below = "" if self.high == WIDEST else f" ≤ {size_text(self.high)}"
        text = f"{size_text(self.low)} ≤ {self.called or self.name}{below}"
        return f"labels are classes, {text}; those that a loss ignores are not covered" if self.of_labels else text

    @property
    def names(self) -> frozenset[str]:
        return frozenset([self.name])

    def changed(self, tensors: Tensors | None = None, at: Mapping[str, Dim] | None = None) -> Within:
        low, high = (sizes.replaced(end, dict(at or {})) for end in (self.low, self.high))
        return Within(_renamed(self.name, tensors), low, high, self.of_labels)

    def form(self) -> dict[str, Any]:
        ends = [sizes.encoded(self.low), sizes.encoded(self.high)]
        return {"within": self.name, "ends": ends, "of_labels": self.of_labels}


@dataclass(frozen=True, slots=True)
class Said(Assumption):
    """What is no formula. `kind` says of what sort it is, for those who ask; `about` are the tensors, or whatever else
    the words speak of, in the places that they leave."""

    kind: str
    words: str
    about: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.words.format(*self.about) if self.about else self.words

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.about)

    def changed(self, tensors: Tensors | None = None, at: Mapping[str, Dim] | None = None) -> Said:
        return replace(self, about=tuple(_renamed(name, tensors) for name in self.about))

    def form(self) -> dict[str, Any]:
        return {"said": self.kind, "words": self.words, "about": list(self.about)}


def holds(that: Expr, where: Expr = TRUE, of: Expr = TRUE, *, kind: str = "") -> Holds:
    """A formula that holds where another does. Its indices are numbered as they appear, so that whoever says the same
    has the same object."""
    form = dag.encoded((that, where, of))
    that, where, of = dag.decoded(form, variable=lambda k, extent: Index(-1 - k, const(extent)))
    return Holds(that, where, kind, of)


def decoded(form: Any) -> Assumption:
    """What `form` wrote. Raises ValueError where it did not write it, a sentence of an earlier version included."""
    match form:
        case {"holds": dict() as whole, "kind": str() as kind}:
            that, where, of = dag.decoded(whole)
            return holds(that, where, of, kind=kind)
        case {"within": str() as name, "ends": [low, high], "of_labels": bool() as of_labels}:
            return Within(name, sizes.decoded(low), sizes.decoded(high), of_labels)
        case {"said": str() as kind, "words": str() as words, "about": list() as about}:
            return Said(kind, words, tuple(map(str, about)))
    raise ValueError(f"this is no assumption: {str(form)[:100]}")


def _renamed(name: str, tensors: Tensors | None) -> str:
    """The name of what stands in the place of a tensor; its own where that is no tensor."""
    put = None if tensors is None else tensors(Load(Leaf(name, ()), ()))
    return put.leaf.name if isinstance(put, Load) else name


def _called(calls: Mapping[str, Call], element: Load) -> Expr:
    """An element as it is printed."""
    call = calls.get(element.leaf.name, element.leaf.name)
    if isinstance(call, str):
        return Load(replace(element.leaf, name=call), element.indices)
    return substitute(call.body, dict(zip(call.bound, element.indices, strict=True)))


def _tidied(extent: Dim) -> Dim:
    with suppress(Unsupported):                            # of what is no polynomial there is one spelling
        return canonical(extent)
    return extent


# -------------------------------------------------------------------------------------------------- of what proofs note


def read_back(noted: Iterable[Assumed]) -> tuple[Assumption, ...]:
    """What a proof noted, as it stays; asked while the proof is under way."""
    return simplified(map(_read_back, dict.fromkeys(noted)))


def _read_back(one: Assumed) -> Assumption:
    reader = Reader()
    try:
        if one.relation == SOME:
            that = or_(*reader.pieces(one.subject, "any", FALSE))
            of = maximum(*reader.pieces(one.subject, "max", NEG_INF))
        else:
            subject = reader.poly(one.subject) if isinstance(one.subject, Poly) else reader.form(one.subject)
            that, of = _stated(one.relation, subject), TRUE
        guards = [reader.literal(g) for g in relevant(one.guards, one.subject)]
        kind = one.relation if one.relation in (SOME, COUNT) else ""
        return holds(that, and_(*guards, *reader.limits), of, kind=kind)
    except Unsupported:
        names = tuple(sorted(leaves_in(one.subject, *one.guards)))
        return Said("unread", f"a long formula of {listed(['{}'] * len(names))} is {one.relation}", names)


def _stated(relation: str, x: Expr) -> Expr:
    if relation.startswith(DOMAIN):
        domain = SCALARS[relation.removeprefix(DOMAIN)].domain
        assert domain is not None
        return domain(x)
    if relation.startswith(BELOW):
        return and_(le(0, x), le(x, int(relation.removeprefix(BELOW)) - 1))
    return compare({"> 0": ">", "≥ 0": "≥"}.get(relation, "≠"), x, 0)


def simplified(assumptions: Iterable[Assumption]) -> tuple[Assumption, ...]:
    """Each once, without those that hold anyway, or where another does."""
    found = [one for one in dict.fromkeys(assumptions) if not _is_empty(one)]
    return tuple(one for one in found if not any(_implies(other, one) for other in found if other is not one))


def never_holds(one: Assumption) -> bool:
    """Is it evidently false?"""
    return isinstance(one, Holds) and one.that is FALSE and one.where is TRUE


def _is_empty(one: Assumption) -> bool:
    if not isinstance(one, Holds):
        return False
    parts = one.where.arguments if isinstance(one.where, And) else (one.where,)
    return one.that is TRUE or one.where is FALSE or any(_says(part, one.that) for part in parts)


def _implies(one: Assumption, other: Assumption) -> bool:
    """x > 0 says that x ≥ 0 and that x ≠ 0; and what holds everywhere, holds somewhere."""
    if not isinstance(one, Holds) or not isinstance(other, Holds) or one.where not in (TRUE, other.where):
        return False
    if one.kind in OF_MAXIMA - {SOME} and other.kind != one.kind:
        return False
    return _says(one.that, other.that) and (one.that is not other.that or one.where is not other.where)


def _says(one: Expr, other: Expr) -> bool:
    match one:
        case Compare("<", Num() as zero, x) if zero is ZERO:
            return other in (one, compare("≥", x, 0), compare("≠", x, 0))
    return one is other


def _relation(printer: Printer, that: Expr) -> str:
    """A comparison with what is looked at in front, and a range as one."""
    def shown(e: Expr) -> str:
        return printer.at(ADD, e)

    match that:
        case And((Compare(above, Num() as low, x), Compare(below, y, Num() as high))) if x is y:
            return f"{shown(low)} {above} {shown(x)} {below} {shown(high)}"
        case Or((Compare("<", Num(), x), Not(Compare("=", Fn("floor", y), z)))) if x is y and y is z:
            return f"{shown(x)} is none of 0, −1, −2, …"
        case Compare("<" | "≤" as op, Num() as low, x):
            return f"{shown(x)} {'>' if op == '<' else '≥'} {shown(low)}"
    return printer.show(that).text
