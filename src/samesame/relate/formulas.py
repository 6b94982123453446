"""Formulas for a stored tensor: what the other program computes that it may be a rounding of.

A stored tensor is looked for, simplest first, as the other's own stored tensors in a coarser dtype, however they are
packed; as a tensor that the other program computes of its weights or of literals; as a multiple of a stored one, or
multiples of several side by side (`multiples.py`); and as the gain, matrix, kernel or shift of what the other program
makes of the same tensor (`affine.py`), where this one applies it. A number is looked for among those that the programs
write and their functions. Values of one run only propose; `stored.py` asks how far rounding may carry each formula, and
the proof is about the formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import combinations_with_replacement, islice, permutations, product
from typing import Any

import torch

from samesame.graph import Graph, Node, TensorType, map_nodes, nodes_in
from samesame.operators.execute import rerun
from samesame.operators.numbers import well_known
from samesame.relate.affine import TRANSPARENT, Affine, Weights, affine, bare
from samesame.relate.arrangement import Arrangements
from samesame.relate.buffers import content
from samesame.relate.channels import by_channels
from samesame.relate.joint import BIJECTIVE, FEW
from samesame.relate.kinds import is_uniform, widened
from samesame.relate.layout import Layout, build
from samesame.relate.multiples import Run, runs
from samesame.relate.parameters import relate_parameters
from samesame.relate.propose import difference
from samesame.relate.roundings import FUNCTIONS as POINTWISE
from samesame.relate.roundings import ONCE, packet, units

NEAR = 1e-2                 # of the largest magnitude: so near a formula's value must be to be looked at
_AFTER = 3                  # operators after the one that reads a stored tensor
_PLACES = 6                 # tensors of the other side that are near one of this side
_LARGEST = 1 << 24
_PAIRED = 200               # pairs of tensors that are added, subtracted and multiplied
_SAMPLED = 64               # elements that are compared before all are
_SHORT, _LONG = 4, 6        # digits of a decimal that is taken before functions of numbers, and after
COMBINED = {"+": "aten.add.Tensor", "·": "aten.mul.Tensor", "−": "aten.sub.Tensor", "÷": "aten.div.Tensor"}
EITHER_WAY = "+·"           # these give the same in either order
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "1/{}": lambda c: 1 / c,
    "√{}": math.sqrt,
    "1/√{}": lambda c: 1 / math.sqrt(c),
    "log({})": math.log,
    "-log({})": lambda c: -math.log(c),
    "exp({})": math.exp,
}


@dataclass(frozen=True, slots=True)
class Number:
    """A number that every element of a stored tensor is a rounding of, how it is said, and how many units in the last
    place it may be off by: half of one, or a whole one where it is a function of a number."""

    value: float
    words: str
    allowed: float = 0.5


@dataclass(frozen=True, slots=True)
class Numbers:
    """A number for each element of a stored tensor of few, in their order: a small filter, a mean for each channel."""

    numbers: tuple[Number, ...]

    @property
    def words(self) -> str:
        return ", ".join(dict.fromkeys(number.words for number in self.numbers))


def filled(numbers: Number | Numbers, shape: Sequence[int]) -> torch.Tensor:
    """The stored tensor with what its elements are read as."""
    if isinstance(numbers, Number):
        return torch.full(tuple(shape), numbers.value, dtype=torch.float64)
    return torch.tensor([n.value for n in numbers.numbers], dtype=torch.float64).reshape(tuple(shape))


class Near:
    """Tensors of a run by value, to within a hundredth."""

    def __init__(self, graph: Graph, values: Mapping[str, Any], extra: Sequence[Node] = ()) -> None:
        self.values = values
        self.by_size: dict[int, list[Node]] = {}
        for node in (*graph.nodes, *extra):
            value = values.get(node.name)
            if isinstance(value, torch.Tensor) and value.is_floating_point() and 1 < value.numel() <= _LARGEST:
                self.by_size.setdefault(value.numel(), []).append(node)

    def find(self, value: torch.Tensor) -> list[Node]:
        """The tensors of this shape and value, the nearest first."""
        alike = [node for node in self.by_size.get(value.numel(), ())
                 if node.shape == value.shape and is_near_in_places(self.values[node.name], value)]
        rows = [(difference(self.values[node.name], value), position, node) for position, node in enumerate(alike)]
        return [node for gap, _, node in sorted(rows, key=lambda row: row[:2]) if gap <= NEAR][:_PLACES]


def is_near_in_places(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Are the two near in a few places? Cheap, and wrong only by saying yes too often."""
    step = max(1, a.numel() // _SAMPLED)
    return difference(a.reshape(-1)[::step], b.reshape(-1)[::step]) <= 2 * NEAR


class Formulas:
    """Formulas over the weights of one side, `theirs`, for stored tensors of the other, `mine`."""

    def __init__(self, mine: Graph, theirs: Graph, runs: tuple[Mapping[str, Any], Mapping[str, Any]]) -> None:
        self.mine, self.theirs, self.values = mine, theirs, runs[0]
        self.weights = Weights.of(theirs, runs[1])
        self.own = Weights.of(mine, runs[0])
        norms = [inner for node in theirs.nodes if (inner := bare(node)) is not None]
        for inner in norms:
            self.weights.values[inner.name] = self.run(inner)
        self.near = Near(theirs, self.weights.values, norms)
        self.users: dict[Node, list[Node]] = {}
        for node in mine.nodes:
            for part in dict.fromkeys(node.inputs):
                self.users.setdefault(part, []).append(node)
        self.pieces: dict[Node, dict[int, tuple[int, Node]]] = {}
        self.layouts: dict[str, Layout] = {}
        self.pairs: dict[str, Node] = {}                 # what COMBINED makes of two of the other's tensors

    def run(self, node: Node) -> Any:
        return rerun(self.theirs, {}, self.weights.values, [node])[node.name]

    def of(self, node: Node) -> Iterator[Node]:
        """Formulas for a stored tensor, or what is only a movement of one; each a node over the weights. Of one that
        holds the same number everywhere only where it is applied says something."""
        value = self.values[node.name]
        if node.name in self.layouts:
            yield self.laid_out(self.layouts[node.name])
        if not is_uniform(value):
            yield from self.computed(value)
        if node.is_source and not is_uniform(value):
            yield from self.multiples(value)
            yield from self.side_by_side(value)
        if node.is_source:
            yield from self.looked_up(node)
            yield from self.applied(node)

    # --------------------------------------------------------------------------------------- what the other side holds

    def look_for(self, stored: Mapping[str, torch.Tensor]) -> None:
        """Find those that are the other's tensors, packed in whatever way, each number rounded."""
        held = {n.name: self.theirs.tensors[n.name] for k in ("parameter", "constant") for n in self.theirs.sources(k)}
        for dtype in {value.dtype for value in stored.values()}:
            narrow = {name: value.to(dtype) for name, value in held.items() if value.is_floating_point()}
            wanted = {name: value for name, value in stored.items() if value.dtype == dtype}
            self.layouts |= relate_parameters(narrow, wanted).layouts
            rest = {name: value for name, value in wanted.items() if name not in self.layouts}
            if rest:
                self.layouts |= self.composed(narrow, rest)

    def composed(self, held: Mapping[str, torch.Tensor], wanted: Mapping[str, torch.Tensor]) -> dict[str, Layout]:
        """Those that are packed of the other's tensors and of what COMBINED makes of two of these, some of them
        repeated: two biases in one, a scale times a zero point for each element of its group, a window times each row
        of a Fourier matrix, a norm's weight divided by the scales of channels."""
        mine = {content(value) for value in self.mine.tensors.values()}
        lone = [name for name, value in held.items() if not is_uniform(value) and content(value) not in mine]
        pairs = [(a, b) for a, b in permutations(lone, 2) if held[a].shape == held[b].shape]
        made = dict(held)
        for a, b in pairs[:_PAIRED]:
            for word, operator in COMBINED.items():
                if (word in EITHER_WAY and lone.index(a) > lone.index(b)) or (word == "÷" and not divides(held[b])):
                    continue
                self.pairs[f"{a} {word} {b}"] = self.weights.make(operator, self.theirs[a], self.theirs[b])
        for a, b, along in islice(_gains(lone, held), _PAIRED):
            shape = tuple(size if d == along else 1 for d, size in enumerate(held[a].shape))
            gain = self.weights.shaped(self.theirs[b], shape)
            for word in "·÷" if divides(held[b]) else "·":
                self.pairs[f"{a} {word} {b} along {along}"] = self.weights.make(COMBINED[word], self.theirs[a], gain)
        for words, node in self.pairs.items():
            made[words] = self.weights.value(node).to(held[words.split()[0]].dtype)
        every = Arrangements(made, {torch.float64: list(made)})
        layouts = ((name, next(every.of(widened(value), repeated=True), None)) for name, value in wanted.items())
        return {name: layout for name, layout in layouts if layout is not None}

    def laid_out(self, layout: Layout) -> Node:
        def make(operator: str, arguments: tuple[Any, ...]) -> Node:
            return self.weights.make(operator, *arguments)

        return build(layout, lambda name: self.pairs[name] if name in self.pairs else self.theirs[name], make)

    def computed(self, value: torch.Tensor) -> Iterator[Node]:
        """What the other computes of no input, as it is, transposed or reshaped."""
        for node in self.near.find(value):
            if node in self.weights.fixed:
                yield node
        if value.dim() == 2 and value.shape[0] != value.shape[1]:
            for node in self.near.find(value.T):
                if node in self.weights.fixed:
                    yield self.weights.make("aten.permute.default", node, (1, 0))
        for node in self.near.by_size.get(value.numel(), ()):
            other = node in self.weights.fixed and node.shape != value.shape
            if other and difference(self.weights.value(node).reshape(value.shape), value) <= NEAR:
                yield self.weights.shaped(node, tuple(value.shape))

    def multiples(self, value: torch.Tensor) -> Iterator[Node]:
        """A stored tensor times a number that the other program speaks of, or 1/√n of a size n in it, or two that it
        writes."""
        for kind in ("parameter", "constant"):
            for node in self.theirs.sources(kind):
                other = self.weights.values[node.name]
                if not other.is_floating_point() or other.shape != value.shape or other.numel() < 2:
                    continue
                step = max(1, value.numel() // _SAMPLED)
                some, few = other.reshape(-1)[::step], value.reshape(-1)[::step]
                if difference(some * float((some * few).sum() / (some * some).sum().clamp(min=1e-300)), few) > 1e-4:
                    continue
                factor = float((other * value).sum() / (other * other).sum().clamp(min=1e-300))
                if factor and factor != 1 and difference(other * factor, value) <= 1e-5:
                    for numbers in self.factors(factor):
                        yield reduce(partial(self.weights.make, "aten.mul.Tensor"), numbers, node)

    def side_by_side(self, value: torch.Tensor) -> Iterator[Node]:
        """Rows of the other's stored tensors, each run of them times a number that it speaks of; or columns, or rows
        as columns."""
        held = {node.name: self.weights.values[node.name] for kind in ("parameter", "constant")
                for node in self.theirs.sources(kind)}
        of_matrix = (False, True) if value.dim() == 2 else (False,)
        for turned, of_columns in product(of_matrix, of_matrix):
            wanted = value.T if turned else value
            found = runs(wanted, {name: _turned(other) for name, other in held.items()} if of_columns else held)
            parts = [self.part(run, of_columns) for run in found or ()]
            known = [part for part in parts if part is not None]
            if known and len(known) == len(parts):
                whole = self.weights.make("aten.cat.default", tuple(known), 0) if len(known) > 1 else known[0]
                whole = self.weights.shaped(whole, tuple(wanted.shape))
                yield self.weights.make("aten.permute.default", whole, (1, 0)) if turned else whole

    def part(self, run: Run, of_columns: bool) -> Node | None:
        """The rows of a run, or columns, times its number; None where the other program speaks of no such number."""
        numbers = () if run.factor == 1 else next(self.factors(run.factor), None)
        if numbers is None:
            return None
        node = self.theirs[run.name]
        if of_columns and len(node.shape) == 2:
            node = self.weights.make("aten.permute.default", node, (1, 0))
        wide = node.shape[-1:] if len(node.shape) > 1 else ()
        rows = self.weights.shaped(node, (math.prod(node.shape) // math.prod(wide), *wide))
        if run.stop - run.start < rows.shape[0]:
            rows = self.weights.make("aten.slice.Tensor", rows, 0, run.start, run.stop)
        return reduce(partial(self.weights.make, "aten.mul.Tensor"), numbers, rows)

    def factors(self, factor: float) -> Iterator[tuple[float, ...]]:
        """Numbers whose product is within a millionth of the factor, which is known that well: one, or two as they are
        written, for each of which the proof has its own."""
        sizes = {float(size) for node in self.theirs.nodes if isinstance(node.type, TensorType) for size in node.shape
                 if isinstance(size, int) and size > 1}
        for number in dict.fromkeys([*numbers_in(self.theirs), *sorted(sizes)]):
            for function in (float, *FUNCTIONS.values()):
                found = _or_none(function, number)
                if found and math.isclose(found, factor, rel_tol=1e-6):
                    yield (found,)
        written = [number for number in numbers_in(self.theirs) if number not in (0, 1)]
        yield from (pair for pair in combinations_with_replacement(written, 2)
                    if math.isclose(math.prod(pair), factor, rel_tol=1e-6))

    # -------------------------------------------------------------------------------------------- where it is looked up

    def looked_up(self, stored: Node) -> Iterator[Node]:
        """What the other program makes, element by element, of what it looks up in a table: the same of the table."""
        for reader in self.readers(stored):
            if _table(reader) is not stored:
                continue
            value = self.own.value(reader).reshape(-1)
            for node in self.near.by_size.get(value.numel(), ()):
                there = self.weights.value(node)
                if node in self.weights.fixed or difference(there.reshape(-1), value) > NEAR:
                    continue
                formula = self.of_tables(node)
                if formula is not None and formula.shape == stored.shape and self.is_near(formula, stored):
                    yield formula

    def is_near(self, formula: Node, stored: Node) -> bool:
        return difference(self.weights.value(formula), self.own.value(stored)) <= NEAR

    def of_tables(self, node: Node) -> Node | None:
        """What a node makes of what it looks up, made of the tables; None where it is not made element by element."""
        if node in self.weights.fixed:
            return node if math.prod(node.shape) == 1 else None
        table = _table(node)
        if table is not None:
            return table if table in self.weights.fixed else None
        made = {part: formula for part in node.inputs if (formula := self.of_tables(part)) is not None}
        if len(made) < len(set(node.inputs)) or not made or node.kwargs:
            return None
        if packet(node) in BIJECTIVE | TRANSPARENT:
            moved = made[node.inputs[0]]
            return moved if len(moved.shape) == 1 or packet(node) in TRANSPARENT else None
        if packet(node) not in ONCE | POINTWISE:
            return None
        return self.weights.make(node.operator, *map_nodes(made.__getitem__, node.args))

    # ---------------------------------------------------------------------------------------------- where it is applied

    def applied(self, stored: Node) -> Iterator[Node]:
        """The formula for a stored tensor from what the other program makes of the same tensor."""
        for anchor, target in self.uses(stored):
            targets = self.near.find(self.own.value(target))
            anchors = self.near.find(self.own.value(anchor)) if targets else []
            mine = affine(target, anchor, self.own) if anchors else None
            for there in targets if mine is not None else ():
                for other in anchors:
                    theirs = affine(there, other, self.weights)
                    if mine is not None and theirs is not None:
                        yield from self.solved(stored, mine, theirs)
        for anchor, target in self.uses(stored):
            mine = affine(target, anchor, self.own) if anchor in target.inputs else None
            if mine is not None:
                made, start = self.own.value(target), self.own.value(anchor)
                for theirs in by_channels(mine, made, start, self.weights):
                    yield from self.solved(stored, mine, theirs)

    def uses(self, stored: Node) -> Iterator[tuple[Node, Node]]:
        """Pairs of tensors that the program makes one of the other with the stored one."""
        for node in self.readers(stored):
            anchors = [part for part in node.inputs if part not in self.own.fixed]
            if len(anchors) != 1:
                continue
            waiting = [(node, 0)]
            found: list[Node] = []
            while waiting:
                target, far = waiting.pop(0)
                if isinstance(target.type, TensorType):
                    found.append(target)
                if far < _AFTER:
                    waiting += [(user, far + 1) for user in self.users.get(target, ())]
            starts = [anchors[0]]
            if packet(node) in ("aten.add", "aten.sub") and len(anchors[0].inputs) >= 1:
                starts += [part for part in anchors[0].inputs if part not in self.own.fixed]    # x·scale + shift
            for start in starts:
                yield from ((start, target) for target in found)

    def readers(self, stored: Node) -> Iterator[Node]:
        """The first operators on inputs that read a tensor or what is made of it."""
        waiting = [stored]
        while waiting:
            for user in self.users.get(waiting.pop(), ()):
                if user in self.own.fixed:
                    waiting.append(user)
                else:
                    yield user

    def solved(self, stored: Node, mine: Affine, theirs: Affine) -> Iterator[Node]:
        """What the stored tensor must be for the two to be one map and one shift."""
        if mine.kind != theirs.kind or mine.settings != theirs.settings:
            return
        for own, other in ((mine.map, theirs.map), (mine.shift, theirs.shift)):
            if own is not None and other is not None and stored in _sources(own):
                yield from self.solve(stored, own, other)

    def solve(self, stored: Node, own: Node, other: Node) -> Iterator[Node]:
        """own(stored) = other, where `own` only moves elements."""
        weights = self.weights
        while own is not stored:
            name = packet(own)
            if name in BIJECTIVE and len(own.inputs) == 1:
                inner = own.inputs[0]
                if name in ("aten.permute", "aten.t", "aten.transpose"):
                    other = weights.make("aten.permute.default", other, _back(own))
                else:
                    other = weights.shaped(other, inner.shape)
                own = inner
            elif name == "aten._to_copy":
                own = own.inputs[0]
            elif (piece := _piece(own, stored)) is not None:
                yield from self.joined(stored, *piece, other)
                return
            else:
                return
        if other.shape != stored.shape:
            size = math.prod(other.shape)
            if size == math.prod(stored.shape):
                other = weights.shaped(other, stored.shape)
            elif size == 1:
                other = weights.make("aten.expand.default", weights.shaped(other, ()), stored.shape)
            else:
                return
        yield other

    def joined(self, stored: Node, start: int, stop: int, piece: Node) -> Iterator[Node]:
        """The formula from those of its pieces over the first dimension, once these are all known."""
        shape = (stop - start, *stored.shape[1:])
        if piece.shape not in (shape, shape[1:]):
            return
        piece = self.weights.shaped(piece, shape)
        pieces = self.pieces.setdefault(stored, {})
        pieces.setdefault(start, (stop, piece))
        parts, at = list[Node](), 0
        while at in pieces:
            at, part = pieces[at]
            parts.append(part)
        if at == stored.shape[0] and len(parts) > 1:
            yield self.weights.make("aten.cat.default", tuple(parts), 0)

    # -------------------------------------------------------------------------------------------------------- numbers

    def numbers(self, value: float, dtype: torch.dtype) -> Iterator[Number]:
        """Numbers that a stored number may be a rounding of: those that the programs write, the other's first; short
        decimals and well-known ones; functions of those that the programs write. That this program keeps the number
        itself says nothing."""
        own = (number for number in numbers_in(self.mine) if number != value)
        written = list(dict.fromkeys([*numbers_in(self.theirs), *own]))
        yield from (Number(number, f"{number!r}") for number in written if rounded(number, dtype) == value)
        yield from _decimals(value, dtype, _SHORT)
        yield from (Number(known, words) for known, words in well_known(value) if rounded(known, dtype) == value)
        for number in written:
            for words, function in FUNCTIONS.items():
                found = _or_none(function, number)
                if found is not None and within_a_unit(found, value, dtype):
                    yield Number(found, words.format(f"{number!r}"), 1.0)
        yield from _decimals(value, dtype, _LONG)

    def each(self, value: torch.Tensor) -> Numbers | None:
        """A number for every element of a tensor of few; None where one of them is near none, or all are stored."""
        if value.numel() > FEW or not bool(torch.isfinite(value).all()):
            return None
        known: dict[float, Number] = {}
        for own in dict.fromkeys(value.flatten().tolist()):
            found = next(self.numbers(own, value.dtype), None) or self.opposite(own, value.dtype)
            if found is None:
                return None
            known[own] = found
        if all(number.value == own for own, number in known.items()):
            return None
        return Numbers(tuple(known[own] for own in value.flatten().tolist()))

    def opposite(self, value: float, dtype: torch.dtype) -> Number | None:
        """The number that −value may be a rounding of, with its sign turned."""
        found = next(self.numbers(-value, dtype), None)
        return None if found is None else Number(-found.value, f"-{found.words}", found.allowed)

    def plainer(self, value: float) -> Iterator[Number]:
        """Numbers near one that was worked out in float64: written ones and well-known ones."""
        written = dict.fromkeys([*numbers_in(self.theirs), *numbers_in(self.mine)])
        yield from (Number(number, f"{number!r}") for number in written)
        for number in written:
            found = ((function, words) for words, function in FUNCTIONS.items())
            yield from (Number(made, words.format(f"{number!r}")) for function, words in found
                        if (made := _or_none(function, number)) is not None)
        yield from (Number(known, words) for known, words in well_known(value))


    def held(self) -> Iterator[Number]:
        """The numbers that the other program keeps in tensors."""
        for node in self.theirs.sources("constant"):
            value = self.theirs.tensors[node.name]
            if value.is_floating_point() and is_uniform(value):
                yield Number(float(value.flatten()[0]), node.origin.parameter or str(node.origin))


def divides(value: torch.Tensor) -> bool:
    """Is every element a number that one can divide by?"""
    return bool((value != 0).all())


def _turned(value: torch.Tensor) -> torch.Tensor:
    return value.T if value.dim() == 2 else value


def _gains(names: Sequence[str], held: Mapping[str, torch.Tensor]) -> Iterator[tuple[str, str, int]]:
    """Tensors, vectors, and the dimensions along which the one may have been scaled by the other."""
    for a, b in permutations(names, 2):
        if held[b].dim() == 1 and held[a].dim() > 1:
            yield from ((a, b, along) for along, size in enumerate(held[a].shape) if size == len(held[b]))


def _table(node: Node) -> Node | None:
    """The tensor whose rows are looked up by the first dimension, if that is all that a node does."""
    name = packet(node)
    if name == "aten.embedding" or (name == "aten.index_select" and node.args[1] == 0):
        found: Node = node.args[0]
        return found
    if name == "aten.index" and len(node.args[1]) == 1:
        found = node.args[0]
        return found
    return None


def _piece(node: Node, stored: Node) -> tuple[int, int] | None:
    """The entries start … stop − 1 over the first dimension of the stored tensor, if that is all that a node is."""
    name, args = packet(node), node.args
    if name == "getitem" and packet(args[0]) == "aten.unbind":
        name, args = "aten.select", (args[0].args[0], *(args[0].args[1:] or (0,)), args[1])
    if name not in ("aten.select", "aten.slice") or args[0] is not stored or args[1] != 0:
        return None
    if name == "aten.slice":
        return args[2], args[3]
    return args[2] % stored.shape[0], args[2] % stored.shape[0] + 1


def _decimals(value: float, dtype: torch.dtype, digits: int) -> Iterator[Number]:
    """The shortest decimal of so many digits at the most that the dtype holds as this value."""
    for count in range(1, digits + 1):
        decimal = float(f"{value:.{count}g}")
        if rounded(decimal, dtype) == value:
            yield Number(decimal, f"{decimal!r}")
            return


def within_a_unit(meant: float, value: float, dtype: torch.dtype) -> bool:
    number = torch.tensor(meant, dtype=torch.float64)
    return abs(meant - value) <= float(units(number, dtype))


def rounded(value: float, dtype: torch.dtype) -> float:
    """The number as a dtype holds it."""
    return float(torch.tensor(value, dtype=torch.float64).to(dtype))


def numbers_in(graph: Graph) -> Iterator[float]:
    """The numbers that a program writes, each once, as absolute values and as they are."""
    found: dict[float, None] = {}
    for node in graph.nodes:
        for argument in (*node.args, *node.kwargs.values()):
            if isinstance(argument, int | float) and not isinstance(argument, bool) and math.isfinite(argument):
                found[float(argument)] = None
    for node in graph.sources("constant"):
        value = graph.tensors[node.name]
        if value.numel() == 1 and value.dtype in (torch.float64, torch.int64) and math.isfinite(float(value)):
            found[float(value)] = None
    yield from found


def _or_none(function: Callable[[float], float], number: float) -> float | None:
    try:
        return function(number)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


def _sources(node: Node) -> set[Node]:
    found: set[Node] = set()
    stack = [node]
    while stack:
        part = stack.pop()
        if part not in found:
            found.add(part)
            stack += nodes_in((part.args, tuple(part.kwargs.values())))
    return found


def _back(node: Node) -> tuple[int, ...]:
    """The permutation that undoes a permuting operator."""
    rank = len(node.shape)
    order = list(range(rank))
    if packet(node) == "aten.permute":
        order = [d % rank for d in node.args[1]]
    else:
        a, b = (0, 1) if packet(node) == "aten.t" else (node.args[1] % rank, node.args[2] % rank)
        order[a], order[b] = order[b], order[a]
    return tuple(order.index(d) for d in range(rank))
