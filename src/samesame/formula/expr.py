"""The grammar of formulas: every kind of scalar expression, on one screen.

A formula says what one element of a tensor is, in index notation: `out[i, j] = Σ_{l<k} a[i, l]·b[l, j]`. Expressions
are immutable and hash-consed, so equal expressions are the same object and `is` compares them. The lower-case
constructors below the grammar fold numbers and flatten; further algebra is the normal form's, in `normal.py`.

Booleans, integers and reals share one grammar, told apart by `kind`. A boolean used as a number is `Where(b, 1, 0)`.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any, ClassVar, TypeVar, cast, dataclass_transform

Kind = TypeVar("Kind")
Scalar = int | Fraction
Number = Scalar | bool


class Unsupported(Exception):
    """A formula that cannot be written or decided here; the caller falls back to weaker evidence."""


class Interned(type):
    """Makes `Class(*fields)` return the one object that has these fields."""

    _table: ClassVar[weakref.WeakValueDictionary[tuple[Any, ...], Any]] = weakref.WeakValueDictionary()
    _making: ClassVar = threading.RLock()                  # else two threads could each make it

    def __call__(cls, *args: Any) -> Any:
        key = (cls, *args) if cls.__name__ != "Opaque" else (cls, *args, repr(args[1]))    # 1, 1.0 and True differ
        found = Interned._table.get(key)
        if found is None:
            with Interned._making:
                found = Interned._table.setdefault(key, super().__call__(*args))
        return found


@dataclass_transform(frozen_default=True, eq_default=False)
def node(cls: type[Kind]) -> type[Kind]:
    return dataclass(frozen=True, eq=False, repr=False)(cls)


# ---------------------------------------------------------------------------------------------------------- the grammar


@node
class Expr(metaclass=Interned):
    """Base of all expressions."""

    __match_args__: ClassVar[tuple[str, ...]]              # the names of the fields, in order

    @property
    def kind(self) -> str:
        """"real", "int" or "bool"."""
        return cast(str, self.__dict__["_kind"])

    @property
    def free(self) -> frozenset[Index]:
        """The index variables that occur and are not bound inside."""
        return cast("frozenset[Index]", self.__dict__["_free"])

    def __post_init__(self) -> None:
        self.__dict__["_children"] = self._find_children()
        self.__dict__["_free"] = self._find_free()
        self.__dict__["_kind"] = self._find_kind()

    def _find_free(self) -> frozenset[Index]:
        return frozenset().union(*(child.free for child in self.children))

    def _find_kind(self) -> str:
        return "real"

    @property
    def children(self) -> tuple[Expr, ...]:
        """Direct sub-expressions in field order, bodies under binders included."""
        return cast("tuple[Expr, ...]", self.__dict__["_children"])

    def _find_children(self) -> tuple[Expr, ...]:
        found = [getattr(self, name) for name in self.__match_args__]
        parts = (value if isinstance(value, tuple) else (value,) for value in found)
        return tuple(part for several in parts for part in several if isinstance(part, Expr))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(repr(getattr(self, name)) for name in self.__match_args__)})"

    # Arithmetic reads as mathematics; plain numbers are exact constants.
    def __add__(self, other: Expr | Scalar) -> Expr:
        return add(self, other)

    def __radd__(self, other: Expr | Scalar) -> Expr:
        return add(other, self)

    def __sub__(self, other: Expr | Scalar) -> Expr:
        return add(self, mul(-1, other))

    def __rsub__(self, other: Expr | Scalar) -> Expr:
        return add(other, mul(-1, self))

    def __neg__(self) -> Expr:
        return mul(-1, self)

    def __mul__(self, other: Expr | Scalar) -> Expr:
        return mul(self, other)

    def __rmul__(self, other: Expr | Scalar) -> Expr:
        return mul(other, self)

    def __truediv__(self, other: Expr | Scalar) -> Expr:
        return mul(self, power(other, -1))

    def __rtruediv__(self, other: Expr | Scalar) -> Expr:
        return mul(other, power(self, -1))

    def __pow__(self, exponent: Scalar) -> Expr:
        return power(self, exponent)

    def __floordiv__(self, other: Expr | Scalar) -> Expr:
        return floordiv(self, other)

    def __mod__(self, other: Expr | Scalar) -> Expr:
        return mod(self, other)


@node
class Num(Expr):
    """An exact rational."""

    value: Fraction

    def _find_kind(self) -> str:
        return "int" if self.value.denominator == 1 else "real"


@node
class Named(Expr):
    """A known positive real constant: "π"."""

    name: str


@node
class NegInf(Expr):
    """−∞, as masks write it: exp(−∞) = 0, and it is the identity of max. There is no +∞."""


@node
class Truth(Expr):
    """A boolean constant."""

    value: bool

    def _find_kind(self) -> str:
        return "bool"


@node
class Size(Expr):
    """A symbolic size, at least `minimum`."""

    name: str
    minimum: int

    def _find_kind(self) -> str:
        return "int"


@node
class Index(Expr):
    """An index variable: 0 ≤ index < extent. `serial` makes each binder's variable its own."""

    serial: int
    extent: Expr

    def _find_free(self) -> frozenset[Index]:
        return frozenset([self])

    def _find_kind(self) -> str:
        return "int"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor that formulas do not look into: a block's input. Shape entries are ints or size expressions.

    `bounds` (low, high), inclusive, are known for some integer tensors, such as token ids; None where nothing is
    known.
    """

    name: str
    shape: tuple[int | Expr, ...]
    kind: str = "real"
    bounds: tuple[int | Expr, int | Expr] | None = None


@node
class Load(Expr):
    """An element of a leaf; indices are integer expressions, assumed in range."""

    leaf: Leaf
    indices: tuple[Expr, ...]

    def _find_kind(self) -> str:
        return self.leaf.kind


@node
class Add(Expr):
    """A sum of two or more terms."""

    terms: tuple[Expr, ...]

    def _find_kind(self) -> str:
        return _numeric(self.terms)


@node
class Mul(Expr):
    """A product of two or more factors."""

    factors: tuple[Expr, ...]

    def _find_kind(self) -> str:
        return _numeric(self.factors)


@node
class Pow(Expr):
    """base^exponent. Undefined at base 0 for negative exponents, and at negative bases for fractional ones."""

    base: Expr
    exponent: Fraction

    def _find_kind(self) -> str:
        return "int" if self.base.kind == "int" and self.exponent.denominator == 1 and self.exponent > 0 else "real"


@node
class Fn(Expr):
    """A real function of one argument, known by name: exp log sin cos tan tanh sigmoid erf abs sign floor ceil round
    …
    """

    name: str
    argument: Expr


@node
class FloorDiv(Expr):
    """Integer division rounding down; the divisor is positive."""

    numerator: Expr
    divisor: Expr

    def _find_kind(self) -> str:
        return "int"


@node
class Mod(Expr):
    """numerator − divisor·⌊numerator / divisor⌋; the divisor is positive."""

    numerator: Expr
    divisor: Expr

    def _find_kind(self) -> str:
        return "int"


@node
class Compare(Expr):
    """left op right, op one of `<`, `≤`, `=`; the other comparisons are swaps and negations of these."""

    op: str
    left: Expr
    right: Expr

    def _find_kind(self) -> str:
        return "bool"


@node
class Not(Expr):
    argument: Expr

    def _find_kind(self) -> str:
        return "bool"


@node
class And(Expr):
    arguments: tuple[Expr, ...]

    def _find_kind(self) -> str:
        return "bool"


@node
class Or(Expr):
    arguments: tuple[Expr, ...]

    def _find_kind(self) -> str:
        return "bool"


@node
class Where(Expr):
    """`then` where the condition holds, else `otherwise`; the branch not chosen may be undefined."""

    condition: Expr
    then: Expr
    otherwise: Expr

    def _find_kind(self) -> str:
        return _join(self.then.kind, self.otherwise.kind)


@node
class Extremum(Expr):
    """The `max` or `min` of several expressions."""

    op: str
    arguments: tuple[Expr, ...]

    def _find_kind(self) -> str:
        return _numeric(self.arguments)


@node
class Fold(Expr):
    """A fold of the body over the whole range of each bound index; monoid one of sum, prod, max, min, any, all.

    An empty sum is 0 and an empty product 1; an empty max or min is undefined.
    """

    monoid: str
    bound: tuple[Index, ...]
    body: Expr

    def _find_free(self) -> frozenset[Index]:
        extents = frozenset[Index]().union(*(index.extent.free for index in self.bound))
        return (self.body.free | extents) - frozenset(self.bound)

    def _find_kind(self) -> str:
        return "bool" if self.monoid in ("any", "all") else self.body.kind

    def _find_children(self) -> tuple[Expr, ...]:
        return (self.body,)


@node
class Lambda(Expr):
    """A whole tensor as an argument of an opaque operator: the body for every value of the bound indices."""

    bound: tuple[Index, ...]
    body: Expr

    def _find_free(self) -> frozenset[Index]:
        extents = frozenset[Index]().union(*(index.extent.free for index in self.bound))
        return (self.body.free | extents) - frozenset(self.bound)

    def _find_kind(self) -> str:
        return self.body.kind

    def _find_children(self) -> tuple[Expr, ...]:
        return (self.body,)


@node
class Opaque(Expr):
    """An element of what an operator without a meaning returns: equal arguments and attributes give equal results.

    `attributes` is any hashable value; `result_kind` is the element's kind.
    """

    name: str
    attributes: Any
    arguments: tuple[Lambda, ...]
    indices: tuple[Expr, ...]
    result_kind: str

    def _find_kind(self) -> str:
        return self.result_kind


# --------------------------------------------------------------------------------------------------------- constructors


def _join(a: str, b: str) -> str:
    return a if a == b else "real" if "real" in (a, b) else "int"


def _numeric(parts: Iterable[Expr]) -> str:
    return "real" if any(part.kind == "real" for part in parts) else "int"


def const(value: Expr | Number) -> Expr:
    """A number or truth value as an expression; expressions pass through. Raises Unsupported for a complex number."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, complex):
        raise Unsupported("a complex number that is not said by its parts")
    if isinstance(value, bool):
        return cast(Expr, Truth(value))
    return cast(Expr, Num(Fraction(value)))


def numeric(value: Expr | Number) -> Expr:
    """A boolean read as 1 or 0; anything else unchanged."""
    expr = const(value)
    return where(expr, 1, 0) if expr.kind == "bool" else expr


def truth(value: Expr | Number) -> Expr:
    """A number read as a boolean (nonzero is true); booleans unchanged."""
    expr = const(value)
    return expr if expr.kind == "bool" else not_(eq(expr, 0))


ZERO, ONE = Num(Fraction(0)), Num(Fraction(1))
TRUE, FALSE = Truth(True), Truth(False)
NEG_INF, PI = NegInf(), Named("π")


def add(*parts: Expr | Number) -> Expr:
    total, rest = Fraction(0), list[Expr]()
    for part in map(numeric, parts):
        for term in part.terms if isinstance(part, Add) else (part,):
            if isinstance(term, Num):
                total += term.value
            else:
                rest.append(term)
    if total or not rest:
        rest.append(Num(total))
    return rest[0] if len(rest) == 1 else Add(tuple(rest))


def mul(*parts: Expr | Number) -> Expr:
    """A product. `0·e` stays written out unless e is a number: e may be undefined or infinite."""
    total, rest = Fraction(1), list[Expr]()
    for part in map(numeric, parts):
        for factor in part.factors if isinstance(part, Mul) else (part,):
            if isinstance(factor, Num):
                total *= factor.value
            else:
                rest.append(factor)
    if total != 1 or not rest:
        rest.insert(0, Num(total))
    return rest[0] if len(rest) == 1 else Mul(tuple(rest))


def power(base: Expr | Number, exponent: Scalar) -> Expr:
    expr, q = numeric(base), Fraction(exponent)
    if q == 1:
        return expr
    if isinstance(expr, Num) and q.denominator == 1 and (expr.value or q > 0):
        return Num(expr.value ** int(q))
    return Pow(expr, q)


def floordiv(a: Expr | Scalar, b: Expr | Scalar) -> Expr:
    x, y = const(a), const(b)
    if y is ONE:
        return x
    if isinstance(x, Num) and isinstance(y, Num) and y.value > 0:
        return Num(Fraction(x.value // y.value))
    return FloorDiv(x, y)


def mod(a: Expr | Scalar, b: Expr | Scalar) -> Expr:
    x, y = const(a), const(b)
    if y is ONE:
        return ZERO
    if isinstance(x, Num) and isinstance(y, Num) and y.value > 0:
        return Num(x.value % y.value)
    return Mod(x, y)


def compare(op: str, a: Expr | Number, b: Expr | Number) -> Expr:
    """`op` is one of < ≤ = ≠ > ≥."""
    if op in (">", "≥"):
        return compare("<" if op == ">" else "≤", b, a)
    if op == "≠":
        return not_(compare("=", a, b))
    x, y = numeric(a), numeric(b)
    if isinstance(x, Num) and isinstance(y, Num):
        return const({"<": x.value < y.value, "≤": x.value <= y.value, "=": x.value == y.value}[op])
    return Compare(op, x, y)


def lt(a: Expr | Number, b: Expr | Number) -> Expr:
    return compare("<", a, b)


def le(a: Expr | Number, b: Expr | Number) -> Expr:
    return compare("≤", a, b)


def eq(a: Expr | Number, b: Expr | Number) -> Expr:
    return compare("=", a, b)


def not_(a: Expr | bool) -> Expr:
    x = const(a)
    if isinstance(x, Truth):
        return const(not x.value)
    return x.argument if isinstance(x, Not) else Not(x)


def and_(*parts: Expr | bool) -> Expr:
    kept = [x for x in map(const, parts) if x is not TRUE]
    if any(x is FALSE for x in kept):
        return FALSE
    return TRUE if not kept else kept[0] if len(kept) == 1 else And(tuple(kept))


def or_(*parts: Expr | bool) -> Expr:
    kept = [x for x in map(const, parts) if x is not FALSE]
    if any(x is TRUE for x in kept):
        return TRUE
    return FALSE if not kept else kept[0] if len(kept) == 1 else Or(tuple(kept))


def where(condition: Expr | bool, then: Expr | Number, otherwise: Expr | Number) -> Expr:
    c, x, y = const(condition), const(then), const(otherwise)
    if isinstance(c, Truth):
        return x if c.value else y
    if "bool" in (x.kind, y.kind) and x.kind != y.kind:
        x, y = numeric(x), numeric(y)
    match c:
        case Compare("=", a, b) | Not(Compare("=", a, b)) if {a, b} == {x, y} and x.kind == y.kind:
            return x if isinstance(c, Not) else y         # either may stand for the other where they are equal
    return x if x is y else Where(c, x, y)


def maximum(*parts: Expr | Number) -> Expr:
    xs = tuple(map(numeric, parts))
    return xs[0] if len(xs) == 1 else Extremum("max", xs)


def minimum(*parts: Expr | Number) -> Expr:
    xs = tuple(map(numeric, parts))
    return xs[0] if len(xs) == 1 else Extremum("min", xs)


def fn(name: str) -> Callable[[Expr | Number], Expr]:
    return lambda x: Fn(name, numeric(x))


exp, log, sin, cos, tan = map(fn, ("exp", "log", "sin", "cos", "tan"))
tanh, sigmoid, erf, absolute, sign = map(fn, ("tanh", "sigmoid", "erf", "abs", "sign"))


def sqrt(x: Expr | Number) -> Expr:
    return power(x, Fraction(1, 2))


_serials = count()


def index(extent: Expr | int) -> Index:
    """A new index variable that ranges over 0 ≤ index < extent."""
    return Index(next(_serials), const(extent))


def fold(monoid: str, extents: Expr | int | tuple[Expr | int, ...], body: Callable[..., Expr | Number]) -> Expr:
    """`body` folded over new indices, one for each extent."""
    sizes = extents if isinstance(extents, tuple) else (extents,)
    bound = tuple(index(size) for size in sizes)
    inside = body(*bound)
    expr = truth(inside) if monoid in ("any", "all") else numeric(inside)
    return Fold(monoid, bound, expr) if bound else expr


def Sum(extents: Expr | int | tuple[Expr | int, ...], body: Callable[..., Expr | Number]) -> Expr:
    """Σ over new indices: `Sum(k, lambda l: a[i, l] * b[l, j])`."""
    return fold("sum", extents, body)


def Max(extents: Expr | int | tuple[Expr | int, ...], body: Callable[..., Expr | Number]) -> Expr:
    """max over new indices."""
    return fold("max", extents, body)


def Min(extents: Expr | int | tuple[Expr | int, ...], body: Callable[..., Expr | Number]) -> Expr:
    """min over new indices."""
    return fold("min", extents, body)


def substitute(expr: Expr, values: Mapping[Index, Expr]) -> Expr:
    """`expr` with the free index variables replaced; bound variables are renamed where they would capture one, hide
    one, or have an extent that changes.
    """
    memo: dict[Expr, Expr] = dict(cast("Mapping[Expr, Expr]", values))
    arriving = frozenset(values).union(*(value.free for value in values.values()))

    def go(e: Expr) -> Expr:
        if e not in memo:
            if not any(v in e.free for v in values):
                return e
            if isinstance(e, Fold | Lambda) and any(v in arriving or v.extent.free & arriving for v in e.bound):
                memo[e] = _substitute_under(e, values)
            else:
                memo[e] = rebuild(e, go)
        return memo[e]

    return go(expr)


def _substitute_under(expr: Fold | Lambda, values: Mapping[Index, Expr]) -> Fold | Lambda:
    """Substitution under a binder whose variables get new names and substituted extents."""
    outside = {v: value for v, value in values.items() if v not in expr.bound}
    fresh: dict[Index, Expr] = {}
    left = list(expr.bound)
    while left:    # a variable after those that its extent mentions
        v = next((v for v in left if not any(w in v.extent.free for w in left)), left[0])
        left.remove(v)
        fresh[v] = index(substitute(v.extent, {**outside, **fresh}))
    bound = tuple(cast(Index, fresh[v]) for v in expr.bound)
    body = substitute(expr.body, {**outside, **fresh})
    return Fold(expr.monoid, bound, body) if isinstance(expr, Fold) else Lambda(bound, body)


def rebuild(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The same kind of expression over changed children, through the constructors, so that numbers fold again."""
    match expr:
        case Add(terms):
            return add(*map(change, terms))
        case Mul(factors):
            return mul(*map(change, factors))
        case Pow(base, exponent):
            return power(change(base), exponent)
        case Fn(name, argument):
            return Fn(name, change(argument))
        case Load(leaf, indices):
            return Load(leaf, tuple(map(change, indices)))
        case FloorDiv(a, b):
            return floordiv(change(a), change(b))
        case Mod(a, b):
            return mod(change(a), change(b))
        case Compare(op, a, b):
            return compare(op, change(a), change(b))
        case Not(a):
            return not_(change(a))
        case And(parts):
            return and_(*map(change, parts))
        case Or(parts):
            return or_(*map(change, parts))
        case Where(c, x, y):
            return where(change(c), change(x), change(y))
        case Extremum(op, parts):
            return Extremum(op, tuple(map(change, parts)))
        case Fold(monoid, bound, body):
            return Fold(monoid, bound, change(body))
        case Lambda(bound, body):
            return Lambda(bound, change(body))
        case Opaque(name, attributes, arguments, indices, kind):
            whole = tuple(cast(Lambda, change(argument)) for argument in arguments)
            return Opaque(name, attributes, whole, tuple(map(change, indices)), kind)
    return expr


def walk(expr: Expr) -> Iterator[Expr]:
    """Every distinct sub-expression, children before parents."""
    seen: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(expr, False)]
    while stack:
        e, done = stack.pop()
        if done:
            yield e
        elif e not in seen:
            seen.add(e)
            stack.append((e, True))
            stack.extend((child, False) for child in reversed(e.children))
