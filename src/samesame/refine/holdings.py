"""Holdings: what the ranks have of each sequential tensor.

A sequential tensor is *held* when the ranks have it in a clean way: as it is, in pieces that cover it, as a multiple,
or as a sum that nobody took yet, over ranks and over the micro-batches that a rank goes through one after the other.
What was proved to be a piece is one; where there is no proof, values tell, since this only explains a verdict that
stands already. If one rank has a piece where another, which runs the same program, has something else, the tensor is
not held: that rank went astray.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch

from samesame.execute import closed
from samesame.graph import Graph, Node
from samesame.relate.layout import Concat, Layout, Scaled, Slice, Whole, values, wholes
from samesame.relate.propose import Proposer, Proposes, Values, agree, is_telling
from samesame.relate.relating import MOVES, Relating
from samesame.relate.world import IDENTITIES

GIVEN, CONSTANT = "given", "a constant"
WHOLE, PIECES, MULTIPLE = "on the ranks as it is", "in pieces on the ranks", "a multiple of it on the ranks"
SUM = "the sum over ranks"
MEAN = "the mean over ranks"


def local(node: Node) -> tuple[int, str]:
    """The rank of a node of the world, and its name there."""
    rank, _, name = node.name.partition(".")
    return int(rank.removeprefix("r")), name


def is_of_rank(node: Node) -> bool:
    """Whether a node of the world is a rank's, and not one that puts an output together."""
    return node.name.startswith("r") and "." in node.name


def programs(ranks: Sequence[Graph]) -> list[tuple[int, ...]]:
    """The ranks that run the same operators under the same names, together."""
    found: dict[Hashable, list[int]] = defaultdict(list)
    for rank, graph in enumerate(ranks):
        found[tuple((node.name, node.operator) for node in graph.nodes)].append(rank)
    return [tuple(members) for members in found.values()]


@dataclass(slots=True)
class Summand:
    """Tensors of ranks that may be parts of a sum: what they are called, and all of them."""

    name: str
    nodes: list[Node]


@dataclass(slots=True)
class Holdings:
    """What the ranks of `programs` hold; `proposer` finds pieces of sequential tensors by their values."""

    relating: Relating
    values: tuple[Values, Values]
    programs: Sequence[tuple[int, ...]]
    proposer: Proposes
    pieces: dict[int, dict[Node, tuple[Node, Layout]]] = field(default_factory=lambda: defaultdict(dict))
    known: set[Node] = field(default_factory=set)          # of the ranks' tensors, those that are pieces
    summands: dict[str, Summand] = field(default_factory=dict)
    totals: list[dict[str, torch.Tensor]] = field(default_factory=list)
    told: dict[Node, str] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()
    by_name: dict[str, Node] = field(default_factory=dict)
    sums: Proposer | None = None
    lefts: Proposer | None = None

    def __post_init__(self) -> None:
        left, right = self.relating.left, self.relating.right
        self.constants = frozenset(closed(left))
        self.by_name = {node.name: node for node in right.nodes}
        mine = {node.name: node for node in left.nodes}
        for node in right.nodes:
            if node.is_source or isinstance(node.type, tuple) or not is_of_rank(node):
                continue
            if node in self.relating.related:
                of, layout, _ = self.relating.related[node]
                self._note(node, of, layout)
            else:
                for name, layout in self.proposer.candidates(self.values[1], node.name, node.shape):
                    self._note(node, mine[name], layout)
        self._add_up(right)

    def _note(self, node: Node, left: Node, layout: Layout) -> None:
        self.pieces[self._class(left)][node] = left, layout
        self.known.add(node)

    def _class(self, left: Node) -> int:
        world = self.relating.world
        return world.egraph.find(world.term[left])

    def _add_up(self, right: Graph) -> None:
        """The sums over ranks of tensors of one name, and of all that one line made in a rank's micro-batches."""
        by_name: dict[str, list[Node]] = defaultdict(list)
        by_line: dict[Hashable, list[Node]] = defaultdict(list)
        for node in right.nodes:
            if node.is_source or isinstance(node.type, tuple) or not is_of_rank(node) or node.type.dtype == "bool":
                continue
            by_name[local(node)[1]].append(node)
            if node.origin.file:
                where = node.origin.file, node.origin.line, node.origin.module
                by_line[node.operator, where, node.type].append(node)
        several = [nodes for nodes in by_line.values() if len(nodes) > len({local(node)[0] for node in nodes})]
        self.totals = [{} for _ in self.values[1]]
        for nodes in (*by_name.values(), *several):
            own = self._apart(nodes)
            if len(own) > 1 and len({node.type for node in nodes}) == 1:
                name = local(nodes[0])[1]
                for title, share in ((name, 1), (f"{MEAN} of {name}", len(own))):
                    title = title if title not in self.summands else f"{title} (all that the line makes)"
                    self.summands[title] = Summand(name, nodes)
                    for total, run in zip(self.totals, self.values[1], strict=True):
                        total[title] = torch.stack([run[node.name] for node in own]).sum(0) / share
        self.sums = Proposer(self.totals, list(self.summands))
        mine = (node.name for node in self.relating.left.nodes)
        self.lefts = Proposer(self.values[0], [n for n in mine if isinstance(self.values[0][0].get(n), torch.Tensor)])

    def _apart(self, nodes: Sequence[Node]) -> list[Node]:
        """One of each, where several ranks have the same numbers."""
        own: list[Node] = []
        for node in nodes:
            if not any(local(node)[0] != local(other)[0] and self._alike(node, other) for other in own):
                own.append(node)
        return own

    def _alike(self, a: Node, b: Node) -> bool:
        return all(agree(run[a.name], run[b.name]) for run in self.values[1])

    # ------------------------------------------------------------------------------------------ of a sequential tensor

    def of(self, left: Node) -> str:
        """What the ranks hold of a sequential tensor, in words; nothing where they do not hold it."""
        if left not in self.told:
            self.told[left] = self._told(left)
        return self.told[left]

    def _told(self, left: Node) -> str:
        if left.is_source:
            return GIVEN
        if left.name in self.constants:
            return CONSTANT
        if isinstance(left.type, tuple):
            return ""
        found = self.pieces.get(self._class(left), {})
        if found and self.astray(found) is None and (told := _covering(list(found.values()), self.values[0])):
            return told
        if left.shape == () and any(self._same_number(left, node) for node in self.by_name.values()):
            return WHOLE
        if (name := self.sum_of(left)) is not None:
            return name if name.startswith(MEAN) else f"{SUM} of {name}"
        moves = left.operator.rsplit(".", 1)[0] in MOVES | IDENTITIES
        if moves and left.inputs and all(self.of(part) for part in left.inputs):
            return self.of(left.inputs[0])
        return ""

    def astray(self, found: Mapping[Node, tuple[Node, Layout]]) -> Node | None:
        """A tensor that is no piece of anything, where the same operator of other ranks made one of these pieces."""
        for node in found:
            rank, name = local(node)
            for other in next(ranks for ranks in self.programs if rank in ranks):
                twin = self.by_name.get(f"r{other}.{name}")
                if twin is not None and twin not in self.known and is_telling(self.values[1][-1][twin.name]):
                    return twin
        return None

    def sum_of(self, left: Node) -> str | None:
        """What it is the sum over ranks of, by local name; `the mean over ranks of …` where it is their mean."""
        if self.sums is None or isinstance(left.type, tuple):
            return None
        if left.shape:
            found = self.sums.candidates(self.values[0], left.name, left.shape)
            return found[0][0] if found else None
        wanted = [run[left.name] for run in self.values[0]]
        same = (name for name in self.summands if self.totals[0][name].shape == ()
                and all(agree(total[name].double(), x.double()) for total, x in zip(self.totals, wanted, strict=True)))
        return next(same, None)

    def _same_number(self, left: Node, right: Node) -> bool:
        if right.is_source or isinstance(right.type, tuple) or right.shape != () or not is_of_rank(right):
            return False
        return all(agree(a[left.name], b[right.name]) for a, b in zip(*self.values, strict=True))

    # --------------------------------------------------------------------------------------------- of a rank's tensors

    def is_summand(self, node: Node) -> bool:
        """Whether tensors of this name add up to a sequential one."""
        name = local(node)[1]
        if name not in self.summands or self.lefts is None:
            return False
        return bool(self.lefts.candidates(self.totals, name, tuple(self.totals[0][name].shape)))

    def first_strange(self) -> Node | None:
        """The first tensor of a rank that is neither a piece of a sequential one nor a summand; its inputs are."""
        constants = closed(self.relating.right)
        known: set[Node] = set()
        for node in filter(is_of_rank, self.relating.right.nodes):
            if node.is_source or node.name in constants or node in self.known or self.is_summand(node):
                known.add(node)
            elif isinstance(node.type, tuple) or node.operator.rsplit(".", 1)[0] in MOVES:
                known |= {node} if all(part in known for part in node.inputs) else set()
            elif all(part in known for part in node.inputs):
                return node
        return None

    def reader(self, name: str) -> Node | None:
        """The first operator of a rank that reads one of these summands."""
        nodes = self.summands[name].nodes
        return next((node for node in self.relating.right.nodes if any(part in nodes for part in node.inputs)), None)


def _covering(pieces: Sequence[tuple[Node, Layout]], runs: Values) -> str:
    """How pieces make up a tensor: as it is, cut, or as a multiple; nothing where part of it is missing."""
    plain = [layout for _, layout in pieces if not _is_scaled(layout)]
    if any(map(_is_whole, plain)):
        return WHOLE
    if _cover(plain, runs):
        return PIECES
    return MULTIPLE if _cover([_unscaled(layout) for _, layout in pieces], runs) else ""


def _cover(layouts: Sequence[Layout], runs: Values) -> bool:
    """Do layouts take every element of a tensor that they are of?"""
    marks: dict[str, torch.Tensor] = {}
    for layout in layouts:
        names = set(wholes(layout))
        if len(names) > 1:
            return True                                    # several tensors in one, each of them whole
        (name,) = names
        mark = marks.setdefault(name, torch.zeros(runs[0][name].numel(), dtype=torch.bool))
        numbered = torch.arange(mark.numel()).reshape(runs[0][name].shape)
        mark[values(layout, {name: numbered}.__getitem__).reshape(-1)] = True
    return any(bool(mark.all()) for mark in marks.values())


def _parts(layout: Layout) -> Iterator[Layout]:
    if isinstance(layout, Concat):
        yield from layout.parts
    elif not isinstance(layout, Whole):
        yield layout.part


def _is_scaled(layout: Layout) -> bool:
    return isinstance(layout, Scaled) or any(map(_is_scaled, _parts(layout)))


def _is_whole(layout: Layout) -> bool:
    if isinstance(layout, Slice | Concat):
        return False
    return all(map(_is_whole, _parts(layout)))


def _unscaled(layout: Layout) -> Layout:
    match layout:
        case Whole():
            return layout
        case Scaled(part):
            return _unscaled(part)
        case Concat(parts):
            return replace(layout, parts=tuple(map(_unscaled, parts)))
    return replace(layout, part=_unscaled(layout.part))
