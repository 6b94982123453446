"""Shrink: captured graphs of large fixed sizes, over size symbols, and with small sizes to run them.

Graphs that another tool captured hold sizes such as 98,304 in the types of their nodes and among the arguments: in
views, slices and comparisons of token numbers. The shape rules, read over roles, find out what each of them is made of
(`Shaped`). From that, the same graphs are written over size symbols, of which the captured ones are one member and
which can be proved for all, or with small sizes, a different one for each role, so that values tell roles apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any

from samesame.capture.sizes.family import NAMES
from samesame.entangle.roles import Made, Product, Role, Roles, Sum
from samesame.entangle.shapes import Call, Mismatch, Path, rule_of
from samesame.evidence import Refused
from samesame.formula.expr import Size, add, mul
from samesame.formula.sizes import canonical
from samesame.formula.tensor import Dim
from samesame.graph import Graph, Node, NodeType, TensorType, map_nodes
from samesame.operators.table import packet

Shape = tuple[Made, ...]
LEAST = 2                                                  # 0 and 1 broadcast and vanish: other programs
MEMORY = 2 << 30                                           # bytes that all values of both sides may take, in float64
MOST = 40                                                  # how far a small size may go to be like no other


class Shaped:
    """What every size of some graphs is made of. Sources are known at once, other nodes after `spread`."""

    def __init__(self, graphs: Sequence[Graph]) -> None:
        self.graphs, self.roles = tuple(graphs), Roles()
        self.shapes: dict[Node, Any] = {}                  # a shape, or a list of shapes
        self.told: dict[Node, dict[Path, Made]] = {}       # sizes among the arguments
        self.stays: dict[int, str] = {}                    # large sizes that nothing less fits for, and where
        self.marks: list[tuple[Made, Made]] = []           # where a relation cuts a dimension, and the dimension
        self.bounds: dict[Node, Made] = {}                 # of integer tensors: the size of the table they point into
        for graph in graphs:
            for node in graph.nodes:
                if node.is_source:
                    self.shapes[node] = tuple(map(self.roles.fresh, node.shape))

    def spread(self) -> None:
        """Find the sizes of all nodes, graph by graph. Raises Refused, with the node, where sizes do not fit."""
        for graph in self.graphs:
            for node in graph.nodes:
                if not node.is_source:
                    before = len(self.roles.kept)
                    self._node(graph, node)
                    for size in self.roles.kept[before:]:
                        self.stays.setdefault(size, f"{node.name} ({node.operator}) of {graph.name}")
        self._meet()
        for graph in self.graphs:
            self._average(graph)
            _Pointing(self, graph).spread()

    def _average(self, graph: Graph) -> None:
        """A sum that is divided by the number of its terms is an average, of however many terms there are."""
        counts: dict[Node, tuple[Made, ...]] = {}
        for node in graph.nodes:
            if packet(node.operator) == "aten.sum" and isinstance(node.args[0], Node):
                dims = node.args[1] if len(node.args) > 1 else None
                whole = self.shapes[node.args[0]]
                counts[node] = whole if not dims else tuple(whole[d] for d in dims)
            elif packet(node.operator) in ("aten.view", "aten.mul", "aten.neg", "collective.all_reduce"):
                counts.update((node, counts[part]) for part in node.inputs[:1] if part in counts)
            elif packet(node.operator) == "aten.div" and node.args[0] in counts and type(node.args[1]) is int:
                count = self.roles.product(counts[node.args[0]])
                if self.roles.value(count) == node.args[1] > 1:
                    self.told.setdefault(node, {})[(1,)] = count

    def _meet(self) -> None:
        """What ranks tell each other about a collective is the same on all of them: the n-th of a group on one rank is
        the n-th of that group on any other."""
        rows: dict[tuple[int, ...], list[list[Node]]] = defaultdict(list)
        for graph in self.graphs:
            own: dict[tuple[int, ...], list[Node]] = defaultdict(list)
            for node in graph.nodes:
                if node.operator.startswith("collective.") and "group" in node.kwargs:
                    own[node.kwargs["group"]].append(node)
            for group, calls in own.items():
                rows[group].append(calls)
        for ranks in rows.values():
            for first, *others in zip(*ranks, strict=False):
                for other in others:
                    self._agree(first, other)

    def _agree(self, one: Node, other: Node) -> None:
        mine, yours = self.told.get(one, {}), self.told.get(other, {})
        try:
            for path in mine.keys() & yours.keys():
                self.roles.same(mine[path], yours[path])
            if one.operator == other.operator in ALIKE:
                own = one.kwargs["dim"] if one.operator == "collective.reduce_scatter" else None
                for d, (a, b) in enumerate(zip(self.shapes[one], self.shapes[other], strict=True)):
                    if d != own:                           # each rank has a piece of its own along it
                        self.roles.same(a, b)
        except (Mismatch, ValueError) as error:
            raise Refused(f"ranks disagree about the sizes of {one.name}: {error}") from error

    def _node(self, graph: Graph, node: Node) -> None:
        if node.operator == "getitem":
            self.shapes[node] = self.shapes[node.args[0]][node.args[1]]
            return
        rule = rule_of(node.operator)
        if rule is None:
            self._fixed(node)
            return
        call = Call(self.roles, node, self.shapes.__getitem__)
        try:
            self.shapes[node] = rule(call)
            for told, noted in zip(_shapes(self.shapes[node]), _types(node.type), strict=True):
                if tuple(map(self.roles.value, told)) != noted.shape:
                    raise Mismatch(f"its type is {noted}")
        except (Mismatch, ValueError, IndexError) as error:
            raise Refused(f"{graph.name}: the sizes of {node.name} ({node.operator}) do not fit: {error}") from error
        self.told[node] = call.told

    def _fixed(self, node: Node) -> None:
        """An operator whose rule is not known keeps its sizes, and those of what it reads."""
        for part in node.inputs:
            for shape in _shapes(self.shapes[part]):
                for size in shape:
                    self.roles.fix(size)
        shapes = [tuple(part.shape) for part in _types(node.type)]
        self.shapes[node] = shapes if isinstance(node.type, tuple) else shapes[0]

    # ------------------------------------------------------------------------------------------------------ the result

    def free(self) -> list[Role]:
        """The roles that all sizes are made of, those that occur most first."""
        count: Counter[Role] = Counter()
        for size in self._sizes():
            count.update(self.roles.free(size))
        return [role for role, _ in count.most_common()]

    def _sizes(self) -> Iterator[Made]:
        for found in self.shapes.values():
            for shape in _shapes(found):
                yield from shape
        for told in self.told.values():
            yield from told.values()

    def written(self, size: Callable[[Made], Any]) -> tuple[Graph, ...]:
        """The graphs with `size(made)` in the place of each size."""
        return tuple(self._written(graph, size) for graph in self.graphs)

    def _written(self, graph: Graph, size: Callable[[Made], Any]) -> Graph:
        now: dict[Node, Node] = {}
        for node in graph.nodes:
            told = {path: size(made) for path, made in self.told.get(node, {}).items()}
            args = tuple(_put(map_nodes(now.__getitem__, part), told, (k,)) for k, part in enumerate(node.args))
            kwargs = {k: _put(map_nodes(now.__getitem__, part), told, (k,)) for k, part in node.kwargs.items()}
            shapes = [tuple(map(size, shape)) for shape in _shapes(self.shapes[node])]
            types = [TensorType(shape, old.dtype) for shape, old in zip(shapes, _types(node.type), strict=True)]
            kind: NodeType = tuple(types) if isinstance(node.type, tuple) else types[0]
            now[node] = replace(node, args=args, kwargs=kwargs, type=kind)
        return Graph(graph.name, tuple(now.values()), tuple((name, now[root]) for name, root in graph.roots))


ALIKE = tuple(f"collective.{name}" for name in ("all_reduce", "broadcast", "all_gather", "reduce_scatter"))


def _shapes(found: Any) -> list[Shape]:
    return found if isinstance(found, list) else [found]


def _types(kind: NodeType) -> tuple[TensorType, ...]:
    return kind if isinstance(kind, tuple) else (kind,)


def _put(argument: Any, told: Mapping[Path, Any], path: Path) -> Any:
    """The argument with the sizes told about in their places."""
    if path in told:
        return told[path]
    if isinstance(argument, tuple):
        return tuple(_put(part, told, (*path, k)) for k, part in enumerate(argument))
    return argument


# ------------------------------------------------------------------------------------------------------------- pointing


class _Pointing:
    """Integers that point into a table: numbers beside them are counts of its rows.

    Tensors of integers that are computed from each other point into the same table, and so do numbers that they are
    compared with, or moved by: the first row of a rank's share of a vocabulary, for instance.
    """

    def __init__(self, shaped: Shaped, graph: Graph) -> None:
        self.shaped, self.graph = shaped, graph
        self.parent: dict[Node, Node] = {}
        self.tables: dict[Node, Made] = {}

    def spread(self) -> None:
        for node in self.graph.nodes:
            whole = [part for part in (node, *node.inputs) if _is_integer(part)]
            if packet(node.operator) not in POINTERS and node.operator != "getitem":
                for part in whole[1:]:
                    self.parent[self.root(part)] = self.root(whole[0])
        for node in self.graph.nodes:
            for pointer, table in self._pointed(node):
                self.tables.setdefault(self.root(pointer), table)
        for node in self.graph.nodes:
            own_table = self._table(node)
            if own_table is None:
                continue
            if _is_integer(node):
                self.shaped.bounds[node] = own_table
            if packet(node.operator) in COUNTED:
                counts = ((k, self._count(part, own_table)) for k, part in enumerate(node.args) if type(part) is int)
                own = self.shaped.told.setdefault(node, {})
                own.update(((k,), count) for k, count in counts if count is not None)

    def root(self, node: Node) -> Node:
        while (above := self.parent.get(node, node)) is not node:
            node = above
        return node

    def _table(self, node: Node) -> Made | None:
        for part in (node, *node.inputs):
            if _is_integer(part) and (found := self.tables.get(self.root(part))) is not None:
                return found
        return None

    def _pointed(self, node: Node) -> Iterator[tuple[Node, Made]]:
        """Tensors that point, and the size of what they point into."""
        shapes = self.shaped.shapes
        match packet(node.operator):
            case "aten.embedding":
                yield node.args[1], shapes[node.args[0]][0]
            case "aten.embedding_dense_backward":
                yield node.args[1], shapes[node][0]
            case "aten.index_select":
                yield node.args[2], shapes[node.args[0]][node.args[1]]
            case "aten.index" | "aten.index_put":
                for d, pointer in enumerate(node.args[1]):
                    if pointer is not None and _is_integer(pointer):
                        yield pointer, shapes[node.args[0]][d]

    def _count(self, number: int, table: Made) -> Made | None:
        """The number as a count of rows: a multiple of the table's, or where a relation cuts."""
        roles = self.shaped.roles
        inside = set(roles.free(table))
        for mark, whole in self.shaped.marks:
            if roles.value(mark) == number and inside & set(roles.free(whole)):
                return mark
        plain = roles.plain(table)
        parts = plain.parts if isinstance(plain, Product) else (plain,)
        copies = parts[0] if isinstance(parts[0], int) else 1
        times = Fraction(number * copies, roles.value(table))
        rest = Product(parts[1:]) if isinstance(parts[0], int) else plain
        return Product((int(times), rest)) if number and times.denominator == 1 and times > 0 else None


POINTERS = frozenset((
    "aten.embedding", "aten.embedding_dense_backward", "aten.index_select", "aten.index", "aten.index_put", "aten.cat",
    "aten.arange", "aten._to_copy", "aten.max", "aten.min",
))
COUNTED = frozenset((
    "aten.lt", "aten.le", "aten.gt", "aten.ge", "aten.eq", "aten.ne", "aten.add", "aten.sub", "aten.rsub", "aten.mul",
    "aten.masked_fill", "aten.clamp",
))


def _is_integer(node: Node) -> bool:
    return isinstance(node.type, TensorType) and node.type.dtype in ("int64", "int32", "int16", "int8", "uint8")


# -------------------------------------------------------------------------------------------------------- sizes written


@dataclass(frozen=True)
class Members:
    """The graphs over size symbols; for each symbol its captured and its small value; sizes of roles in either way."""

    shaped: Shaped
    symbols: dict[Role, Size]
    captured: dict[str, int]
    small: dict[str, int]
    _known: dict[Made, Dim] = field(default_factory=dict)

    @property
    def over_symbols(self) -> tuple[Graph, ...]:
        return self.shaped.written(self.symbolic)

    @property
    def shrunk(self) -> tuple[Graph, ...]:
        """The graphs with small sizes. Raises Refused where they are still too large to be run."""
        found = self.shaped.written(self.number)
        taken = sum(8 * prod(part.shape) for graph in found for node in graph.nodes for part in _types(node.type))
        if taken > MEMORY:
            size = max(self.shaped.stays, default=0)
            stays = f"; the size {size} stays, for nothing less fits at {self.shaped.stays[size]}" if size else ""
            raise Refused(f"the graphs take {taken / 2**30:.1f} GiB even with small sizes, and may take "
                          f"{MEMORY / 2**30:.0f}{stays}")
        return found

    def symbolic(self, size: Made) -> Dim:
        """A size over the symbols."""
        plain = self.shaped.roles.plain(size)
        if plain not in self._known:
            self._known[plain] = self._symbolic(plain)
        return self._known[plain]

    def number(self, size: Made) -> int:
        """A size at the small values of the symbols."""
        match self.shaped.roles.plain(size):
            case int() as n:
                return n
            case Role() as role:
                return self.small[self.symbols[role].name]
            case Product(parts):
                found = 1
                for part in parts:
                    found *= self.number(part)
                return found
            case Sum(parts):
                return sum(map(self.number, parts))
        raise AssertionError(size)

    def _symbolic(self, size: Made) -> Dim:
        match size:
            case int():
                return size
            case Role():
                return self.symbols[size]
            case Product(parts):
                return canonical(mul(*map(self._symbolic, parts)))
            case Sum(parts):
                return canonical(add(*map(self._symbolic, parts)))


def members(shaped: Shaped, *, keep: int = 0) -> Members:
    """Name the free roles and choose small sizes: for different sizes of the graphs different ones, where it can be.

    Sizes of at most `keep` stay what they are.
    """
    roles, free = shaped.roles, shaped.free()
    names = {role: Size(_name(k), LEAST) for k, role in enumerate(free)}
    found = Members(
        shaped,
        names,
        {names[role].name: role.size for role in free},
        {names[role].name: role.size for role in free if role.size <= keep},
    )
    by_role: dict[Role, list[Made]] = defaultdict(list)
    waiting: dict[Made, set[Role]] = {}
    taken: set[int] = set()
    for size in {roles.key(size): roles.plain(size) for size in shaped._sizes()}.values():
        open_roles = {role for role in roles.free(size) if names[role].name not in found.small}
        waiting[size] = open_roles
        for role in open_roles:
            by_role[role].append(size)
        if not open_roles:
            taken.add(found.number(size))
    for role in free:
        if names[role].name in found.small:
            continue
        ready = [size for size in by_role[role] if waiting[size] == {role}]

        @cache
        def values(n: int, role: Role = role, ready: Sequence[Made] = tuple(ready)) -> tuple[int, ...]:
            found.small[names[role].name] = n
            return tuple(map(found.number, ready))

        best = next(
            (n for n in range(LEAST, MOST) if len({*values(n)}) == len(ready) and not taken & {*values(n)}), None
        )
        found.small[names[role].name] = best or min(LEAST + 1, role.size)
        taken.update(map(found.number, ready))
        for size in by_role[role]:
            waiting[size].discard(role)
    return found


def _name(k: int) -> str:
    return NAMES[k] if k < len(NAMES) else f"{NAMES[k % len(NAMES)]}{k // len(NAMES) + 1}"
