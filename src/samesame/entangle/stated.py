"""Stated relations, turned round: from "this sequential tensor is put together so" to "this tensor of a rank is that
piece".

A statement is an expression over ranks' tensors: a concatenation, a slice, a tensor. Walking down it, every tensor at
the bottom turns out to be a region of the sequential tensor. If two statements give one element of a rank's tensor two
regions, they contradict each other, or the sequential tensor has two equal parts, which nobody said; if an element has
none, it could hold anything. Both are refused, with the tensor's name. Sizes are tied on the way: a slice from 768 to
896 says what its tensor's dimension is made of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from samesame.entangle.roles import Made
from samesame.entangle.shapes import Mismatch
from samesame.entangle.shrink import Shaped
from samesame.evidence import Refused
from samesame.formula.tensor import Dim
from samesame.graph import Node
from samesame.relate.layout import Concat, Layout, Slice, Whole

Box = tuple[tuple[Made, Made], ...]                        # for each dimension, where a part starts and stops


@dataclass(frozen=True, slots=True)
class Expression:
    """`op` is tensor, concat or slice. A tensor has a side (S, D0, D1, …) and a name."""

    op: str
    side: str = ""
    name: str = ""
    args: tuple[Expression, ...] = ()
    dim: int = 0
    start: int = 0
    stop: int = 0

    @property
    def is_leaf(self) -> bool:
        return self.op == "tensor"

    @classmethod
    def read(cls, given: Any, where: str) -> Expression:
        """From JSON. Raises Refused for what is none."""
        if isinstance(given, dict) and isinstance(given.get("id"), str) and isinstance(given.get("t"), str):
            return cls("tensor", given["t"], given["id"])
        op = given.get("op") if isinstance(given, dict) else None
        numbers = [given.get(key, 0) for key in ("dim", "start", "end")] if isinstance(given, dict) else []
        args = given.get("args") if isinstance(given, dict) else None
        if op not in ("concat", "slice") or not args or not isinstance(args, list):
            raise Refused(f"{where}: {given!s:.80} is no tensor, concat or slice of tensors, as relations are")
        if not all(type(n) is int for n in numbers) or (op == "slice" and len(args) != 1):
            raise Refused(f"{where}: {given!s:.80} lacks a dimension or bounds")
        return cls(op, "", "", tuple(cls.read(part, where) for part in args), *numbers)


def leaves(e: Expression) -> Iterator[Expression]:
    """The tensors of an expression, from left to right."""
    if e.is_leaf:
        yield e
    for part in e.args:
        yield from leaves(part)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a rank's tensor that is a region of a sequential one."""

    box: Box
    whole: Node
    region: Box


@dataclass(frozen=True, slots=True)
class Placed:
    """A rank's tensor as sequential ones make it: parts behind each other along `dim`, or one part and no `dim`."""

    rank: int
    tensor: Node
    parts: tuple[Part, ...]
    dim: int | None


class Stated:
    """Statements about the tensors of some graphs, the sequential program's first. `aliases` gives each side's names in
    its file the names of nodes; `where` is the file that states."""

    def __init__(self, sizes: Shaped, aliases: Sequence[Mapping[str, str]], where: str) -> None:
        self.sizes, self.roles, self.aliases, self.where = sizes, sizes.roles, aliases, where
        self.nodes = [{node.name: node for node in graph.nodes} for graph in sizes.graphs]
        self.parts: dict[str, dict[tuple[int, Node], list[Part]]] = {"inputs": {}, "expected": {}}
        self.equals: list[list[tuple[int, Node, Box]]] = []

    def node(self, side: int, name: str) -> Node | None:
        """The node of this name in the file, if an output needs it."""
        return self.nodes[side].get(self.aliases[side].get(name, ""))

    def is_input(self, side: int, name: str) -> bool:
        found = self.node(side, name)
        return found is not None and found.is_source

    # ------------------------------------------------------------------------------------------------------ statements

    def state(self, name: str, e: Expression, where: str = "inputs") -> None:
        """The sequential tensor of this name is this expression."""
        whole = self.node(0, name)
        assert whole is not None, name
        for leaf in leaves(e):
            if self._leaf(leaf) is None or (where == "inputs" and not self._leaf(leaf).is_source):    # type: ignore[union-attr]
                raise Refused(f"{self.where} relates {name} to {leaf.name} of {leaf.side}, which is no input there")
        shape, wanted = self._shape(e), self.sizes.shapes[whole]
        numbers = [tuple(map(self.roles.value, s)) for s in (shape, wanted)]
        if numbers[0] != numbers[1]:
            raise Refused(
                f"{self.where} says that {name}, of shape {list(numbers[1])}, is {described(e)}, "
                f"of shape {list(numbers[0])}"
            )
        for a, b in zip(shape, wanted, strict=True):
            self.roles.same(a, b)
        region = tuple((0, size) for size in wanted)
        for rank, node, part in self._parts(e, whole, region):
            self.parts[where].setdefault((rank, node), []).append(part)

    def by_shape(self, name: str, names: Sequence[str]) -> bool:
        """Relate a sequential tensor to one of each rank by their shapes: the same, or cut along the one dimension in
        which they differ. Says whether it can be."""
        whole = self.node(0, name)
        tensors = [self.node(k + 1, other) for k, other in enumerate(names)]
        if whole is None or any(t is None for t in tensors):
            return False
        sides = [Expression("tensor", f"D{k}", other) for k, other in enumerate(names)]
        shapes = [t.shape for t in tensors if t is not None]
        where = "inputs" if whole.is_source else "expected"
        if all(shape == whole.shape for shape in shapes):
            for e in sides:
                self.state(name, e, where)
            return True
        if any(len(shape) != len(whole.shape) for shape in shapes):
            return False
        for d, n in enumerate(whole.shape):
            others = {(*shape[:d], *shape[d + 1 :]) for shape in shapes}
            if others == {(*whole.shape[:d], *whole.shape[d + 1 :])} and sum(shape[d] for shape in shapes) == n:
                self.state(name, Expression("concat", args=tuple(sides), dim=d), where)
                return True
        return False

    def equal(self, group: Sequence[Expression]) -> None:
        """Parts of ranks' tensors that hold the same."""
        if len(group) > 1:
            self.equals.append([self._box(e) for e in group])

    def missing(self) -> list[tuple[str, list[int]]]:
        """Inputs of ranks of which nothing is stated, by name, with the ranks. Raises Refused where what is stated of
        others does not hold together."""
        found: dict[str, list[int]] = defaultdict(list)
        told = {placed.tensor for placed in self.inputs()}
        for rank, graph in enumerate(self.sizes.graphs[1:]):
            for node in graph.sources("input"):
                if node not in told:
                    found[node.name].append(rank)
        return list(found.items())

    # ----------------------------------------------------------------------------------------------------- expressions

    def _leaf(self, e: Expression) -> Node | None:
        return self.node(self._side(e), e.name)

    def _side(self, e: Expression) -> int:
        number = int(e.side[1:]) + 1 if e.side[:1] == "D" and e.side[1:].isdigit() else 0
        if not 0 < number < len(self.nodes):
            last = len(self.nodes) - 2
            raise Refused(f"{self.where} speaks of {e.name} of {e.side!r}, and relations are over D0 to D{last}")
        return number

    def _shape(self, e: Expression) -> list[Made]:
        if e.is_leaf:
            node = self._leaf(e)
            assert node is not None
            return list(self.sizes.shapes[node])
        shapes = [self._shape(part) for part in e.args]
        if not all(len(shape) == len(shapes[0]) for shape in shapes) or not 0 <= e.dim < len(shapes[0]):
            raise Refused(f"{self.where}: {described(e)} puts tensors together that do not fit")
        first = shapes[0]
        if e.op == "slice":
            start, stop = self._bounds(e)
            first[e.dim] = self._between(e, start, stop)
            return first
        for shape in shapes[1:]:
            for a, b in ((a, b) for d, (a, b) in enumerate(zip(first, shape, strict=True)) if d != e.dim):
                try:
                    self.roles.same(a, b)
                except Mismatch as error:
                    raise Refused(f"{self.where}: {described(e)} does not fit together: {error}") from None
        for shape in shapes[1:]:                           # even shards stay even
            if self.roles.value(shape[e.dim]) == self.roles.value(shapes[0][e.dim]):
                self.roles.same(shapes[0][e.dim], shape[e.dim])
        return [*first[: e.dim], self.roles.total([shape[e.dim] for shape in shapes]), *first[e.dim + 1 :]]

    def _bounds(self, e: Expression) -> tuple[int, int]:
        n = self.roles.value(self._shape(e.args[0])[e.dim])
        if not 0 <= e.start < e.stop <= n:
            raise Refused(f"{self.where}: {described(e)} is out of bounds: the dimension has {n} elements")
        return e.start, e.stop

    def _between(self, e: Expression, start: int, stop: int) -> Made:
        """The size of a piece of the dimension that an expression slices."""
        size = self._shape(e.args[0])[e.dim]
        bounds = sorted({0, start, stop, self.roles.value(size)})
        pieces = self.roles.cut(size, bounds)
        return self.roles.total([piece for (low, _), piece in zip(pairwise(bounds), pieces, strict=True)
                                 if start <= low < stop] or [0])

    def _parts(self, e: Expression, whole: Node, region: Box) -> Iterator[tuple[int, Node, Part]]:
        """The ranks' tensors of an expression that fills a region of a sequential tensor."""
        if e.op == "concat":
            at = region[e.dim][0]
            for part in e.args:
                stop = self.roles.total([at, self._shape(part)[e.dim]])
                yield from self._parts(part, whole, (*region[: e.dim], (at, stop), *region[e.dim + 1 :]))
                self.sizes.marks.append((stop, self._shape(e)[e.dim]))
                at = stop
            return
        rank, node, box = self._box(e)
        yield rank, node, Part(box, whole, region)

    def _box(self, e: Expression) -> tuple[int, Node, Box]:
        """A tensor of a rank, or a slice of one, as a box in that tensor."""
        if e.is_leaf:
            node = self._leaf(e)
            if node is None:
                raise Refused(f"{self.where} speaks of {e.name} of {e.side}, which is no input there")
            return self._side(e) - 1, node, tuple((0, size) for size in self.sizes.shapes[node])
        if e.op != "slice":
            raise Refused(f"{self.where}: {described(e)} is a concatenation inside of a slice, which is not supported")
        rank, node, box = self._box(e.args[0])
        start, stop = self._bounds(e)
        low = self.roles.total([box[e.dim][0], self._between(e, 0, start) if start else 0])
        high = self.roles.total([low, self._between(e, start, stop)])
        return rank, node, (*box[: e.dim], (low, high), *box[e.dim + 1 :])

    # ---------------------------------------------------------------------------------------------------- turned round

    def inputs(self) -> tuple[Placed, ...]:
        """Every input of a rank of which something is stated, as sequential inputs make it."""
        self._spread_equals()
        return tuple(self._placed(rank, node, parts) for (rank, node), parts in self.parts["inputs"].items())

    def outputs(self) -> tuple[Placed, ...]:
        """The same for what is expected of outputs."""
        return tuple(self._placed(rank, node, parts) for (rank, node), parts in self.parts["expected"].items())

    def _spread_equals(self) -> None:
        """What is equal to a placed part is placed there too."""
        for group in self.equals:
            known = [part for rank, node, box in group for part in self.parts["inputs"].get((rank, node), ())
                     if self._numbers(part.box) == self._numbers(box)]
            if not known:
                continue
            for rank, node, box in group:
                own = self.parts["inputs"].setdefault((rank, node), [])
                own.append(Part(box, known[0].whole, known[0].region))

    def _numbers(self, box: Box) -> tuple[tuple[int, int], ...]:
        return tuple((self.roles.value(start), self.roles.value(stop)) for start, stop in box)

    def _placed(self, rank: int, tensor: Node, parts: Sequence[Part]) -> Placed:
        title = f"{tensor.name} of rank {rank}"
        found: dict[tuple[tuple[int, int], ...], Part] = {}
        for part in parts:
            other = found.setdefault(self._numbers(part.box), part)
            if (other.whole, self._numbers(other.region)) != (part.whole, self._numbers(part.region)):
                raise Refused(
                    f"{self.where} contradicts itself about {title}: it is said to be {self._told(other)} and "
                    f"{self._told(part)}"
                )
        rows = sorted(found)
        cut = [d for d in range(len(tensor.shape)) if len({row[d] for row in rows}) > 1]
        if len(cut) > 1:
            raise Refused(f"{self.where} cuts {title} along several dimensions, which is not supported")
        for d, n in enumerate(tensor.shape):
            at = 0
            for start, stop in sorted({row[d] for row in rows}):
                if start < at:
                    told = " and ".join(self._told(found[row]) for row in rows)
                    raise Refused(f"{self.where} contradicts itself about {title}: its parts overlap: {told}")
                if start > at:
                    raise Refused(f"{self.where} says nothing of {at}:{start} along dimension {d} of {title}")
                at = stop
            if at < n:
                raise Refused(f"{self.where} says nothing of {at}:{n} along dimension {d} of {title}")
        return Placed(rank, tensor, tuple(found[row] for row in rows), cut[0] if cut else None)

    def _told(self, part: Part) -> str:
        box = ", ".join(f"{start}:{stop}" for start, stop in self._numbers(part.region))
        return f"{part.whole.name}[{box}]"


def described(e: Expression) -> str:
    """An expression as people write it."""
    if e.is_leaf:
        return f"{e.name} of {e.side}"
    inside = ", ".join(map(described, e.args))
    return f"concat({inside}; {e.dim})" if e.op == "concat" else f"slice({inside}; {e.dim}, {e.start}:{e.stop})"


def layout_of(placed: Placed, sizes: Shaped, size: Callable[[Made], Dim]) -> Layout:
    """The layout of a rank's tensor over sequential ones, with `size(made)` for each size."""
    pieces: list[Layout] = []
    for part in placed.parts:
        layout: Layout = Whole(part.whole.name)
        for d, ((start, stop), whole) in enumerate(zip(part.region, sizes.shapes[part.whole], strict=True)):
            low, high = size(start), size(stop)
            if (low, high) != (0, size(whole)):
                layout = Slice(layout, d, low, high)                                         # type: ignore[arg-type]
        pieces.append(layout)
    return pieces[0] if placed.dim is None else Concat(tuple(pieces), placed.dim)
