"""Wholes: what is read in several portions, as one tensor.

A fluid that streams by one cell around a torus is read in two portions, `y[1:]` and `y[:1]`; so is all that its value
is made of. Torch computes y once and takes two views. Of forms that are portions of one tensor, the whole is the
smallest box that holds them all; where it is no more than they are together, it is computed, and they are cut out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from math import prod

from samesame.optimize.emit.variables import Extent, Variable
from samesame.optimize.forms import Form, Part, Place, base, fresh, size_of, substitute, walk
from samesame.optimize.names import Digests, Portion, places_of, unshifted

READ_IN_PLACE = frozenset({"load", "position", "number"})
Span = tuple[int, int]                               # where an axis begins, and how long it is


@dataclass(frozen=True, slots=True)
class Whole:
    """A form; its axes in the order that portions have; where these begin, and how long they are."""

    form: Form
    names: tuple[str, ...]
    spans: tuple[Span, ...]

    def cut(self, v: Variable, here: Portion, extent: Extent) -> Variable:
        """The portion of the variable that holds the whole."""
        own, cuts = dict(zip(self.names, zip(here.names, self.spans, strict=True), strict=True)), list[str]()
        for axis in v.axes:
            name, (begin, size) = own[axis]
            first = here.begins.get(name, begin) - begin
            end = first + extent(name)
            cuts.append(f"{first or ''}:{end if end < size else ''}")
        while cuts[-1] == ":":
            cuts.pop()
        return Variable(f"{v.unit}[{', '.join(cuts)}]", tuple(own[axis][0] for axis in v.axes), v.dtype)


def wholes(roots: Iterable[Form], extents: Mapping[str, int]) -> tuple[dict[Hashable, Whole], dict[str, int]]:
    """By what `portion` says, the whole of all forms within these that are portions of one tensor, where there are
    several; and all extents, with those of new axes where none is as long."""
    def extent(axis: str) -> int:
        return size_of([axis], extents)

    digests = Digests(extent)
    forms = [x for x in walk(*roots) if x.axes and x.operator not in READ_IN_PLACE]
    if not are_read_in_portions(forms, extent):
        return {}, dict(extents)
    alike = defaultdict[Hashable, dict[tuple[Span, ...], Form]](dict)
    for form in forms:
        key, here = digests.portion(form)
        alike[key].setdefault(spans(here, extent), form)
    found, new = dict[Hashable, Whole](), dict[str, int]()
    for key, portions in alike.items():
        if len(portions) > 1:
            box = tuple((min(first for first, _ in axis), max(sum(span) for span in axis))
                        for axis in zip(*portions, strict=True))
            inside = prod(end - first for first, end in box)
            if inside <= sum(prod(size for _, size in each) for each in portions):
                found[key] = whole(next(iter(portions.values())), box, extents, digests, new)
    return found, {**extents, **new}


def spans(here: Portion, extent: Extent) -> tuple[Span, ...]:
    return tuple((here.begins.get(axis, 0), extent(axis)) for axis in here.names)


def whole(
    form: Form, box: Iterable[Span], extents: Mapping[str, int], digests: Digests, new: dict[str, int]
) -> Whole:
    """The form over all of the box, of each of whose axes the first element and the end are given."""
    _, here = digests.portion(form)
    near, _ = unshifted(form)
    places, names = dict[str, Place | str](), list[str]()
    for axis, (first, end) in zip(here.names, box, strict=True):
        name = axis
        if axis in here.begins:
            if end - first != digests.extent(axis):
                taken, all_extents = (*here.names, *names), {**extents, **new}
                alike = (other for other, size in all_extents.items() if size == end - first and other not in taken)
                name = next(alike, "") or fresh(f"{base(axis)}°", all_extents)
            if name not in extents:
                new[name] = end - first
            places[axis] = Place((Part(name),), first)
        names.append(name)
    return Whole(substitute(near, places), tuple(names), tuple((first, end - first) for first, end in box))


def are_read_in_portions(forms: Iterable[Form], extent: Extent) -> bool:
    """Whether some axis is read from different places on, or not as far: else there is nothing to look for."""
    read = defaultdict[Hashable, set[Hashable]](set)
    for form in forms:
        for x in form.arguments:
            if x.operator in ("load", "position"):
                for d, place in enumerate(places_of(x)):
                    name = x.attributes[0] if x.operator == "load" else ""
                    read[name, d].add((place.offset, *map(extent, place.axes)))
    return any(len(each) > 1 for each in read.values())
