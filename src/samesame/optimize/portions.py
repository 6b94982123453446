"""Portions: what is kept already, and is read again in part, under other names, or in two digits.

A tensor that holds a form for all queries holds it for one block of them, for keys that are made in the same way, and
for heads that are counted group by group. Where a portion is asked for before a wider one is, two would be kept; the
next time the wider one goes first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import chain
from typing import NamedTuple

from samesame.optimize.forms import Form, Place, load
from samesame.optimize.names import Digests, Portion


class _Tensor(NamedTuple):
    target: str
    axes: tuple[str, ...]
    form: Form
    holds: Portion


class Held:
    """Tensors that are kept, by what is the same for all portions of one; if `in_digits` they are read in two, too."""

    def __init__(self, digests: Digests, in_digits: bool = True) -> None:
        self.digests, self.in_digits = digests, in_digits
        self.alike = defaultdict[Hashable, list[_Tensor]](list)

    def add(self, form: Form, target: str, axes: Sequence[str]) -> None:
        """The target with these axes holds the form."""
        key, here = self.digests.portion(form)
        self.alike[key].append(_Tensor(target, tuple(axes), form, here))

    def portion(self, form: Form) -> Form | None:
        """What is kept already and holds this form, but for the names of axes and where they begin; at its axes."""
        digits = self.digests.in_digits(form) if self.in_digits else ()
        for key, here in chain([self.digests.portion(form)], digits):
            for target, axes, _, there in self.alike.get(key, ()):
                own = dict(zip(there.names, here.names, strict=True))
                far = {axis: here.begins.get(own[axis], 0) - there.begins.get(axis, 0) for axis in own}
                if all(0 <= far[axis] <= self.length(there, axis) - self.length(here, own[axis]) for axis in own):
                    return load(target, *(here.at(own[axis], far[axis]) if axis in own else Place() for axis in axes))
        return None

    def wider(self) -> dict[Hashable, Form]:
        """What was kept after a portion of it had been."""
        found = dict[Hashable, Form]()
        for key, (first, *others) in self.alike.items():
            for other in others:
                large, small = self.spans(other.holds), self.spans(first.holds)
                if large != small and all(a <= b and b + n <= a + m for (a, m), (b, n)
                                          in zip(large, small, strict=True)):
                    found[key] = other.form
        return found

    def spans(self, portion: Portion) -> list[tuple[int, int]]:
        """Where each axis begins, and how far it goes."""
        return [(portion.begins.get(axis, 0), self.length(portion, axis)) for axis in portion.names]

    def length(self, portion: Portion, axis: str) -> int:
        own = self.digests.extent(axis)
        return own * self.digests.extent(portion.high[axis]) if axis in portion.high else own
