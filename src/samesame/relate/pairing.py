"""Pairing: which of several weights that hold equal numbers is which on the other side.

Fresh norm weights are all ones and fresh biases all zeros: their values say nothing about which is which. What does,
the strongest first: a full name that both sides have; the place in the module tree, where weights that values do
identify show which module is which (`h.0` is `layers.0` if their matrices are); and the use, that is, which values a
program computes with the weight soon after. Names and places that correspond completely *decide*: a program that agrees
only if they are contradicted agrees for equal numbers only.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch

from samesame.graph import Graph, Node
from samesame.operators.execute import Value
from samesame.relate.propose import is_telling, moment

_STEPS = 4                  # operators after a weight that tell its use
_TELLING = 24               # values that are kept of them
_DIGITS = 7                 # of a value's moment: two programs round differently
Use = frozenset[tuple[int, str]]
Assignment = dict[str, str]                 # the left name for each right one


@dataclass(frozen=True)
class Clues:
    """What tells tensors of equal numbers apart: `anchors` has the left names of each right tensor that values
    identify, `modules` what these say of modules, `uses` the uses of each tensor for each side, `kinds` the kind of
    source for each side."""

    anchors: Mapping[str, tuple[str, ...]]
    modules: Modules
    uses: tuple[Mapping[str, Use], Mapping[str, Use]] = field(default_factory=lambda: ({}, {}))
    kinds: tuple[Mapping[str, str], Mapping[str, str]] = field(default_factory=lambda: ({}, {}))

    @cached_property
    def in_order(self) -> bool:
        """Do numbered lists that values identify run in the same direction on both sides?"""
        pairs = ((right, left) for right, lefts in self.anchors.items() for left in lefts)
        rows = sorted({(numbered(right)[1], numbered(left)[1]) for right, left in pairs})
        return [i for _, i in rows] == sorted(i for _, i in rows)


@dataclass(frozen=True)
class Group:
    """Tensors of equal shape and numbers, of the left and of the right, each in order of first use."""

    lefts: tuple[str, ...]
    rights: tuple[str, ...]
    clues: Clues

    @property
    def modules(self) -> Modules:
        return self.clues.modules

    @cached_property
    def shared(self) -> frozenset[str]:
        """The names that both sides have."""
        return frozenset(self.lefts) & frozenset(self.rights)

    @property
    def decided_by_name(self) -> bool:
        """Has every tensor of the side with fewer of them a namesake?"""
        return len(self.shared) == min(len(self.lefts), len(self.rights))

    @cached_property
    def decided_by_place(self) -> bool:
        """Do the modules that correspond hold as many of them on both sides, and are they told apart by that?"""
        mine, yours = (Counter(map(holding, names)) for names, holding in (
            (self.lefts, self.modules.of_left), (self.rights, self.modules.of_right)))
        return mine == yours and len(mine) > 1

    def assigned(self, *, by_use: bool = False) -> Assignment:
        """A left tensor for each right one, none for two, as long as there are any; `by_use` above names and places."""
        lefts, rights = list(self.lefts), list(self.rights)
        found: Assignment = {}
        for name in () if by_use else self.shared:
            found[name] = name
            lefts.remove(name)
            rights.remove(name)
        pairs = ((self._fitness(r, a, by_use), r, a) for r in rights for a in lefts)
        rest: Assignment = {}
        for _, right, left in sorted(pairs, key=lambda row: row[0], reverse=True):
            if right in rights and left in lefts:
                rest[right] = left
                rights.remove(right)
                lefts.remove(left)
        return found | (rest if by_use else self._in_order(rest))

    def _in_order(self, found: Assignment) -> Assignment:
        """The assignment with numbered lists paired in the order of their numbers."""
        moved = dict(found)
        for rows in _lists(found) if self.clues.in_order else ():
            lefts = sorted((i, left) for _, i, _, left in rows)
            moved |= {right: left for (_, _, right, _), (_, left) in zip(rows, lefts, strict=True)}
        return moved

    def _fitness(self, right: str, left: str, by_use: bool) -> tuple[float, ...]:
        """The larger the better; the order of first use decides last."""
        kinds = self.clues.kinds
        kind = kinds[0].get(left) == kinds[1].get(right)
        place = -len(self.modules.of_left(left) ^ self.modules.of_right(right))
        use = likeness(self.clues.uses[0].get(left, frozenset()), self.clues.uses[1].get(right, frozenset()))
        word = left.rpartition(".")[2] == right.rpartition(".")[2]
        order = -abs(self.lefts.index(left) - self.rights.index(right))
        clues = (use, word, place) if by_use else (place, word, use)
        return (kind, *clues, order)

    def contradicts(self, found: Assignment) -> bool:
        """Does the assignment contradict names that both sides have, or places that correspond?

        A cycle among shared names is a swap. A chain that ends in names of one side only (`norm0` is `norm1`, `norm1`
        is `norm2`) is counting from another number, and no contradiction."""
        if self._swaps(found):
            return True
        if self.decided_by_place:
            return any(self.modules.of_right(right) != self.modules.of_left(left) for right, left in found.items())
        return self._in_order(found) != found

    def _swaps(self, found: Assignment) -> bool:
        for start in self.shared:
            here = found.get(start)
            while here is not None and here != start and here in self.shared:
                here = found.get(here)
            if here == start and found[start] != start:
                return True
        return False


def _lists(found: Assignment) -> Iterator[list[tuple[int, int, str, str]]]:
    """Two numbered lists that are paired, such as `norms.0…` and `layers.0…norm`: rows of the right and the left number
    and name, by the right number."""
    lists: dict[tuple[str, str], list[tuple[int, int, str, str]]] = defaultdict(list)
    for right, left in found.items():
        (yours, j), (mine, i) = numbered(right), numbered(left)
        lists[mine, yours].append((j, i, right, left))
    yield from (sorted(rows) for rows in lists.values() if len(rows) > 1)


def numbered(name: str) -> tuple[str, int]:
    """A name's pattern, its first number left out, and that number: `layers.#.norm` and 3; -1 where there is none."""
    found = re.search(r"(?<=\.)\d+(?=\.|$)", name) or re.search(r"\d+", name)
    if found is None:
        return name, -1
    return f"{name[: found.start()]}#{name[found.end():]}", int(found.group())


def likeness(mine: Use, yours: Use) -> float:
    """The share of values that two uses have in common."""
    return len(mine & yours) / len(mine | yours) if mine and yours else 0.0


class Modules:
    """Modules of the two sides that correspond: those that hold the same weights, as far as values identify these."""

    def __init__(self, anchors: Mapping[str, tuple[str, ...]]) -> None:
        rights, lefts = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        partial = defaultdict[str, set[str]](set)
        for right, partners in anchors.items():
            for module in within(right):
                rights[module].add(right)
            reached = Counter(module for partner in dict.fromkeys(partners) for module in within(partner))
            for module, times in reached.items():
                (lefts if times == len(set(partners)) else partial)[module].add(right)
        highest = {frozenset(held): module for module, held in sorted(rights.items(), key=_lowest_first)}
        self._left: dict[str, int] = {}
        self._right: dict[str, int] = {}
        for module, held in sorted(lefts.items(), key=_lowest_first):
            other = highest.get(frozenset(held))
            if other is not None and module not in partial and module and other:
                number = list(highest.values()).index(other)
                self._left = {name: n for name, n in self._left.items() if n != number} | {module: number}
                self._right[other] = number

    def of_left(self, name: str) -> frozenset[int]:
        """The corresponding modules that a left tensor lies in, by number."""
        return frozenset(self._left[module] for module in within(name) if module in self._left)

    def of_right(self, name: str) -> frozenset[int]:
        """The corresponding modules that a right tensor lies in, by number."""
        return frozenset(self._right[module] for module in within(name) if module in self._right)


def _lowest_first(row: tuple[str, set[str]]) -> int:
    return -row[0].count(".") - bool(row[0])


def within(name: str) -> Iterator[str]:
    """The modules that a tensor lies in, from the root on."""
    yield ""
    for dot in re.finditer(r"\.", name):
        yield name[: dot.start()]


# ------------------------------------------------------------------------------------------------------------- by use


def uses(graph: Graph, values: Mapping[str, Value], names: Collection[str]) -> dict[str, Use]:
    """What a program computes soon after it reads each of these sources, as values that do not depend on how they are
    arranged. `values` are those of one run."""
    readers: dict[Node, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        for part in dict.fromkeys(node.inputs):
            readers[part].append(node)
    return {node.name: _use(node, readers, values) for node in graph.nodes if node.name in names}


def _use(source: Node, readers: Mapping[Node, Sequence[Node]], values: Mapping[str, Value]) -> Use:
    found: dict[tuple[int, str], None] = {}
    here: dict[Node, None] = {source: None}
    for _ in range(_STEPS):
        here = {reader: None for node in here for reader in readers.get(node, ())}
        for node in here:
            value = values.get(node.name)
            if isinstance(value, torch.Tensor) and is_telling(value) and len(found) < _TELLING:
                found[value.numel(), f"{moment(value):.{_DIGITS}g}"] = None
    return frozenset(found)
