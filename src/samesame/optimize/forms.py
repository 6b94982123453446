"""Forms: tensor programs without dimensions, in which every axis has a name.

`Σ_k x[m, k]·W[n, k]` is `fold("sum", ("k",), times(load("x", m, k), load("W", n, k)))`. A form stands for a tensor over
its free axes. What is combined is broadcast by name, and a fold takes names away, so there are no shapes, transposes
and reshapes, and equal parts of a program are the same object. A view is a change of axes, which goes down to the loads
at once: an input of 512 columns that is read as 8 heads of 64 is loaded at `h·|d| + d`. No operator is a cast but
`cast`, which is the identity over the reals.

`Form` and its constructors are the grammar, on one screen; `formula` says what a form means, `text` how it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from math import prod
from typing import Any, NamedTuple

from samesame.formula import expr as e
from samesame.formula.expr import Expr, Interned, Leaf
from samesame.optimize.numerals import Infinity as Infinity
from samesame.optimize.numerals import Number as Number
from samesame.optimize.numerals import Powers as Powers
from samesame.optimize.numerals import number_text
from samesame.optimize.numerals import product_of as product_of

LAST = "\uffff"                                      # comes after every axis
Sizes = Mapping[str, "int | Expr"]                  # the extent of each axis
Element = Callable[[tuple[Expr, ...]], Expr]        # of a tensor, by its indices


# -------------------------------------------------------------------------------------------------------- the grammar


class Part(NamedTuple):
    """factor · |a|·|b|·… · axis, over the extents of the axes in `over`."""

    axis: str
    factor: int = 1
    over: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where along a dimension: a sum of parts, and an offset: a number, and the extents of the axes in `past`. An axis
    alone is the usual case."""

    parts: tuple[Part, ...] = ()
    offset: int = 0
    past: tuple[str, ...] = ()                       # sorted; a part of a tensor lies behind those before it

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(part.axis for part in self.parts)

    @property
    def axis(self) -> str | None:
        """The axis that this is, and nothing else; None where it is more."""
        alone = self.offset == 0 and not self.past and self.parts in {(Part(a),) for a in self.axes}
        return self.parts[0].axis if alone else None

    def put(self, places: Mapping[str, Place]) -> Place:
        """The place with places for axes. An extent in it stays what it was: it is a number of the program."""
        parts, offset, past = list[Part](), self.offset, list(self.past)
        for axis, factor, over in self.parts:
            inner = places.get(axis, along(axis))
            if (over and inner.offset) or (inner.past and (over or factor != 1)):
                raise e.Unsupported("an offset in a digit of a mixed number")
            parts += [Part(p.axis, factor * p.factor, tuple(sorted((*over, *p.over)))) for p in inner.parts]
            offset += factor * inner.offset
            past += inner.past
        return Place(tuple(parts), offset, tuple(sorted(past)))

    def at(self, at: Mapping[str, Expr], extents: Sizes) -> Expr:
        parts = [e.mul(p.factor, *(extents[a] for a in p.over), at[p.axis]) for p in self.parts]
        return e.add(*parts, *(extents[a] for a in self.past), self.offset)

    def start(self, extent: Callable[[str], int]) -> int:
        """The offset in numbers."""
        return self.offset + sum(map(extent, self.past))


def along(axis: str) -> Place:
    return Place((Part(axis),))


def digits(axes: Iterable[str]) -> Place:
    """One dimension made of several axes, the last runs fastest: (h, d) is h·|d| + d."""
    axes = tuple(axes)
    return Place(tuple(Part(axis, 1, tuple(sorted(axes[k + 1 :]))) for k, axis in enumerate(axes)))


class Form(metaclass=Interned):
    """An operator, its attributes, its arguments: hash-consed, so equality is identity. The operators:

    load[name, place per dimension]      an element of a tensor of the specification
    number[value, powers]                value · Π |axis|^power; the value -∞ has no powers
    position[place]                      the index itself, as a number
    plus(…)  times(…)                    n-ary, flat, in one order; a number, if any, comes first
    minus(a, b)                          a difference; kept, since it may cancel
    power[q](x)  fn[name](x)             q a Fraction; functions by their names in formula.scalars or ACTIVATIONS
    extremum[op](a, b)                   the "max" or "min" of two
    compare[op](a, b)  not(a)  and(a, b)  or(a, b)  where(c, a, b)      op one of < ≤ =
    fold[monoid, axes](x)                "sum" or "max" over axes that x has; the axes are sorted
    concat[axis, parts](x, …)            one after the other along `axis`; each part is an axis of its argument, or None
                                         for a part of one element
    lookup[axis](x, i)                   x where its axis is at the integer i, which is in range; other axes that both
                                         have go together
    cast[dtype](x)                       the same number, rounded
    """

    operator: str
    attributes: tuple[Any, ...]
    arguments: tuple[Form, ...]
    axes: tuple[str, ...]                            # free, sorted
    height: int                                      # 0 of a leaf
    structure: str                                   # a digest of the whole

    def __init__(self, operator: str, attributes: tuple[Hashable, ...], arguments: tuple[Form, ...]) -> None:
        self.operator, self.attributes, self.arguments = operator, attributes, arguments
        self.axes = free_axes(operator, attributes, [x.axes for x in arguments])
        self.height = 1 + max((x.height for x in arguments), default=-1)
        said = repr((operator, attributes, *(x.structure for x in arguments)))
        self.structure = blake2b(said.encode(), digest_size=16).hexdigest()

    def __repr__(self) -> str:
        return text(self)


def free_axes(operator: str, attributes: tuple[Any, ...], arguments: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The free axes of an operator's result, sorted."""
    places = attributes[1:] if operator == "load" else attributes if operator == "position" else ()
    arguments = tuple(arguments)
    found = {axis for place in places for axis in place.axes}.union(*arguments)
    if operator == "fold":
        found -= set(attributes[1])
    elif operator == "concat":
        found = found - set(attributes[1]) | {attributes[0]}
    elif operator == "lookup":
        x, i = arguments
        found = set(x) - set(attributes) | set(i)
    return tuple(sorted(found))


def load(name: str, *places: str | Place) -> Form:
    return Form("load", (name, *(along(p) if isinstance(p, str) else p for p in places)), ())


def number(value: Number | int | float, powers: Powers = ()) -> Form:
    """A float is the decimal that it is written as."""
    if isinstance(value, float):
        value = Infinity if value == float("-inf") else Fraction(repr(value))
    return Form("number", (value if isinstance(value, str) else Fraction(value), tuple(sorted(powers))), ())


def extent(*axes: str) -> Form:
    """How many elements there are along these axes."""
    return number(1, tuple((axis, 1) for axis in axes))


def position(place: str | Place) -> Form:
    return Form("position", (along(place) if isinstance(place, str) else place,), ())


def plus(*xs: Form) -> Form:
    terms = [term for x in xs for term in (x.arguments if x.operator == "plus" else (x,))]
    kept = [x for x in terms if x is not ZERO]
    if (chosen := chosen_number(kept)) is not None:
        condition, numbers, rest = chosen
        if all(not powers for _, powers in (*numbers, *rest)):
            whole = sum(value for value, _ in rest)
            return where(condition, *(number(value + whole) for value, _ in numbers))
    return kept[0] if len(kept) == 1 else Form("plus", (), _ordered(kept)) if kept else ZERO


def minus(a: Form, b: Form) -> Form:
    return a if b is ZERO else Form("minus", (), (a, b))


def times(*xs: Form) -> Form:
    """A product; its numbers become one. `0·x` stays: x may be undefined."""
    factors = [factor for x in xs for factor in (x.arguments if x.operator == "times" else (x,))]
    numbers = [x for x in factors if finite(x)]
    rest = _ordered(x for x in factors if not finite(x))
    if (chosen := chosen_number(factors)) is not None:
        condition, branches, others = chosen
        return where(condition, *(number(*product_of([branch, *others])) for branch in branches))
    scale = number(*product_of([x.attributes for x in numbers]))
    if scale is ONE and rest:
        return rest[0] if len(rest) == 1 else Form("times", (), rest)
    return Form("times", (), (scale, *rest)) if rest else scale


def finite(x: Form) -> bool:
    return x.operator == "number" and x.attributes[0] != Infinity


def chosen_number(xs: Sequence[Form]) -> tuple[Form, list[tuple[Any, ...]], list[tuple[Any, ...]]] | None:
    """The condition, the two numbers and the other numbers where these are a choice between two numbers, and numbers:
    2·[i = j] − 1 is a choice between 1 and −1."""
    chosen = [x for x in xs if x.operator == "where"]
    if len(chosen) != 1 or len(xs) == 1:
        return None
    (condition, *branches), rest = chosen[0].arguments, [x for x in xs if x is not chosen[0]]
    if not all(map(finite, (*branches, *rest))):
        return None
    return condition, [x.attributes for x in branches], [x.attributes for x in rest]


def power(x: Form, exponent: Fraction | int | float) -> Form:
    q = Fraction(exponent)
    if q == 1:
        return x
    if finite(x) and q.denominator == 1 and (x.attributes[0] or q > 0):
        value, powers = x.attributes
        return number(value ** int(q), tuple((axis, k * int(q)) for axis, k in powers))
    return Form("power", (q,), (x,))


def fn(name: str, x: Form) -> Form:
    return Form("fn", (name,), (x,))


def extremum(op: str, a: Form, b: Form) -> Form:
    return Form("extremum", (op,), _ordered((a, b)))


def compare(op: str, a: Form, b: Form) -> Form:
    """`op` is one of < ≤ = ≠ > ≥."""
    if op in (">", "≥"):
        return compare("<" if op == ">" else "≤", b, a)
    return Form("not", (), (compare("=", a, b),)) if op == "≠" else Form("compare", (op,), (a, b))


def logic(op: str, *xs: Form) -> Form:
    """`op` is "not", "and" or "or"."""
    rest = tuple(x for x in xs if x is not TRUE)
    return Form(op, (), xs) if op != "and" or len(rest) > 1 else rest[0] if rest else TRUE


def where(condition: Form, then: Form, otherwise: Form) -> Form:
    return then if condition is TRUE else then if then is otherwise else Form("where", (), (condition, then, otherwise))


def fold(monoid: str, axes: Iterable[str], x: Form) -> Form:
    """A fold over axes; one that x does not have repeats it."""
    axes = set(axes)
    over, missing = axes & set(x.axes), sorted(axes - set(x.axes))
    if monoid == "sum" and missing:
        return times(extent(*missing), fold("sum", over, x))
    return Form("fold", (monoid, tuple(sorted(over))), (x,)) if over else x


def concat(axis: str, parts: Iterable[str | None], xs: Iterable[Form]) -> Form:
    return Form("concat", (axis, tuple(parts)), tuple(xs))


def cast(dtype: str, x: Form) -> Form:
    return Form("cast", (dtype,), (x,))


def lookup(axis: str, x: Form, i: Form) -> Form:
    return Form("lookup", (axis,), (x, i)) if axis in x.axes else x


def _ordered(xs: Iterable[Form]) -> tuple[Form, ...]:
    """In an order that hangs on nothing but what stands there: numbers, then what has the axes that come first (`x·W`
    where x has m and W has n), what is small before what is large, and tensors by their names."""
    return tuple(sorted(xs, key=_place_in_order))


def _place_in_order(x: Form) -> tuple[Any, ...]:
    name = x.attributes[0] if x.operator == "load" else ""
    return not finite(x), (*x.axes, LAST), x.height, name, x.structure


ZERO, ONE = number(0), number(1)
TRUTHS = frozenset({"compare", "not", "and", "or"})        # operators whose results are true or not
TRUE = compare("=", ZERO, ZERO)
MAKERS: dict[str, Callable[[tuple[Any, ...], tuple[Form, ...]], Form]] = {
    "plus": lambda _, xs: plus(*xs), "minus": lambda _, xs: minus(*xs), "times": lambda _, xs: times(*xs),
    "power": lambda at, xs: power(xs[0], at[0]), "where": lambda _, xs: where(*xs),
    "extremum": lambda at, xs: extremum(*at, *xs), "fold": lambda at, xs: fold(*at, *xs),
}


def made(operator: str, attributes: tuple[Any, ...], arguments: tuple[Form, ...]) -> Form:
    """The form of these parts, through its constructor."""
    maker = MAKERS.get(operator)
    return maker(attributes, arguments) if maker else Form(operator, attributes, arguments)


# ------------------------------------------------------------------------------------------------------- going through


def walk(*forms: Form, arguments: Callable[[Form], Sequence[Form]] = lambda x: x.arguments) -> Iterator[Form]:
    """Every distinct form in these, `arguments` before what they stand in."""
    seen, stack = set[Form](), [(form, False) for form in reversed(forms)]
    while stack:
        form, done = stack.pop()
        if done:
            yield form
        elif form not in seen:
            seen.add(form)
            stack.append((form, True))
            stack.extend((x, False) for x in reversed(arguments(form)))


def but_indices(x: Form) -> Sequence[Form]:
    """A form's arguments but for the places of what it looks up."""
    return x.arguments[:1] if x.operator == "lookup" else x.arguments


def exchanged(form: Form, others: Mapping[Form, Form]) -> Form:
    """The form with other forms, read at the same axes, in place of some of its parts."""
    memo = dict(others)
    for x in walk(form, arguments=lambda x: () if x in others else x.arguments):
        if x not in memo:
            memo[x] = made(x.operator, x.attributes, tuple(memo[y] for y in x.arguments)) if x.arguments else x
    return memo[form]


def base(axis: str) -> str:
    """The axis that this one is a copy of, with the same extent: `k′` is a second k."""
    return axis.rstrip("′")


def fresh(axis: str, taken: Iterable[str]) -> str:
    """A copy of the axis by a name that is not taken."""
    taken = set(taken)
    while axis in taken:
        axis += "′"
    return axis


class Piece(NamedTuple):
    """What a place in a concatenation is in one of its arguments: a place along its part, which runs over `axis` in
    this piece alone. A part of one element has neither."""

    form: Form
    part: str | None
    place: Place
    axis: str | None


Cut = Callable[[Form, Place], tuple[str, list[Piece]]]   # what a place in a concatenation is: its axis, the pieces


def uncut(form: Form, place: Place) -> tuple[str, list[Piece]]:
    """A concatenation as a whole, along another axis."""
    if place.axis is None:
        raise e.Unsupported(f"a concatenation at {place_text(place)}")
    parts = zip(form.attributes[1], form.arguments, strict=True)
    return place.axis, [Piece(x, part, along(part or ""), part) for part, x in parts]


def substitute(
    form: Form, places: Mapping[str, Place | str], memo: dict[Any, Form] | None = None, cut: Cut = uncut
) -> Form:
    """The form read at these places along its free axes. Bound axes that would capture one get another name. Where the
    parts of a concatenation begin is a matter of extents, which `cut` knows."""
    memo = {} if memo is None else memo
    there = {a: along(p) if isinstance(p, str) else p for a, p in places.items() if a in form.axes}
    there = {a: p for a, p in there.items() if p != along(a)}
    if not there:
        return form
    key = form, tuple(sorted(there.items(), key=lambda item: item[0]))
    if key not in memo:
        memo[key] = _substituted(form, there, memo, cut)
    return memo[key]


def _substituted(form: Form, places: Mapping[str, Place], memo: dict[Any, Form], cut: Cut) -> Form:
    if form.operator == "load":
        return load(form.attributes[0], *(place.put(places) for place in form.attributes[1:]))
    if form.operator == "position":
        return position(form.attributes[0].put(places))
    free = set[str]().union(*(places[a].axes if a in places else (a,) for a in form.axes))     # of the result
    if form.operator == "fold":
        monoid, bound = form.attributes
        names = _uncaptured(bound, free)
        inner = {**places, **{a: along(name) for a, name in zip(bound, names, strict=True)}}
        return fold(monoid, names, substitute(form.arguments[0], inner, memo, cut))
    if form.operator == "concat":
        return _concat_at(form, places, free, memo, cut)
    if form.operator == "lookup":
        (axis,), (x, i) = form.attributes, form.arguments
        (name,) = _uncaptured((axis,), free)
        return lookup(name, substitute(x, {**places, axis: along(name)}, memo, cut), substitute(i, places, memo, cut))
    return made(form.operator, form.attributes, tuple(substitute(x, places, memo, cut) for x in form.arguments))


def _concat_at(form: Form, places: Mapping[str, Place], free: set[str], memo: dict[Any, Form], cut: Cut) -> Form:
    axis, _ = form.attributes
    rest = {a: p for a, p in places.items() if a != axis}
    whole, pieces = cut(form, places[axis]) if axis in places else uncut(form, along(axis))

    def read(piece: Piece, names: Mapping[str, Place]) -> Form:
        inner = rest if piece.part is None else {**rest, piece.part: piece.place.put(names)}
        return substitute(piece.form, inner, memo, cut)

    if len(pieces) == 1 and pieces[0].axis in (None, whole):
        return read(pieces[0], {})
    bound = list(dict.fromkeys(piece.axis for piece in pieces if piece.axis is not None))
    names = dict(zip(bound, _uncaptured(bound, free), strict=True))
    put = {a: along(name) for a, name in names.items()}
    return concat(whole, [piece.axis and names[piece.axis] for piece in pieces], [read(p, put) for p in pieces])


def _uncaptured(bound: Sequence[str], free: set[str]) -> list[str]:
    """Names for bound axes, others where these would capture a free one: the first that there are, so that what is
    renamed again and again has few names, and is known."""
    names = list[str]()
    for axis in bound:
        names.append(fresh(base(axis), {*free, *bound, *names}) if axis in free else axis)
    return names


# ------------------------------------------------------------------------------------------------------------ meaning


def formula(
    form: Form, at: Mapping[str, Expr], extents: Sizes, leaves: Mapping[str, Leaf | Element] | None = None
) -> Expr:
    """The form's element at these indices, one for each free axis. `leaves` are the tensors, or what an element of one
    is; one that is not given is real, of a shape of its own."""
    return _Meaning(extents, leaves or {}).of(form, at)


class _Meaning:
    def __init__(self, extents: Sizes, leaves: Mapping[str, Leaf | Element]) -> None:
        self.extents, self.leaves = extents, leaves
        self.memo: dict[Any, Expr] = {}

    def of(self, form: Form, at: Mapping[str, Expr]) -> Expr:
        key = form, tuple(at[axis] for axis in form.axes)
        if key not in self.memo:
            self.memo[key] = self._of(form, {axis: at[axis] for axis in form.axes})
        return self.memo[key]

    def size(self, axis: str) -> Expr:
        return e.const(self.extents[axis] if axis in self.extents else self.extents[base(axis)])

    def place(self, place: Place, at: Mapping[str, Expr]) -> Expr:
        return place.at(at, {a: self.size(a) for a in (*place.past, *(a for part in place.parts for a in part.over))})

    def _of(self, form: Form, at: Mapping[str, Expr]) -> Expr:
        attributes = form.attributes
        match form.operator:
            case "load":
                name, places = attributes[0], attributes[1:]
                leaf = self.leaves.get(name) or Leaf(name, tuple(e.Size(f"{name}.{k}", 1) for k in range(len(places))))
                there = tuple(self.place(place, at) for place in places)
                return e.Load(leaf, there) if isinstance(leaf, Leaf) else leaf(there)
            case "number":
                value, powers = attributes
                sizes = [e.power(self.size(axis), exponent) for axis, exponent in powers]
                return e.NEG_INF if value == Infinity else e.mul(value, *sizes)
            case "position":
                return self.place(attributes[0], at)
            case "fold":
                monoid, axes = attributes
                bound = tuple(e.index(self.size(axis)) for axis in axes)
                body = e.numeric(self.of(form.arguments[0], {**at, **dict(zip(axes, bound, strict=True))}))
                return e.Fold(monoid, bound, body)
            case "concat":
                return self.concat(form, at)
            case "lookup":
                x, i = form.arguments
                return self.of(x, {**at, attributes[0]: self.of(i, at)})
        return _applied(form, [self.of(x, at) for x in form.arguments])

    def concat(self, form: Form, at: Mapping[str, Expr]) -> Expr:
        axis, parts = form.attributes
        pieces, start = list[tuple[Expr, Expr]](), e.const(0)
        for part, x in zip(parts, form.arguments, strict=True):
            inner = dict(at) if part is None else {**at, part: at[axis] - start}
            start = start + (e.ONE if part is None else self.size(part))
            pieces.append((start, self.of(x, inner)))
        found = pieces[-1][1]
        for end, piece in reversed(pieces[:-1]):
            found = e.where(e.lt(at[axis], end), piece, found)
        return found


ACTIVATIONS: dict[str, Callable[[Expr], Expr]] = {
    "silu": lambda x: x * e.sigmoid(x),
    "relu": lambda x: e.maximum(x, 0),
    "gelu": lambda x: x / 2 * (1 + e.erf(x / e.sqrt(2))),
    "gelu_tanh": lambda x: x / 2 * (1 + e.tanh(e.sqrt(2 / e.PI) * (x + Fraction("0.044715") * x**3))),
    "elu": lambda x: e.where(e.lt(0, x), x, e.fn("expm1")(x)),          # exp(x) − 1 cancels where x is small
}


def _applied(form: Form, xs: list[Expr]) -> Expr:
    match form.operator, form.attributes:
        case "plus", _:
            return e.add(*xs)
        case "minus", _:
            return e.numeric(xs[0]) - e.numeric(xs[1])
        case "times", _:
            return e.mul(*xs)
        case "power", (q,):
            return e.power(xs[0], q)
        case "fn", (name,):
            return ACTIVATIONS[name](e.numeric(xs[0])) if name in ACTIVATIONS else e.fn(name)(xs[0])
        case "extremum", (op,):
            return e.maximum(*xs) if op == "max" else e.minimum(*xs)
        case "compare", (op,):
            return e.compare(op, *xs)
        case "not", _:
            return e.not_(e.truth(xs[0]))
        case "and", _:
            return e.and_(*map(e.truth, xs))
        case "or", _:
            return e.or_(*map(e.truth, xs))
        case "where", _:
            return e.where(e.truth(xs[0]), xs[1], xs[2])
        case "cast", _:
            return xs[0]
    raise e.Unsupported(f"no form is called {form.operator}")


# ------------------------------------------------------------------------------------------------------------ reading

LOOSE, SUM, FOLD, PRODUCT, UNIT = range(5)                       # how tightly a text holds together
LONGEST = 2000                                       # letters; what is shared is written out, and grows fast
SIGNS = {"sum": "Σ", "max": "max"}


def text(form: Form, *, brief: bool = False, names: Mapping[str | Form, str] | None = None) -> str:
    """The form as mathematics: `Σ_k x[m, k]·W[n, k]`; in brief, without indices, `x·W`. `names` gives tensors other
    names than their own, and forms a name to stand for them."""
    return _Printer(brief, names or {}).show(form)[0]


def place_text(place: Place) -> str:
    parts = ["·".join([*([str(p.factor)] if p.factor != 1 else []), p.axis, *(f"|{a}|" for a in p.over)])
             for p in place.parts]
    start = [str(place.offset)] if place.offset or not (parts or place.past) else []
    return " + ".join([*(f"|{a}|" for a in place.past), *parts, *start])


class _Printer:
    def __init__(self, brief: bool, names: Mapping[str | Form, str]) -> None:
        self.brief, self.names = brief, names
        self.memo: dict[Form, tuple[str, int]] = {}

    def show(self, form: Form) -> tuple[str, int]:
        if form not in self.memo:
            shown, tightness = self._show(form)
            self.memo[form] = (shown, tightness) if len(shown) <= LONGEST else (f"{shown[:LONGEST]}…", UNIT)
        return self.memo[form]

    def inside(self, form: Form, tightness: int) -> str:
        shown, here = self.show(form)
        return f"({shown})" if here < tightness else shown

    def _show(self, form: Form) -> tuple[str, int]:
        attributes, xs = form.attributes, form.arguments
        if form in self.names:
            return self.names[form] + (f"[{', '.join(form.axes)}]" if form.axes and not self.brief else ""), UNIT
        match form.operator:
            case "load":
                name = self.names.get(attributes[0], attributes[0])
                return (name if self.brief else f"{name}[{', '.join(map(place_text, attributes[1:]))}]"), UNIT
            case "number":
                return number_text(*attributes), UNIT if attributes[1] == () else PRODUCT
            case "position":
                return place_text(attributes[0]), UNIT if len(attributes[0].parts) == 1 else SUM
            case "plus":
                return " + ".join(self.inside(x, FOLD) for x in sorted(xs, key=finite)), SUM
            case "minus":
                return f"{self.inside(xs[0], SUM)} - {self.inside(xs[1], FOLD)}", SUM
            case "times":
                return self.product(xs)
            case "power":
                return self.power(xs[0], attributes[0])
            case "fold":
                return self.fold(attributes[0], attributes[1], xs[0])
            case "compare":
                return f"{self.show(xs[0])[0]} {attributes[0]} {self.show(xs[1])[0]}", LOOSE
            case "lookup":
                table, i = xs
                if not self.brief:
                    return f"{self.inside(table, UNIT)}[{attributes[0]} = {self.show(i)[0]}]", UNIT
                from_the_end = i.operator == "where" and i.arguments[0] is compare("<", i.arguments[-1], ZERO)
                i = i.arguments[-1] if from_the_end else i
                return f"{self.inside(table, UNIT)}[{self.show(i)[0]}]", UNIT
            case "not" | "and" | "or" | "where" | "cast" | "concat" | "fn" | "extremum":
                name = attributes[0] if form.operator in ("fn", "extremum", "cast") else form.operator
                return f"{name}({', '.join(self.show(x)[0] for x in xs)})", UNIT
        return f"{form.operator}({', '.join(self.show(x)[0] for x in xs)})", UNIT

    def product(self, xs: tuple[Form, ...]) -> tuple[str, int]:
        under = [x for x in xs if x.operator == "power" and x.attributes[0] == -1]
        over = [self.inside(x, PRODUCT) for x in xs if x not in under]
        below = "".join(f"/{self.inside(x.arguments[0], UNIT)}" for x in under)
        return ("·".join(over) or "1") + below, PRODUCT

    def power(self, x: Form, q: Fraction) -> tuple[str, int]:
        if q == -1:
            return f"1/{self.inside(x, UNIT)}", PRODUCT
        if abs(q) == Fraction(1, 2):
            return ("1/" if q < 0 else "") + f"√{self.inside(x, UNIT)}", PRODUCT if q < 0 else UNIT
        return f"{self.inside(x, UNIT)}^{q if q.denominator == 1 and q > 0 else f'({q})'}", UNIT

    def fold(self, monoid: str, axes: tuple[str, ...], x: Form) -> tuple[str, int]:
        factors = x.arguments if x.operator == "times" else ()
        if self.brief and monoid == "sum" and sum(set(axes) <= set(f.axes) for f in factors) > 1:
            return self.show(x)[0], PRODUCT
        sign = f"{SIGNS[monoid]}_{','.join(axes)}"
        return f"{sign} {self.inside(x, FOLD)}", FOLD


def size_of(axes: Iterable[str], extents: Mapping[str, int]) -> int:
    """How many points these axes span."""
    return prod(extents[axis] if axis in extents else extents[base(axis)] for axis in set(axes))
