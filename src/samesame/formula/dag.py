"""Formulas as data: expressions to a list of nodes that the `json` module can write, and back.

A formula shares its parts, and spelled out as text it may be exponentially long. So it is written as a list in which
each part stands once, before whatever is built on it, and parts are named by their place:

    Σ_{l<k} a[i, l]     leaves: ["a", [1, 0], "real", null]
                        nodes:  0 ["size", "k", 2]   1 ["num", "3"]   2 ["index", 0, 1]   3 ["index", 1, 0]
                                4 ["load", 0, [2, 3]]   5 ["fold", "sum", [3], 4]

Index variables are numbered as they appear, so that the same formula is always written the same way, in whatever
process it was made. What is read back has new variables of its own: it is the same formula up to their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from samesame.formula.expr import (
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fn,
    Fold,
    Index,
    Lambda,
    Leaf,
    Load,
    Mod,
    Mul,
    Named,
    NegInf,
    Not,
    Num,
    Opaque,
    Or,
    Pow,
    Size,
    Truth,
    Unsupported,
    Where,
    const,
    index,
)
from samesame.formula.tensor import Dim, Tensor

Form = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """An attribute of an opaque operator that is no number, text or tuple, as it is written: its type and its repr."""

    kind: str
    text: str


def encoded(exprs: Sequence[Expr]) -> Form:
    """The expressions as `leaves`, `nodes` and `roots` (the place of each expression)."""
    writer = _Writer()
    roots = [writer.place(e) for e in exprs]
    return {"leaves": writer.leaves, "nodes": writer.nodes, "roots": roots}


def claim(left: Tensor, right: Tensor) -> Form:
    """The claim that two tensors of one shape are equal, element by element.

    Beside `leaves` and `nodes` it has `indices` (the places of the output's index variables), `left` and `right`.
    Raises Unsupported where the ranks differ or a formula cannot be written.
    """
    if left.rank != right.rank:
        raise Unsupported(f"the ranks differ: {left.rank} and {right.rank}")
    indices = tuple(index(size) for size in left.shape)
    form = encoded((*indices, left[indices], right[indices]))
    *places, a, b = form.pop("roots")
    return {**form, "indices": places, "left": a, "right": b}


def decoded(
    form: Mapping[str, Any], *, put: Callable[[Expr], Expr] = const, variable: Callable[[int, Dim], Index] | None = None
) -> tuple[Expr, ...]:
    """The expressions that `encoded` wrote, over new index variables, or those that `variable` makes of their numbers
    and extents; `put` exchanges parts, those of extents and shapes, too. Raises ValueError if it did not write them."""
    try:
        return _Reader(form, put, variable or (lambda _, extent: index(extent))).roots()
    except (LookupError, TypeError, AttributeError, ZeroDivisionError) as fault:
        raise ValueError(f"this is no formula: {fault}") from fault


class _Writer:
    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self.leaves: list[list[Any]] = []
        self.places: dict[Expr, int] = {}
        self.leaf_places: dict[Leaf, int] = {}
        self.variables = 0

    def place(self, root: Expr) -> int:
        """Where the expression stands, once it and everything it needs has been written. Iterative: they are deep."""
        stack = [(root, False)]
        while stack:
            e, ready = stack.pop()
            if e in self.places:
                continue
            if ready:
                self.nodes.append(self.row(e))
                self.places[e] = len(self.nodes) - 1
            else:
                stack.append((e, True))
                stack.extend((part, False) for part in reversed(list(_parts(e))))
        return self.places[root]

    def row(self, e: Expr) -> list[Any]:
        at = self.places.__getitem__
        match e:
            case Num(value):
                return ["num", str(value)]
            case Named(name):
                return ["named", name]
            case NegInf():
                return ["-inf"]
            case Truth(value):
                return ["truth", value]
            case Size(name, minimum):
                return ["size", name, minimum]
            case Index(_, extent):
                self.variables += 1
                return ["index", self.variables - 1, at(extent)]
            case Load(leaf, indices):
                return ["load", self.leaf(leaf), list(map(at, indices))]
            case Pow(base, exponent):
                return ["pow", at(base), str(exponent)]
            case Fn(name, argument):
                return ["fn", name, at(argument)]
            case Compare(op, a, b):
                return ["compare", op, at(a), at(b)]
            case Extremum(op, parts):
                return ["extremum", op, list(map(at, parts))]
            case Fold(monoid, bound, body):
                return ["fold", monoid, list(map(at, bound)), at(body)]
            case Lambda(bound, body):
                return ["lambda", list(map(at, bound)), at(body)]
            case Opaque(name, attributes, arguments, indices, kind):
                told = _told(attributes, at)
                return ["opaque", name, told, list(map(at, arguments)), list(map(at, indices)), kind]
        for tag, (plain, many) in PLAIN.items():
            if type(e) is plain:
                return [tag, list(map(at, e.children))] if many else [tag, *map(at, e.children)]
        raise Unsupported(f"{type(e).__name__} is no part of the grammar")

    def leaf(self, leaf: Leaf) -> int:
        if leaf not in self.leaf_places:
            bounds = None if leaf.bounds is None else [self.places[const(end)] for end in leaf.bounds]
            shape = [self.places[const(size)] for size in leaf.shape]
            self.leaves.append([leaf.name, shape, leaf.kind, bounds])
            self.leaf_places[leaf] = len(self.leaves) - 1
        return self.leaf_places[leaf]


# Nodes that hold nothing but other nodes: by tag, the class, and whether it takes any number of them as a tuple.
PLAIN: dict[str, tuple[Callable[..., Expr], bool]] = {
    "add": (Add, True),
    "mul": (Mul, True),
    "and": (And, True),
    "or": (Or, True),
    "not": (Not, False),
    "where": (Where, False),
    "floordiv": (FloorDiv, False),
    "mod": (Mod, False),
}


def _parts(e: Expr) -> Iterator[Expr]:
    """Everything an expression mentions, extents and the shapes of leaves included."""
    match e:
        case Index(_, extent):
            yield extent
        case Load(leaf, _):
            yield from map(const, (*leaf.shape, *(leaf.bounds or ())))
        case Fold(_, bound, _) | Lambda(bound, _):
            yield from bound
        case Opaque(_, attributes, _, _, _):
            yield from _sizes(attributes)
    yield from e.children


def _sizes(attributes: Any) -> Iterator[Expr]:
    if isinstance(attributes, Expr):
        yield attributes
    elif isinstance(attributes, tuple):
        for part in attributes:
            yield from _sizes(part)


def _told(attributes: Any, at: Callable[[Expr], int]) -> Any:
    """Attributes as lists that begin with their type, so that 1, 1.0, True and "1" differ."""
    match attributes:
        case tuple():
            return ["tuple", *(_told(part, at) for part in attributes)]
        case Expr():
            return ["expr", at(attributes)]
        case Told(kind, text):
            return ["told", kind, text]
        case None | bool() | int() | str():
            return [type(attributes).__name__, attributes]
        case float():
            return ["float", repr(attributes)]
        case Fraction():
            return ["Fraction", str(attributes)]
    return ["told", type(attributes).__name__, repr(attributes)]


class _Reader:
    def __init__(
        self, form: Mapping[str, Any], put: Callable[[Expr], Expr], variable: Callable[[int, Dim], Index]
    ) -> None:
        self.form, self.put, self.variable = form, put, variable
        self.read: list[Expr] = []
        self.leaves: dict[int, Leaf] = {}

    def roots(self) -> tuple[Expr, ...]:
        for row in self.form["nodes"]:
            self.read.append(self.put(self.node(row)))
        return tuple(map(self.at, self.form["roots"]))

    def at(self, place: int) -> Expr:
        if type(place) is not int or not 0 <= place < len(self.read):
            raise ValueError(f"this is no formula: it refers to {place!r}, which does not come before")
        return self.read[place]

    def all(self, places: Iterable[int]) -> tuple[Expr, ...]:
        return tuple(map(self.at, places))

    def variables(self, places: Iterable[int]) -> tuple[Index, ...]:
        return cast("tuple[Index, ...]", self.all(places))

    def node(self, row: Sequence[Any]) -> Expr:
        match row:
            case ["num", value]:
                return Num(Fraction(value))
            case ["named", str() as name]:
                return Named(name)
            case ["-inf"]:
                return NegInf()
            case ["truth", bool() as value]:
                return Truth(value)
            case ["size", str() as name, int() as minimum]:
                return Size(name, minimum)
            case ["index", int() as number, extent]:
                return self.variable(number, self.at(extent))
            case ["load", int() as leaf, indices]:
                return Load(self.leaf(leaf), self.all(indices))
            case ["pow", base, exponent]:
                return Pow(self.at(base), Fraction(exponent))
            case ["fn", str() as name, argument]:
                return Fn(name, self.at(argument))
            case ["compare", ("<" | "≤" | "=") as op, a, b]:
                return Compare(op, self.at(a), self.at(b))
            case ["extremum", ("max" | "min") as op, parts]:
                return Extremum(op, self.all(parts))
            case ["fold", str() as monoid, bound, body]:
                return Fold(monoid, self.variables(bound), self.at(body))
            case ["lambda", bound, body]:
                return Lambda(self.variables(bound), self.at(body))
            case ["opaque", str() as name, told, arguments, indices, str() as kind]:
                whole = cast("tuple[Lambda, ...]", self.all(arguments))
                return Opaque(name, self.attributes(told), whole, self.all(indices), kind)
            case [str() as tag, *parts] if tag in PLAIN:
                kind_of, many = PLAIN[tag]
                return kind_of(self.all(parts[0])) if many else kind_of(*self.all(parts))
        raise ValueError(f"this is no formula: it holds {row!r}")

    def leaf(self, place: int) -> Leaf:
        if place not in self.leaves:
            name, shape, kind, bounds = self.form["leaves"][place]
            ends = None if bounds is None else tuple(map(self.size, bounds))
            self.leaves[place] = Leaf(name, tuple(map(self.size, shape)), kind, cast("tuple[Dim, Dim] | None", ends))
        return self.leaves[place]

    def size(self, place: int) -> Dim:
        found = self.at(place)
        return int(found.value) if isinstance(found, Num) else found

    def attributes(self, told: Sequence[Any]) -> Any:
        match told:
            case ["tuple", *parts]:
                return tuple(map(self.attributes, parts))
            case ["expr", place]:
                return self.at(place)
            case ["told", kind, text]:
                return Told(kind, text)
            case ["float", text]:
                return float(text)
            case ["Fraction", text]:
                return Fraction(text)
            case ["NoneType" | "bool" | "int" | "str", value]:
                return value
        raise ValueError(f"this is no formula: it holds the attribute {told!r}")
