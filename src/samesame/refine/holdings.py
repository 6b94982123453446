"""Holdings: what the ranks have of each sequential tensor.

A sequential tensor is *held* when the ranks have it in a clean way: as it is, in pieces that cover it, as a multiple,
or as a sum that nobody took yet, over ranks and over the micro-batches that a rank goes through one after the other.
What was proved to be a piece is one; where there is no proof, values tell, since this only explains a verdict that
stands already. If one rank has a piece where another, which runs the same program, has something else, the tensor is
not held: that rank went astray.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import torch

from samesame.graph import Graph, Node
from samesame.operators.execute import closed
from samesame.relate.candidates import MOVES
from samesame.relate.joint import IDENTITIES
from samesame.relate.layout import Concat, Layout, Scaled, Slice, Whole, values, wholes
from samesame.relate.propose import Proposer, Proposes, Values, agree, is_telling
from samesame.relate.relating import Relating

GIVEN, CONSTANT = "given", "a constant"
WHOLE, PIECES, MULTIPLE = "on the ranks as it is", "in pieces on the ranks", "a multiple of it on the ranks"
PART = "in part on the ranks"
SUM, MEAN = "the sum over ranks", "the mean over ranks"


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


def along_axes(mesh: Mapping[str, int]) -> list[list[tuple[int, ...]]]:
    """For each axis of a mesh of several, the groups of ranks that differ in it alone."""
    ranks = torch.arange(prod(mesh.values())).reshape(tuple(mesh.values()))
    turned = (ranks.movedim(axis, -1).reshape(-1, size) for axis, size in enumerate(mesh.values()))
    return [list(map(tuple, groups.tolist())) for groups in turned] if len(mesh) > 1 else []


@dataclass(frozen=True, slots=True)
class Sum:
    """Tensors of ranks that may be parts of a sum: in words, what of, the name of the first, and all of them."""

    words: str
    name: str
    nodes: Sequence[Node]


Pieces = dict[int, dict[Node, tuple[Node, Layout]]]         # by the class of the sequential tensor, and rank's tensor


@dataclass(slots=True)
class Holdings:
    """What the ranks of `programs` hold; `proposer` finds pieces of sequential tensors by their values. `axes` are the
    groups of ranks along each axis of a mesh that has several."""

    relating: Relating
    values: tuple[Values, Values]
    programs: Sequence[tuple[int, ...]]
    proposer: Proposes
    axes: Sequence[Sequence[tuple[int, ...]]] = ()
    pieces: Pieces = field(default_factory=lambda: defaultdict(dict))
    known: set[Node] = field(default_factory=set)          # of the ranks' tensors, those that are pieces
    summed: Pieces = field(default_factory=lambda: defaultdict(dict))      # pieces that are sums over an axis
    summands: dict[str, Sum] = field(default_factory=dict)
    totals: list[dict[str, torch.Tensor]] = field(default_factory=list)
    told: dict[Node, str] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()                # of the sequential program
    closed: frozenset[str] = frozenset()                   # of the ranks
    by_name: dict[str, Node] = field(default_factory=dict)
    by_line: dict[Hashable, list[Node]] = field(default_factory=lambda: defaultdict(list))
    sums: Proposer | None = None
    lefts: Proposer | None = None

    def __post_init__(self) -> None:
        left, right = self.relating.left, self.relating.right
        self.constants, self.closed = frozenset(closed(left)), frozenset(closed(right))
        self.by_name = {node.name: node for node in right.nodes}
        mine = {node.name: node for node in left.nodes if isinstance(self.values[0][0].get(node.name), torch.Tensor)}
        self.lefts = Proposer(self.values[0], {name: self.values[0][0][name].numel() for name in mine})
        computed = [node for node in right.nodes if not node.is_source and is_of_rank(node)]
        computed = [node for node in computed if not isinstance(node.type, tuple)]
        for node in computed:
            self.by_line[_line(node)].append(node)
            if node in self.relating.related:
                of, layout, _ = self.relating.related[node]
                self._note(node, of, layout)
            else:
                found = self.proposer.candidates(self.values[1], node.name, node.shape)
                for name, layout in found or self._blocks(node, mine.values()):
                    self._note(node, mine[name], layout)
        self._add_up([node for node in computed if node.type.dtype != "bool"], mine)       # type: ignore[union-attr]

    def _note(self, node: Node, left: Node, layout: Layout) -> None:
        self.pieces[self._class(left)][node] = left, layout
        self.known.add(node)

    def _class(self, left: Node) -> int:
        joint = self.relating.joint
        return joint.egraph.find(joint.term[left])

    def _blocks(self, node: Node, lefts: Iterable[Node]) -> Iterator[tuple[str, Layout]]:
        """Sequential tensors of which a tensor is cut out over two dimensions."""
        value = self.values[1][-1][node.name]
        if not is_telling(value):
            return
        for left in lefts:
            if len(left.shape) != len(node.shape):
                continue
            cut = [dim for dim, size in enumerate(left.shape) if size != node.shape[dim]]
            if len(cut) != 2 or any(node.shape[dim] == 0 or left.shape[dim] % node.shape[dim] for dim in cut):
                continue
            for layout in _cut_out(left, node.shape, cut):
                pairs = zip(*self.values, strict=True)
                if all(agree(values(layout, a.__getitem__), b[node.name]) for a, b in pairs):
                    yield left.name, layout

    def _add_up(self, computed: Sequence[Node], mine: Mapping[str, Node]) -> None:
        """The sums over ranks of tensors of one name, and of all that one line made in a rank's micro-batches."""
        by_name: dict[str, list[Node]] = defaultdict(list)
        for node in computed:
            by_name[local(node)[1]].append(node)
        self.totals = [{} for _ in self.values[1]]
        for name, nodes in by_name.items():
            self._total(name, nodes, f"{SUM} of {name}", f"{MEAN} of {name}")
            for axis in self.axes:
                self._within(axis, nodes, mine)
        for nodes in self.by_line.values():
            name, own = local(nodes[0])[1], [node for node in nodes if node in by_name[local(node)[1]]]
            if nodes[0].origin.file and len(own) > len({local(node)[0] for node in own}):
                told = f"and micro-batches of {name} and its like"
                self._total(f"{name} and more", own, f"{SUM} {told}", f"{MEAN} {told}")
        self.sums = Proposer(self.totals, {name: self.totals[0][name].numel() for name in self.summands})

    def _total(self, title: str, nodes: Sequence[Node], as_sum: str, as_mean: str) -> None:
        own = self._apart(nodes)
        if len(own) < 2 or len({node.type for node in nodes}) > 1:
            return
        for key, words, share in ((title, as_sum, 1), (f"{title}, mean", as_mean, len(own))):
            self.summands[key] = Sum(words, local(nodes[0])[1], nodes)
            for total, run in zip(self.totals, self.values[1], strict=True):
                total[key] = torch.stack([run[node.name] for node in own]).sum(0) / share

    def _within(self, axis: Sequence[tuple[int, ...]], nodes: Sequence[Node], mine: Mapping[str, Node]) -> None:
        """The pieces that ranks have together, along one axis of the mesh, each a part of a sum."""
        ranks = {local(node)[0]: node for node in nodes if node not in self.known}
        for group in axis:
            if not all(rank in ranks for rank in group):
                continue
            first, own = ranks[group[0]], self._apart([ranks[rank] for rank in group])
            for share in (1, len(own)) if len(own) > 1 and first.shape else ():
                total: Values = [{first.name: torch.stack([run[node.name] for node in own]).sum(0) / share}
                                 for run in self.values[1]]
                for name, layout in self.proposer.candidates(total, first.name, first.shape):
                    self.summed[self._class(mine[name])][first] = mine[name], layout

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
        if found and self.astray(found) is None:
            if told := _covering(list(found.values()), self.values[0]):
                return told
            if all(other in self.known for node in found for other in self.by_line[_line(node)]):
                return PART                                # the rest of it is nowhere, and nothing else in its place
        if left.shape == () and any(self._same_number(left, node) for node in self.by_name.values()):
            return WHOLE
        if (sum_ := self.sum_of(left)) is not None:
            return sum_.words
        moves = left.operator.rsplit(".", 1)[0] in MOVES | IDENTITIES
        if moves and left.inputs and all(self.of(part) for part in left.inputs):
            return self.of(left.inputs[0])
        return ""

    def has_pieces(self, left: Node) -> bool:
        """Whether it is held for its own values, not as a movement or as one number that is found elsewhere too."""
        return not left.is_source and bool(self.pieces.get(self._class(left)))

    def astray(self, found: Mapping[Node, tuple[Node, Layout]]) -> Node | None:
        """A tensor that is no piece of anything, where the same operator of other ranks made one of these pieces."""
        for node in found:
            rank, name = local(node)
            for other in next(ranks for ranks in self.programs if rank in ranks):
                twin = self.by_name.get(f"r{other}.{name}")
                if twin is not None and twin not in self.known and is_telling(self.values[1][-1][twin.name]):
                    return twin
        return None

    def sum_of(self, left: Node) -> Sum | None:
        """What the sequential tensor is a sum or a mean of, if it is."""
        if self.sums is None or isinstance(left.type, tuple):
            return None
        if left.shape:
            found = self.sums.candidates(self.values[0], left.name, left.shape)
            if found:
                return self.summands[found[0][0]]
            parts = self.summed.get(self._class(left), {})
            if parts and _covering(list(parts.values()), self.values[0]):
                name = local(next(iter(parts)))[1]
                return Sum(f"{SUM} of {name}, in pieces", name, list(parts))
            return None
        wanted = [run[left.name] for run in self.values[0]]
        same = (name for name in self.summands if self.totals[0][name].shape == ()
                and all(agree(total[name].double(), x.double()) for total, x in zip(self.totals, wanted, strict=True)))
        return next((self.summands[name] for name in same), None)

    def _same_number(self, left: Node, right: Node) -> bool:
        if right.name in self.closed or isinstance(right.type, tuple) or right.shape != () or not is_of_rank(right):
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
        known: set[Node] = set()
        for node in filter(is_of_rank, self.relating.right.nodes):
            if node.is_source or node.name in self.closed or node in self.known or self.is_summand(node):
                known.add(node)
            elif isinstance(node.type, tuple) or node.operator.rsplit(".", 1)[0] in MOVES:
                known |= {node} if all(part in known for part in node.inputs) else set()
            elif all(part in known for part in node.inputs):
                return node
        return None

    def reader(self, of: Sum) -> Node | None:
        """The first operator of a rank that reads one of the summands."""
        return next((node for node in self.relating.right.nodes if any(part in of.nodes for part in node.inputs)), None)


def _line(node: Node) -> Hashable:
    """What tells apart where a tensor was made: the operator, line and module, and what kind of tensor it is."""
    return node.operator, node.origin.file, node.origin.line, node.origin.module, node.type


def _cut_out(left: Node, shape: Sequence[int], dims: Sequence[int]) -> Iterator[Layout]:
    """All blocks of this shape, side by side, that a tensor has over two dimensions."""
    one, two = dims
    for start in range(0, left.shape[one], shape[one]):
        for place in range(0, left.shape[two], shape[two]):
            yield Slice(Slice(Whole(left.name), one, start, start + shape[one]), two, place, place + shape[two])


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
