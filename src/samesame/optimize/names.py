"""Forms up to the names of their axes, and to where these begin.

Queries read the norm of row i, keys that of row j: two forms, and one tensor. A form with numbers for the names of its
axes, in the order in which they are met, is the same for both; sums and products are met in an order without names. A
neighbour's density is that of row i + 1: the same tensor again, read one row on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from samesame.optimize.forms import Form, Part, Place, substitute, walk

IN_ANY_ORDER = frozenset({"plus", "times", "extremum"})


def renamed(form: Form, extent: Callable[[str], int]) -> tuple[Hashable, tuple[str, ...]]:
    """The form with numbers for the names of its axes, with their extents; and the axes, free and bound ones, in the
    numbers' order. Forms of which this is the same are the same but for names, and the axes say which is which."""
    numbers, inner, waiting = dict[str, int](), dict[Form, list[Form]](), [form]

    def number(axis: str) -> int:
        return numbers.setdefault(axis, len(numbers))

    def met(x: Form) -> tuple[str, list[int]]:
        """Of equals that may stand in any order, first the one whose axes have been met: of `x[i]·x[j]` in a sum over j
        the one that is summed."""
        return nameless(x), sorted(numbers.get(axis, len(numbers)) for axis in x.axes)

    while waiting:
        x = waiting.pop()
        if x in inner:
            continue
        if x.operator != "fold" or len(x.attributes[1]) == 1:
            attributes(x, number)
        inner[x] = sorted(x.arguments, key=met) if x.operator in IN_ANY_ORDER else list(x.arguments)
        waiting.extend(reversed(inner[x]))
    every = [*walk(form, arguments=inner.__getitem__)]
    place = {x: n for n, x in enumerate(every)}
    shape = tuple((x.operator, attributes(x, number), tuple(place[y] for y in inner[x])) for x in every)
    return (shape, tuple(map(extent, numbers))), tuple(numbers)


def unshifted(form: Form) -> tuple[Form, dict[str, int]]:
    """The form with its axes as near to the beginning of what is read as they may be, and how far from there it reads.
    Such an axis is all that there is, beside a number, in each place that it is in; others are not moved."""
    first = dict[str, int]()
    for place in places_of(form):
        lone = place.parts == (Part(place.axes[0]),) and not place.past if place.parts else False
        for axis in {*place.axes, *place.past, *(a for part in place.parts for a in part.over)}:
            first[axis] = min(first.get(axis, place.offset), place.offset) if lone else -1
    first = {axis: offset for axis, offset in first.items() if axis in form.axes and offset >= 0}
    for x in walk(form):
        for axis in tied(x):
            first.pop(axis, None)
    return substitute(form, {a: Place((Part(a),), -offset) for a, offset in first.items()}), first


class Portion(NamedTuple):
    """A form's axes in an order that is the same for all that are like it, and where those begin that may be moved."""

    names: tuple[str, ...]
    begins: dict[str, int]


def portion(form: Form, extent: Callable[[str], int]) -> tuple[Hashable, Portion]:
    """What is the same for all forms that are portions of one tensor, and which portion this one is."""
    near, begins = unshifted(form)
    key, names = renamed(near, lambda axis: 0 if axis in begins else extent(axis))
    return key, Portion(names, begins)


def places_of(form: Form) -> Iterator[Place]:
    for x in walk(form):
        if x.operator in ("load", "position"):
            yield from (place for place in x.attributes if isinstance(place, Place))


def tied(x: Form) -> Iterator[str]:
    """The axes whose extent, or each element, means something to this operator."""
    match x.operator, *x.attributes:
        case "fold", _, axes:                                # a name may be bound here and free elsewhere
            yield from axes
        case "number", _, powers:
            yield from (axis for axis, _ in powers)
        case "lookup", *axes:
            yield from axes
        case "concat", axis, parts:
            yield from (each for each in (axis, *parts) if each is not None)


@lru_cache(1 << 14)
def nameless(form: Form) -> str:
    """A digest of the form without the names of its axes."""
    inside = [nameless(x) for x in form.arguments]
    said = form.operator, attributes(form, lambda _: 0), sorted(inside) if form.operator in IN_ANY_ORDER else inside
    return blake2b(repr(said).encode(), digest_size=16).hexdigest()


def attributes(x: Form, number: Callable[[str], int]) -> Hashable:
    """A form's attributes with numbers for its axes."""

    def put(place: Place) -> Hashable:
        parts = tuple((number(part.axis), part.factor, tuple(sorted(map(number, part.over)))) for part in place.parts)
        return parts, place.offset, tuple(sorted(map(number, place.past)))

    match x.operator, *x.attributes:
        case "load", name, *places:
            return (name, *map(put, places))
        case "position", place:
            return put(place)
        case "fold", monoid, axes:
            return monoid, tuple(sorted(map(number, axes)))
        case "number", value, powers:
            return value, tuple(sorted((number(axis), exponent) for axis, exponent in powers))
        case "lookup", axis:
            return number(axis)
        case "concat", axis, parts:
            return number(axis), tuple(part and number(part) for part in parts)
    return tuple(x.attributes)
