"""Forms up to the names of their axes, and to where these begin.

Queries read the norm of row i, keys that of row j: two forms, and one tensor. A form with numbers for the names of its
axes, in an order that its structure gives, is the same for both. What is bound has no name of its own: it is how many
binders stand within its, so that `Σ_l exp(x[i, l] - max_l x[i, l])` is the same with another l within. A neighbour's
density is that of row i + 1: the same tensor again, read one row on. Heads in groups that share a key are those of the
projection, counted in two digits: where two axes stand for one in all their places, they are read as that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from itertools import permutations
from math import prod
from typing import NamedTuple

from samesame.optimize.forms import Form, Part, Place, fold, fresh, made, substitute, walk

IN_ANY_ORDER = frozenset({"plus", "times", "extremum"})
BINDERS = frozenset({"fold", "lookup", "concat"})    # whose arguments have axes that the result has not
THIS, OTHERS = -1, -2                                # of axes of which one is told from the others


def unshifted(form: Form) -> tuple[Form, dict[str, int]]:
    """The form with its axes as near to the beginning of what is read as they may be, and how far from there it reads.
    Such an axis goes step by step in each place that it is in; others are not moved, nor are those whose extents are
    taken."""
    apart, free = told_apart(form)
    first, fixed = begins(apart), {axis for x in walk(form) for axis in measures(x)}
    moved = {axis: first[own] for axis, own in free.items() if own in first and not (axis in fixed and first[own])}
    return substitute(form, {axis: Place((Part(axis),), -offset) for axis, offset in moved.items() if offset}), moved


def told_apart(form: Form) -> tuple[Form, dict[str, str]]:
    """The form with other names for those of its axes that something within binds, and what each is called."""
    bound = {axis for x in walk(form) for axis in binds(x)}
    free = {axis: fresh(axis, bound | {*form.axes}) if axis in bound else axis for axis in form.axes}
    return substitute(form, free), free


def begins(form: Form) -> dict[str, int]:
    """Where those of its axes begin that are the only ones to go step by step in all their places. None may be the name
    of one that is bound."""
    first = dict[str, int]()
    for place in places_of(form):
        single = [part for part in place.parts if part == Part(part.axis)]
        for part in place.parts:
            lone = single == [part] and place.axes.count(part.axis) == 1 and not place.past
            first[part.axis] = min(first.get(part.axis, place.offset), place.offset) if lone else -1
    joined = {x.attributes[0] for x in walk(form) if x.operator == "concat"}
    return {axis: n for axis, n in first.items() if axis in form.axes and axis not in joined and n >= 0}


def digits(form: Form, extent: Callable[[str], int]) -> Iterator[tuple[str, str]]:
    """Two axes that count one: the first goes as far in a step as all steps of the second, in all places of either."""
    apart, free = told_apart(form)
    joined = {x.attributes[0] for x in walk(apart) if x.operator == "concat"}
    steps = defaultdict[str, list[dict[str, int]]](list)
    for place in places_of(apart):
        there = {part.axis: part.factor * prod(map(extent, part.over)) for part in place.parts}
        for axis in there:
            steps[axis].append(there if len(there) == len(place.parts) and not place.past else {})
    names = [axis for axis, own in free.items() if own in steps and own not in joined]
    for high, low in permutations(names, 2):
        one, other = free[high], free[low]
        in_turn = all(one in there and other in there and there[one] == extent(low) * there[other]
                      for there in (*steps[one], *steps[other]))
        if in_turn and {high, low}.isdisjoint(
                axis for x in walk(substitute(form, {high: Place()})) for axis in measures(x)):
            yield high, low


class Portion(NamedTuple):
    """A form's axes in an order that is the same for all that are like it, and where those begin that may be moved; of
    two that are read as one, the second is named, with the first."""

    names: tuple[str, ...]
    begins: dict[str, int]
    high: dict[str, str] = {}  # noqa: RUF012 (never written to)

    def at(self, axis: str, offset: int) -> Place:
        """The place along one of these that is so far from where it begins."""
        if axis in self.high:
            return Place((Part(self.high[axis], 1, (axis,)), Part(axis)), offset)
        return Place((Part(axis),), offset)


class Digests:
    """Forms up to names, where axes have these extents."""

    def __init__(self, extent: Callable[[str], int]) -> None:
        self.extent = extent
        self.known = dict[tuple[Form, tuple[int, ...]], str]()
        self.levels = dict[Form, int]()
        self.portions = dict[Form, tuple[Hashable, Portion]]()
        self.twofold = dict[Form, list[tuple[Hashable, Portion]]]()

    def renamed(self, form: Form) -> tuple[Hashable, tuple[str, ...]]:
        """What is the same for all forms that are the same but for the names of their axes, which have the same
        extents; and the axes in an order that says which is which."""
        names = self.ordered(form, form.axes, {})
        return (self.digest(form, _numbers(names)), tuple(map(self.extent, names))), names

    def portion(self, form: Form) -> tuple[Hashable, Portion]:
        """What is the same for all forms that are portions of one tensor, and which portion this one is."""
        if form not in self.portions:
            near, moved = unshifted(form)
            names = self.ordered(near, near.axes, {})
            extents = tuple(0 if axis in moved else self.extent(axis) for axis in names)
            self.portions[form] = (self.digest(near, _numbers(names)), extents), Portion(names, moved)
        return self.portions[form]

    def in_digits(self, form: Form) -> Iterator[tuple[Hashable, Portion]]:
        """The same where two of its axes are one."""
        if form not in self.twofold:
            self.twofold[form] = [self.as_one(form, high, low) for high, low in digits(form, self.extent)]
        yield from self.twofold[form]

    def as_one(self, form: Form, high: str, low: str) -> tuple[Hashable, Portion]:
        def extent(axis: str) -> int:
            return self.extent(high) * self.extent(low) if axis == low else self.extent(axis)

        near, moved = unshifted(substitute(form, {high: Place()}))
        names = self.ordered(near, near.axes, {})
        extents = tuple(0 if axis in moved else extent(axis) for axis in names)
        return (self.digest(near, _numbers(names)), extents), Portion(names, moved, {low: high})

    def ordered(self, form: Form, axes: tuple[str, ...], numbers: Mapping[str, int]) -> tuple[str, ...]:
        """Axes that have no numbers yet, by what the form is where one alone is told from the others: of `x[i]·x[j]`
        either may be first."""
        if len(axes) < 2:
            return axes
        alike = {**numbers, **dict.fromkeys(axes, OTHERS)}
        return tuple(sorted(axes, key=lambda axis: (self.digest(form, {**alike, axis: THIS}), axis)))

    def digest(self, form: Form, numbers: Mapping[str, int]) -> str:
        """Of the form with these numbers for its axes."""
        def here(x: Form) -> tuple[Form, tuple[int, ...]]:
            return x, tuple(numbers[axis] for axis in x.axes)

        for x in walk(form, arguments=lambda x: () if x.operator in BINDERS or here(x) in self.known else x.arguments):
            if here(x) not in self.known:
                self.known[here(x)] = self.bound(x, numbers) if x.operator in BINDERS else digest(
                    x, attributes(x, numbers.__getitem__, self.extent), [self.known[here(y)] for y in x.arguments])
        return self.known[here(form)]

    def bound(self, x: Form, numbers: Mapping[str, int]) -> str:
        """Of what binds axes, with the extents of these."""
        last = -level(x, self.levels) << 8
        match x.operator, *x.attributes:
            case "fold", monoid, axes:
                (body,) = x.arguments
                names = self.ordered(body, axes, numbers)
                inner = {**numbers, **{axis: last + n for n, axis in enumerate(names)}}
                return digest(x, (monoid, tuple(map(self.extent, names))), [self.digest(body, inner)])
            case "lookup", axis:
                table, index = x.arguments
                inside = [self.digest(table, {**numbers, axis: last}), self.digest(index, numbers)]
                return digest(x, self.extent(axis), inside)
            case "concat", axis, parts:
                each = [{**numbers, part: last} if part else {**numbers} for part in parts]
                extents = tuple(part and self.extent(part) for part in parts)
                return digest(x, (numbers[axis], extents), [*map(self.digest, x.arguments, each)])
        raise AssertionError(x.operator)


def _numbers(names: Iterable[str]) -> dict[str, int]:
    return {axis: n for n, axis in enumerate(names)}


def places_of(form: Form) -> Iterator[Place]:
    for x in walk(form):
        if x.operator in ("load", "position"):
            yield from (place for place in x.attributes if isinstance(place, Place))


def measures(x: Form) -> Iterator[str]:
    """The axes whose extents it takes."""
    if x.operator == "number":
        yield from (axis for axis, _ in x.attributes[1])
    for place in (y for y in x.attributes if isinstance(y, Place)):
        yield from (*place.past, *(axis for part in place.parts for axis in part.over))


def binds(x: Form) -> tuple[str, ...]:
    """The axes that its arguments have and it has not."""
    match x.operator, *x.attributes:
        case "fold", _, axes:
            return tuple(axes)
        case "lookup", axis:
            return (axis,)
        case "concat", _, parts:
            return tuple(part for part in parts if part is not None)
    return ()


def level(form: Form, known: dict[Form, int]) -> int:
    """How many binders stand in one another within the form; those of its parts are known afterwards."""
    for x in walk(form, arguments=lambda x: () if x in known else x.arguments):
        if x not in known:
            known[x] = max((known[y] for y in x.arguments), default=0) + (x.operator in BINDERS)
    return known[form]


def with_levels(form: Form, size: Callable[[str], object]) -> Form:
    """The form with what folds bind named by their sizes and by how many binders stand within: forms that are the same
    but for these names are the same object."""
    levels, found = dict[Form, int](), dict[Form, Form]()
    for x in walk(form):
        inside = tuple(found[y] for y in x.arguments)
        if x.operator == "fold":
            monoid, axes = x.attributes
            names = {axis: f"{size(axis)}, {level(x, levels)}.{n}" for n, axis in enumerate(axes)}
            found[x] = fold(monoid, names.values(), substitute(inside[0], names))
        else:
            found[x] = made(x.operator, x.attributes, inside) if inside else x
    return found[form]


@lru_cache(1 << 14)
def nameless(form: Form) -> str:
    """A digest of the form without the names of its axes."""
    return digest(form, attributes(form, lambda _: 0, lambda _: 0), [nameless(x) for x in form.arguments])


def digest(x: Form, own: Hashable, inside: list[str]) -> str:
    said = x.operator, own, sorted(inside) if x.operator in IN_ANY_ORDER else inside
    return blake2b(repr(said).encode(), digest_size=16).hexdigest()


def attributes(x: Form, number: Callable[[str], int], size: Callable[[str], int]) -> Hashable:
    """A form's attributes with numbers for its axes, and for those of which it takes the extent."""

    def put(place: Place) -> Hashable:
        parts = tuple((number(part.axis), part.factor, tuple(sorted(map(size, part.over)))) for part in place.parts)
        return parts, place.offset, tuple(sorted(map(size, place.past)))

    match x.operator, *x.attributes:
        case "load", name, *places:
            return (name, *map(put, places))
        case "position", place:
            return put(place)
        case "fold", monoid, axes:
            return monoid, tuple(sorted(map(number, axes)))
        case "number", value, powers:
            return value, tuple(sorted((size(axis), exponent) for axis, exponent in powers))
        case "lookup", axis:
            return number(axis)
        case "concat", axis, parts:
            return number(axis), tuple(part and number(part) for part in parts)
    return tuple(x.attributes)
