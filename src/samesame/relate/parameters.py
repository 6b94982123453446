"""The input relation: how the weights of the right program sit in those of the left, inferred from their values.

Both programs are expected to hold the same weights, packed differently: one matrix on the left may be three rows of
a fused matrix on the right, a transpose, a stack of experts, or the other way round. Every right weight is looked for
as a layout over left weights, simplest first. Values that occur once say which weight it is. Of weights that hold equal
numbers (fresh norms, fresh biases), names, places in the module tree and uses tell which is which (`pairing.py`), one
to one: each left weight is in one right weight, else the two would be equal for these numbers only. What has no partner
is named, and nothing general can be said about it.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations

import torch

from samesame.evidence import Reading
from samesame.operators.execute import pieces
from samesame.relate.arrangement import Arrangements
from samesame.relate.kinds import is_uniform, widened
from samesame.relate.layout import (
    Concat,
    Layout,
    Permute,
    Reshape,
    Scaled,
    Slice,
    Whole,
    permuted,
    renamed,
    reshaped,
    values,
    wholes,
    without_factors,
)
from samesame.relate.pairing import Clues, Group, Modules, Use, likeness, numbered

_MAX_PERMUTED_RANK = 4
_FEW = 64                   # elements that mostly tell tensors apart
_LARGEST_FACTOR = 1 << 20   # of the numerator and the denominator of a constant factor
NAME, PLACE, USE = "name", "place", "use"
Keys = Mapping[str, tuple[object, ...]]
Uses = Callable[[Collection[str], Collection[str]], tuple[Mapping[str, Use], Mapping[str, Use]]]


@dataclass(slots=True)
class InputRelation:
    """`layouts[right name]` over left names, and weights of either side without a partner. `how` says of right weights
    whose numbers do not tell what they are, what does: their name, their place or their use; `groups` has them with the
    left ones that they may be. `keys` tell by value which weights of either side are equal. `suspects` are stored
    tensors that may be roundings of what the other side computes, None before that was looked into; `refused` says of
    those that come near it that they are none."""

    layouts: dict[str, Layout] = field(default_factory=dict)
    unpaired_left: list[str] = field(default_factory=list)
    unpaired_right: list[str] = field(default_factory=list)
    how: dict[str, str] = field(default_factory=dict)
    keys: tuple[Keys, Keys] = field(default_factory=lambda: ({}, {}))
    groups: list[Group] = field(default_factory=list)
    suspects: frozenset[str] | None = None
    refused: list[Reading] = field(default_factory=list)

    @property
    def by_name(self) -> list[str]:
        """The right weights whose values did not tell what they are."""
        return list(self.how)


def relate_parameters(
    left: Mapping[str, torch.Tensor],
    right: Mapping[str, torch.Tensor],
    *,
    uses: Uses | None = None,
    kinds: tuple[Mapping[str, str], Mapping[str, str]] | None = None,
    shared: bool = True,
) -> InputRelation:
    """Find each right weight as a layout over left weights. Keys are names in order of first use; values any dtype.

    `uses` gives the uses of left and right weights, where it is asked for them; `kinds` their kinds of source. Where
    left weights are `shared`, a right one for which none is left takes one that another has taken, as ranks do.
    """
    return _Search(left, right, uses, kinds or ({}, {}), shared).relation()


class _Search:
    """One search. Right weights are settled in turn: those that values identify, namesakes, those whose module's other
    weights say where they are, groups of equal ones, and at last multiples."""

    def __init__(
        self,
        left: Mapping[str, torch.Tensor],
        right: Mapping[str, torch.Tensor],
        uses: Uses | None,
        kinds: tuple[Mapping[str, str], Mapping[str, str]],
        shared: bool,
    ) -> None:
        self.left, self.right, self.uses, self.kinds, self.shared = left, right, uses, kinds, shared
        contents = Contents()
        self.index = _Index(left, {name: contents.key(tensor) for name, tensor in left.items()})
        self.wide = Wide(right)
        self.keys = {name: contents.key(tensor) for name, tensor in right.items()}
        self.found = InputRelation(keys=(self.index.keys, self.keys))
        self.guesses: dict[str, Layout | None] = {}
        self.clues = Clues({}, Modules({}))
        self.users: dict[str, list[Layout]] = defaultdict(list)        # of a left weight: what right ones make of it

    def relation(self) -> InputRelation:
        waiting = self.identified()
        told = ((name, layout) for name, layout in self.found.layouts.items() if not is_uniform(self.right[name]))
        anchors = {name: wholes(layout) for name, layout in told}
        waiting = [name for name in waiting if not self.placed(name, anchors)]
        self.grouped(waiting, anchors)
        self.turned([name for name in waiting if name not in self.found.layouts])
        for name in self.right:
            if not (name in self.found.layouts or self.stacked(name) or self.multiple(name)):
                self.found.unpaired_right.append(name)
        used = {name for layout in self.found.layouts.values() for name in wholes(layout)}
        self.found.unpaired_left = [name for name in self.left if name not in used]
        self.found.layouts = {name: self.found.layouts[name] for name in self.right if name in self.found.layouts}
        self.found.groups = [group for group in self.groups() if max(len(group.lefts), len(group.rights)) > 1]
        return self.found

    def groups(self) -> Iterator[Group]:
        """Weights of equal shape and numbers on both sides."""
        rights: dict[tuple[object, ...], list[str]] = defaultdict(list)
        for name, key in self.keys.items():
            rights[key].append(name)
        for key, names in rights.items():
            if key in self.index.equal:
                yield Group(tuple(self.index.equal[key]), tuple(names), self.clues)

    def settle(self, name: str, layout: Layout, how: str = "") -> bool:
        self.found.layouts[name] = layout
        for part in dict.fromkeys(wholes(layout)):
            self.users[part].append(layout)
        if how:
            self.found.how[name] = how
        return True

    def free(self, layout: Layout) -> bool:
        """Is nothing that the layout takes in a right weight yet?"""
        pairs = ((name, other) for name in dict.fromkeys(wholes(layout)) for other in self.users.get(name, ()))
        return not any(bool((self.taken(layout, name) & self.taken(other, name)).any()) for name, other in pairs)

    def taken(self, layout: Layout, name: str) -> torch.Tensor:
        """Which elements of a left weight the layout takes, counted row by row, as a mask."""
        size = self.left[name].numel()

        def numbers(other: str) -> torch.Tensor:
            shape = self.left[other].shape
            return torch.arange(size).reshape(shape) if other == name else torch.full(shape, size)

        mask = torch.zeros(size + 1, dtype=torch.bool)
        mask[values(without_factors(layout), numbers).flatten()] = True
        return mask[:size]

    def identified(self) -> list[str]:
        """Settle what values identify; gives back the names of the rest, with those of which nothing was found."""
        rest = []
        often = Counter(self.keys.values())
        for name, tensor in sorted(self.right.items(), key=lambda item: -item[1].numel()):
            key = self.keys[name]
            equal = self.index.equal.get(key, [])
            layout = Whole(equal[0]) if equal else next(_layouts(widened(tensor), self.index), None)
            self.guesses[name] = layout
            clear = layout is not None and often[key] == 1 and all(map(self.alone, wholes(layout)))
            if layout is not None and clear and (self.may_share(name) or self.free(layout)):
                self.settle(name, layout)
            else:
                rest.append(name)
        return [name for name in self.right if name in rest]

    def may_share(self, name: str) -> bool:
        """May the right weight be made of what another is made of? A buffer that values identify may: a copy."""
        return self.shared or (self.kinds[1].get(name) == "constant" and not is_uniform(self.right[name]))

    def alone(self, left: str) -> bool:
        """Has no other left weight these numbers?"""
        return len(self.index.equal[self.index.keys[left]]) == 1

    def placed(self, name: str, anchors: Mapping[str, tuple[str, ...]]) -> bool:
        """Settle a weight that has a namesake of equal numbers, or one whose module's other weights say where it is:
        the bias of three fused projections is in the order in which the matrix is."""
        equal = self.index.equal.get(self.keys[name], [])
        if name in equal:
            return self.settle(name, Whole(name), NAME)
        module, _, word = name.rpartition(".")
        for sibling in anchors if module else ():
            if sibling.rpartition(".")[0] == module:
                layout = self.carried(sibling, word, self.right[name])
                if layout is not None and self.free(layout):
                    return self.settle(name, layout, PLACE)
        return False

    def carried(self, sibling: str, word: str, wanted: torch.Tensor) -> Layout | None:
        """The layout of a vector that lies along one dimension of a weight of its module, over the vectors that lie
        along that dimension in the modules which this weight is made of."""
        layout, tensor = self.found.layouts[sibling], self.right[sibling]
        if wanted.dim() != 1 or len(wanted) not in tensor.shape or isinstance(layout, Scaled):
            return None
        for axis, dim in ((a, d) for a in (0, 1) for d, size in enumerate(tensor.shape) if size == len(wanted)):
            rows = self.rows(layout, axis, dim, word)
            if rows is not None and torch.equal(values(rows, self.index.values.__getitem__), widened(wanted)):
                return rows
        return None

    def rows(self, layout: Layout, axis: int, dim: int, word: str) -> Layout | None:
        """For each place along `dim` of the weight: which place along `axis` of which left weight it is, and then the
        same places of the vectors beside these."""
        beside: list[str] = []
        numbers: dict[str, torch.Tensor] = {}
        for name in dict.fromkeys(wholes(layout)):
            value = self.left[name]
            vector = self.beside(name, word, value.shape[axis] if value.dim() > axis else 0)
            if vector is None:
                return None
            beside += [vector] * value.shape[axis]
            places = torch.arange(len(beside) - value.shape[axis], len(beside))
            numbers[name] = places.reshape([-1 if d == axis else 1 for d in range(value.dim())]).expand(value.shape)
        moved = values(layout, numbers.__getitem__).movedim(dim, 0)
        moved = moved.reshape(len(moved), -1)
        if not bool((moved == moved[:, :1]).all()):
            return None
        return _gathered([(beside[k], k - beside.index(beside[k])) for k in moved[:, 0].tolist()], self.left)

    def beside(self, name: str, word: str, size: int) -> str | None:
        """The vector of this size in the module of a left weight: the only one, or the one called `word`."""
        module = name.rpartition(".")[0]
        held = [other for other, value in self.left.items()
                if other != name and other.rpartition(".")[0] == module and tuple(value.shape) == (size,)]
        named = [other for other in held if other.rpartition(".")[2] == word]
        return named[0] if named else held[0] if len(held) == 1 else None

    # ------------------------------------------------------------------------------------------------- equal numbers

    def grouped(self, waiting: list[str], anchors: Mapping[str, tuple[str, ...]]) -> None:
        """Settle weights of equal numbers one to one, then those that have parts of equal numbers."""
        rights: dict[tuple[object, ...], list[str]] = defaultdict(list)
        for name in waiting:
            rights[self.keys[name]].append(name)
        groups = {key: ([name for name in self.index.equal[key] if name not in self.users], names)
                  for key, names in rights.items() if key in self.index.equal}
        uses: tuple[Mapping[str, Use], Mapping[str, Use]] = {}, {}
        decided = all(max(map(len, group)) == 1 for group in groups.values()) and len(groups) == len(rights)
        if self.uses is not None and not decided:
            uses = self.uses([name for name in self.left if name not in self.users], waiting)
        self.clues = Clues(anchors, Modules(anchors), uses, self.kinds)
        for key, (lefts, names) in groups.items():
            group = Group(tuple(lefts), tuple(names), self.clues)
            for right, left in group.assigned().items():
                place = self.clues.modules.of_right(right)
                self.settle(right, Whole(left), PLACE if place and place == self.clues.modules.of_left(left) else USE)
            for right in filter(self.may_share, names):
                if right not in self.found.layouts:
                    self.settle(right, Whole((lefts or self.index.equal[key])[-1]), USE)
        for name in sorted(waiting, key=numbered) if self.clues.in_order else waiting:
            if self.guesses[name] is None or self.keys[name] in self.index.equal:
                continue
            fitting = map(self.one_to_one, _layouts(self.wide[name], self.index))
            layout = next((found for found in fitting if self.may_share(name) or self.free(found)), None)
            if layout is not None:
                self.settle(name, layout, USE)

    def turned(self, waiting: list[str]) -> None:
        """Settle weights that hold one number throughout, and are of another shape than those on the left: transposed,
        perhaps."""
        groups: dict[tuple[object, ...], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        free = {name: value for name, value in self.left.items() if name not in self.users}
        for side, held in enumerate((free, {name: self.right[name] for name in waiting})):
            for name, value in held.items():
                if is_uniform(value):
                    sizes = sorted(size for size in value.shape if size != 1)
                    groups[widened(value.flatten()[:1]).dtype, value.flatten()[0].item(), *sizes][side].append(name)
        for lefts, rights in groups.values():
            for right, left in Group(tuple(lefts), tuple(rights), self.clues).assigned().items():
                self.settle(right, turned(left, self.left[left].shape, self.right[right].shape), USE)

    def one_to_one(self, layout: Layout) -> Layout:
        """The layout with weights that nothing has taken, in order of first use, in place of others that are equal."""
        names: list[str] = []
        for name in wholes(layout):
            equal = self.index.equal[self.index.keys[name]]
            free = [other for other in equal if other not in self.users and other not in names]
            module = names[-1].rpartition(".")[0] if names else ""
            free.sort(key=lambda other: -len(_common(other.split("."), module.split("."))))
            names.append(free[0] if free and (name in self.users or name in names or free[0] != name) else name)
        return renamed(layout, names)

    def stacked(self, name: str) -> bool:
        """Settle a weight that holds one number throughout and is a numbered list of left weights, stacked; or a member
        of a numbered list whose stack is on the left."""
        value = self.wide[name]
        if not is_uniform(value) or not value.dim():
            return False
        inside = tuple(value.shape[1:])
        for members in self.alike(name, self.lists(self.left)):
            parts = [self.index.values[member] for member in members]
            if [tuple(part.shape) for part in parts] == [inside] * len(value) and _same_numbers(parts, value):
                layouts = tuple(Reshape(Whole(member), (1, *inside)) for member in members)
                return self.settle(name, Concat(layouts, 0), USE)
        for members in self.lists(self.right):
            parts = [self.wide[member] for member in members]
            for (left,) in self.alike(name, [[n] for n in self.left]) if name in members else ():
                stack = self.index.values[left]
                fits = tuple(stack.shape) == (len(members), *value.shape) and left not in self.users
                if fits and _same_numbers([*parts, stack], value):
                    for k, member in enumerate(members):
                        self.settle(member, Reshape(Slice(Whole(left), 0, k, k + 1), tuple(value.shape)), USE)
                    return True
        return False

    def alike(self, name: str, lists: list[list[str]]) -> list[list[str]]:
        """Lists of left weights, those first whose uses are most like that of a right weight."""
        mine, yours = self.clues.uses
        use = yours.get(name, frozenset())

        def fitness(members: list[str]) -> float:
            return likeness(frozenset().union(*(mine.get(member, frozenset()) for member in members)), use)

        return sorted(lists, key=fitness, reverse=True)

    def lists(self, side: Mapping[str, torch.Tensor]) -> list[list[str]]:
        """Weights that are not settled and whose names differ in their first number only, in the order of it."""
        found: dict[str, dict[int, str]] = defaultdict(dict)
        for name in side:
            if name not in (self.users if side is self.left else self.found.layouts):
                pattern, number = numbered(name)
                found[pattern][number] = name
        return [[held[k] for k in sorted(held)] for held in found.values() if len(held) > 1]

    def multiple(self, name: str) -> bool:
        """Settle a weight that is exactly a constant times one of the left that nothing has taken."""
        layout = next(filter(self.free, _multiples(self.wide[name], self.index)), None)
        return layout is not None and self.settle(name, layout, USE if is_uniform(self.right[name]) else "")


def turned(name: str, mine: Sequence[int], yours: Sequence[int]) -> Layout:
    """A tensor of one shape as one of the other, which has the same sizes but for those that are one; its dimensions
    are moved only where they must be."""
    before, after = (tuple(size for size in shape if size != 1) for shape in (mine, yours))
    dims = next(order for order in permutations(range(len(before))) if tuple(before[d] for d in order) == after)
    inner = permuted(reshaped(Whole(name), tuple(mine), before), dims)
    return reshaped(inner, after, tuple(yours))


def repeats(held: Mapping[str, torch.Tensor], keys: Keys, missing: Collection[str]) -> dict[str, Layout | None]:
    """The weights of one side whose numbers say little: they hold one number throughout, or those of another weight.
    Of `missing` ones also those that are a part, a rearrangement or a multiple of others, with the layout that says
    so."""
    often = Counter(keys[name] for name in held)
    found: dict[str, Layout | None] = dict.fromkeys(
        name for name, tensor in held.items() if often[keys[name]] > 1 or is_uniform(tensor)
    )
    for name in set(missing) - set(found):
        others = _Index({other: tensor for other, tensor in held.items() if other != name}, keys)
        wide = widened(held[name])
        layout = next(_layouts(wide, others), None) or next(_multiples(wide, others), None)
        if layout is not None:
            found[name] = layout
    return found


def _multiples(value: torch.Tensor, index: _Index) -> Iterator[Layout]:
    """Exact multiples of one left weight."""
    for name in index.of_size(value):
        factor = _factor(index.values[name], value) if index.values[name].shape == value.shape else None
        if factor is not None:
            yield Scaled(Whole(name), factor)


def _common(mine: list[str], yours: list[str]) -> list[str]:
    same = [a == b for a, b in zip(mine, yours, strict=False)]
    return mine[: same.index(False)] if False in same else mine[: len(same)]


def _factor(mine: torch.Tensor, yours: torch.Tensor) -> Fraction | None:
    """The constant that the one is of the other, exactly; None where there is none or they are zero throughout."""
    if mine.dtype != torch.float64 or not bool(torch.isfinite(mine).all() & torch.isfinite(yours).all()):
        return None
    place = int(mine.abs().flatten().argmax()) if mine.numel() else 0
    if mine.numel() == 0 or not float(mine.flatten()[place]) or not float(yours.flatten()[place]):
        return None
    factor = Fraction(float(yours.flatten()[place])) / Fraction(float(mine.flatten()[place]))
    if max(abs(factor.numerator), factor.denominator) > _LARGEST_FACTOR or factor == 1:
        return None
    exact = torch.equal(mine * factor.numerator, yours * factor.denominator)
    return factor if exact else None


def _same_numbers(parts: Sequence[torch.Tensor], value: torch.Tensor) -> bool:
    """Does each part hold one number throughout, that of `value`?"""
    return all(is_uniform(p) and p.dtype == value.dtype and bool(p.flatten()[0] == value.flatten()[0]) for p in parts)


def _gathered(places: list[tuple[str, int]], held: Mapping[str, torch.Tensor]) -> Layout:
    """The vector of these elements, each given as a left vector and a position in it, in as few pieces as can be."""
    runs: list[tuple[str, int, int]] = []
    for name, at in places:
        if runs and runs[-1][0] == name and runs[-1][2] == at:
            runs[-1] = (name, runs[-1][1], at + 1)
        else:
            runs.append((name, at, at + 1))
    parts = tuple(
        Whole(name) if (start, stop) == (0, len(held[name])) else Slice(Whole(name), 0, start, stop)
        for name, start, stop in runs
    )
    return parts[0] if len(parts) == 1 else Concat(parts, 0)


def digest(tensor: torch.Tensor) -> tuple[object, ...]:
    """Equal for tensors of the same shape, kind and values, whatever their dtype."""
    plain = widened(tensor).resolve_conj()
    return (tuple(plain.shape), plain.dtype, hashlib.sha256(plain.numpy().tobytes()).digest())


class Contents:
    """Keys of what tensors hold: equal for those of the same shape, kind and values, whatever their dtype. What a few
    elements do not tell apart is compared bit by bit, unless it is one in memory."""

    def __init__(self) -> None:
        self._met: dict[tuple[object, ...], list[torch.Tensor]] = defaultdict(list)

    def key(self, tensor: torch.Tensor) -> tuple[object, ...]:
        few = widened(tensor.detach().flatten()[:: max(1, tensor.numel() // _FEW)]).resolve_conj()
        sample = tuple(tensor.shape), few.dtype, few.numpy().tobytes()
        alike = self._met[sample]
        number = next((k for k, other in enumerate(alike) if _holds_the_same(tensor, other)), len(alike))
        if number == len(alike):
            alike.append(tensor)
        return (*sample, number)


def _holds_the_same(mine: torch.Tensor, yours: torch.Tensor) -> bool:
    """Of two tensors of one shape and kind: has each the other's elements, to the bit?"""
    if mine.dtype == yours.dtype and mine.data_ptr() == yours.data_ptr() and mine.stride() == yours.stride():
        return mine.is_conj() == yours.is_conj() and mine.is_neg() == yours.is_neg()
    parts = zip(*(pieces(tensor.detach().resolve_conj().resolve_neg()) for tensor in (mine, yours)), strict=True)
    return all(torch.equal(*(widened(part).view(torch.uint8) for part in pair)) for pair in parts)


class Wide(Mapping[str, torch.Tensor]):
    """Tensors, each in the widest dtype of its kind when it is asked for."""

    def __init__(self, held: Mapping[str, torch.Tensor]) -> None:
        self._held = held

    def __getitem__(self, name: str) -> torch.Tensor:
        return widened(self._held[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)


class _Index:
    """Left parameters by value: whole tensors, and the places where a given first element occurs. A number of another
    kind is another number."""

    def __init__(self, left: Mapping[str, torch.Tensor], keys: Keys) -> None:
        self.held, self.values, self.keys = left, Wide(left), {name: keys[name] for name in left}
        self.equal: dict[tuple[object, ...], list[str]] = defaultdict(list)
        self.kinds: dict[torch.dtype, list[str]] = defaultdict(list)
        self.arrangements = Arrangements(left, self.kinds)
        self.by_size: dict[tuple[torch.dtype, int], list[str]] = defaultdict(list)
        self.by_first: dict[tuple[torch.dtype, complex], list[str]] = defaultdict(list)
        for name, tensor in left.items():
            first = widened(tensor.detach().flatten()[:1])
            self.equal[self.keys[name]].append(name)
            self.kinds[first.dtype].append(name)
            self.by_size[first.dtype, tensor.numel()].append(name)
            if tensor.numel():
                self.by_first[first.dtype, first[0].item()].append(name)

    def of_size(self, value: torch.Tensor) -> list[str]:
        """The parameters with as many numbers of the same kind."""
        return self.by_size.get((value.dtype, value.numel()), [])

    def of_kind(self, value: torch.Tensor) -> list[str]:
        """The parameters with numbers of the same kind."""
        return self.kinds.get(value.dtype, [])


def _layouts(value: torch.Tensor, index: _Index) -> Iterator[Layout]:
    """Layouts over left parameters with these values, the simplest kind first."""
    if value.numel() == 0 or is_uniform(value):
        return  # a constant tensor says nothing about where it came from
    yield from _rearranged(value, index)
    yield from _concatenated(value, index)
    yield from _stacked(value, index)
    yield from _sliced(value, index)
    yield from index.arrangements.of(value)


def _rearranged(value: torch.Tensor, index: _Index) -> Iterator[Layout]:
    """reshape(permute(one left parameter))."""
    for name in index.of_size(value):
        other = index.values[name]
        if other.dim() > _MAX_PERMUTED_RANK:
            continue
        for dims in permutations(range(other.dim())):
            moved = other.permute(dims)
            if torch.equal(moved.reshape(-1), value.reshape(-1)):
                yield reshaped(permuted(Whole(name), dims), tuple(moved.shape), tuple(value.shape))


def _concatenated(value: torch.Tensor, index: _Index) -> Iterator[Layout]:
    """concat of left parameters over one dimension, each as it is or transposed."""
    for dim in range(value.dim()):
        parts: list[Layout] = []
        offset = 0
        while offset < value.shape[dim]:
            step = _piece(value, dim, offset, index)
            if step is None:
                break
            part, length = step
            parts.append(part)
            offset += length
        if offset == value.shape[dim] and len(parts) > 1:
            yield Concat(tuple(parts), dim)


def _piece(value: torch.Tensor, dim: int, offset: int, index: _Index) -> tuple[Layout, int] | None:
    """A left parameter that makes up `value` from `offset` on, and its length over `dim`; the longest one."""
    rest = value.narrow(dim, offset, value.shape[dim] - offset)
    best: tuple[Layout, int] | None = None
    for name in index.by_first.get((rest.dtype, rest.flatten()[0].item()), ()):
        other = index.values[name]
        for dims in (tuple(range(other.dim())), (1, 0)) if other.dim() == 2 else (tuple(range(other.dim())),):
            moved = other.permute(dims)
            if moved.dim() != rest.dim() or moved.shape[dim] > rest.shape[dim]:
                continue
            length = moved.shape[dim]
            if torch.equal(moved, rest.narrow(dim, 0, length)) and (best is None or length > best[1]):
                best = (permuted(Whole(name), dims), length)
    return best


def _stacked(value: torch.Tensor, index: _Index) -> Iterator[Layout]:
    """A stack over dimension 0 of layouts over left parameters, such as experts; or one member of a left stack."""
    if value.dim() >= 2 and value.shape[0] > 1:
        parts = []
        for member in value:
            found = next(_rearranged(member, index), None) or next(_concatenated(member, index), None)
            if found is None:
                break
            parts.append(Reshape(found, (1, *member.shape)))
        else:
            yield Concat(tuple(parts), 0)
    for name in index.of_kind(value):
        shape = tuple(index.held[name].shape)
        if len(shape) == value.dim() + 1 and shape[1:] in (tuple(value.shape), tuple(value.shape[::-1])):
            for position, member in enumerate(index.values[name]):
                whole = Reshape(Slice(Whole(name), 0, position, position + 1), tuple(member.shape))
                if member.shape == value.shape and torch.equal(member, value):
                    yield whole
                elif member.dim() == 2 and torch.equal(member.T, value):
                    yield Permute(whole, (1, 0))


def _sliced(value: torch.Tensor, index: _Index) -> Iterator[Layout]:
    """A slice of one left parameter over one dimension, as it is or transposed."""
    first = value.flatten()[0]
    for name in index.of_kind(value):
        if index.held[name].dim() != value.dim() or index.held[name].numel() <= value.numel():
            continue
        other = index.values[name]
        for dims in ((0, 1), (1, 0)) if other.dim() == 2 else (tuple(range(other.dim())),):
            moved = other.permute(dims)
            for dim in range(moved.dim()):
                if moved.shape[dim] <= value.shape[dim]:
                    continue
                if any(a != b for d, (a, b) in enumerate(zip(moved.shape, value.shape, strict=True)) if d != dim):
                    continue
                edge = moved.select(dim, 0) if moved.dim() == 1 else moved.movedim(dim, 0).flatten(1)[:, 0]
                heads = moved if moved.dim() == 1 else edge
                for start in torch.nonzero(heads == first).flatten().tolist():
                    stop = start + value.shape[dim]
                    if stop <= moved.shape[dim] and torch.equal(moved.narrow(dim, start, stop - start), value):
                        yield Slice(permuted(Whole(name), dims), dim, start, stop)
