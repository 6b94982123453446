"""Due: where each output should be, and what to say of one that is elsewhere.

An output is due whole on every rank that returns it, unless the job says otherwise. It says so by `expected`; by
returning a DTensor, which knows its own placement; or because the output is the gradient of a weight or an input, or
what the program leaves in one, which is due where the ranks hold that weight or input, piece by piece. A piece that
lies on another rank than the one it is due on is a mistake like any other: who puts the pieces together in rank order
gets another tensor.

Where gradients are taken of a loss that is declared a mean over ranks, each rank takes them of its own loss. Those of
weights are averaged then; that of an input which only this rank has is of its own loss, and so many times that of the
mean: as such it is due.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import prod

import torch

from samesame.capture.ranks.graphs import placements
from samesame.capture.ranks.record import AFTER
from samesame.graph import Graph, Node
from samesame.refine.outputs import CLEAN, Found, Groups
from samesame.refine.placement import (
    Mesh,
    Placement,
    coordinate,
    from_the_front,
    held_part,
    holders,
    in_order_of,
    parsed,
    piece,
)
from samesame.refine.sources import COTANGENT, Source
from samesame.relate.layout import Concat, Layout, Scaled, values, wholes

GRADIENT = "grad."
OF_A_WEIGHT = (GRADIENT, ""), ("", AFTER), (GRADIENT, AFTER)    # around its name: what belongs where the weight is
Own = Mapping[int, Layout]                                 # by rank, its piece of one tensor


@dataclass(frozen=True, slots=True)
class Due:
    """Where one output should be: as declared by `text`, if it is. `where` are the ranks on which it is looked for.
    `order` are the groups of ranks in the order of the pieces that they hold of what the output belongs to, if that is
    known, `own` the piece that each rank should have, `times` the multiple of it that a rank may have, and `places`
    each rank's place along the axis that the text names."""

    name: str
    where: Sequence[int]
    text: str | None = None
    order: Groups | None = None
    places: Mapping[int, int] = field(default_factory=dict)
    own: Own = field(default_factory=dict)
    times: Fraction = Fraction(1)

    def holds(self, found: Found) -> bool:
        """Is an output that lies so where it should be?"""
        if found.own:
            bare = {rank: layout.part if isinstance(layout, Scaled) else layout for rank, layout in found.own.items()}
            return bare == self.own
        if self.text is not None:
            return self._as_declared(found)
        if found.kind == "replicated" or found.kind not in CLEAN:
            return found.kind == "replicated"
        if self.order is not None:
            return is_dealt(found.groups, {rank: k for k, group in enumerate(self.order) for rank in group})
        belongs = self.name.startswith(GRADIENT) or self.name.endswith(AFTER)
        return belongs and is_in_rank_order(found.groups)

    def _as_declared(self, found: Found) -> bool:
        text, order = in_order_of(self.text or "")
        kind, _, inside = text.partition(" over ")[0].partition(" on ")[0].strip().partition("(")
        kind, inside = {"shard": "sharded"}.get(kind, kind), inside.rstrip(")")
        if kind != found.kind or kind not in ("sharded", "strided"):
            return kind == found.kind and (kind != "partial" or found.factor == _share(inside, found))
        asked = [int(number) for number in inside.split(",")] if inside else []
        if asked != [found.dim, found.parts][: len(asked)]:
            return False
        if order:
            return tuple(group[0] for group in found.groups) == order
        return is_dealt(found.groups, self.places) if self.places else is_in_rank_order(found.groups)

    @property
    def said(self) -> str:
        """What is expected, in words."""
        if self.text is not None:
            return f"{self.text} is expected"
        if self.order is not None and len(self.order) > 1:
            return "every rank should have that of its own piece"
        return "it is expected whole on every rank"


def _share(inside: str, found: Found) -> Fraction:
    return Fraction(1, len(found.groups)) if inside == "avg" else Fraction(1)


def is_dealt(groups: Groups, places: Mapping[int, int]) -> bool:
    """Whether the ranks hold the pieces in the order of these places of theirs."""
    held = [{places.get(rank, -1) for rank in group} for group in groups]
    return all(len(own) == 1 for own in held) and all(max(a) < min(b) for a, b in pairwise(held))


def is_in_rank_order(groups: Groups) -> bool:
    """Whether the pieces follow each other as the ranks do, and so does each further copy of them."""
    rows = zip(*map(sorted, groups), strict=False)
    return all(a < b for row in rows for a, b in pairwise(row))


def dues(
    wanted: Mapping[str, Node],
    ranks: Sequence[Graph],
    sources: Sequence[Source],
    layouts: Mapping[str, Layout],
    left: Graph,
    expected: Mapping[str, str],
    mesh: Mesh,
    stated: Mapping[str, Layout],
) -> dict[str, Due]:
    """Where each of the `wanted` outputs should be. `layouts` says what each source of the world is of sequential ones,
    and `stated` which part of an output a rank has, `r0.loss` for instance. Raises Refused for an expectation that no
    placement says."""
    belonging = {**_as_sources(sources, layouts, left), **_as_tensors(ranks), **_as_stated(stated, left)}
    times = _mean_of_losses(left, expected, mesh)
    given = {f"{GRADIENT}{node.origin.parameter or node.name}" for node in left.sources("input")}
    return {
        name: _due(node, name, expected.get(name), belonging.get(name), times if name in given else Fraction(1), mesh)
        for name, node in wanted.items()
    }


def _due(node: Node, name: str, text: str | None, pieces: Pieces | None, times: Fraction, mesh: Mesh) -> Due:
    ranks = prod(mesh.values())
    order = _grouped(pieces) if pieces is not None else None
    if text is None:
        own = pieces.own if pieces is not None and pieces.shape == node.shape else {}
        return Due(name, range(ranks), None, order, own=own, times=times)
    text = from_the_front(text, name, len(node.shape))
    plain, where = holders(text, name, ranks)
    placements = parsed(plain, name, mesh)
    axes = [placement.axis for placement in placements]
    along = {rank: coordinate(rank, axes[0], mesh)[0] for rank in where} if axes[0] and len(axes) == 1 else {}
    return Due(name, where, text, order, along, own=cut_alike(node, placements, where, mesh) if axes[1:] else {})


def cut_alike(node: Node, placements: Sequence[Placement], ranks: Sequence[int], mesh: Mesh) -> Own:
    """What each of these ranks has of a tensor that is placed so; nothing where that does not say it."""
    if any(placement.kind in ("partial", "scaled") for placement in placements):
        return {}
    return {rank: piece(node.name, node.shape, placements, rank, mesh)[0] for rank in ranks}


def on_a_grid(node: Node, ranks: Sequence[int], mesh: Mesh) -> Iterator[tuple[str, Own]]:
    """The ways to cut a tensor over several of its dimensions, each along an axis of the mesh, as a job says them."""
    for axes in combinations([axis for axis, size in mesh.items() if size > 1], 2):
        for dims in permutations(range(len(node.shape)), 2):
            cuts = [Placement("sharded", dim, axis=axis) for dim, axis in zip(dims, axes, strict=True)]
            yield ", ".join(map(str, cuts)), cut_alike(node, cuts, ranks, mesh)


def _mean_of_losses(left: Graph, expected: Mapping[str, str], mesh: Mesh) -> Fraction:
    """How many times a rank's own loss counts in the losses that gradients are of, where these are declared means over
    ranks."""
    texts = [expected.get(node.name.removeprefix(COTANGENT), "") for node in left.sources("input")
             if node.name.startswith(COTANGENT)]
    if len(set(texts)) != 1 or "partial(avg)" not in texts[0]:
        return Fraction(1)
    means = [placement.axis for placement in parsed(holders(texts[0], "the loss", prod(mesh.values()))[0], "it", mesh)]
    return Fraction(prod(coordinate(0, axis, mesh)[1] for axis in means)) if len(means) == 1 else Fraction(1)


@dataclass(frozen=True, slots=True)
class Pieces:
    """What ranks have of a tensor of this shape."""

    shape: tuple[int, ...]
    own: dict[int, Layout] = field(default_factory=dict)


def _as_sources(sources: Sequence[Source], layouts: Mapping[str, Layout], left: Graph) -> dict[str, Pieces]:
    """For the gradient of each sequential weight and input, and for what is left in it, the piece of it that each rank
    holds."""
    held: dict[str, Pieces] = {}
    shapes = {node.name: node.shape for node in left.nodes if node.operator in ("input", "parameter")}
    for source in sources:
        for part in parts_of(layouts[source.node.name], shapes):
            if len(of := set(wholes(part.layout))) == 1:
                node = left[of.pop()]
                title = node.origin.parameter or node.name
                for before, after in OF_A_WEIGHT:
                    held.setdefault(f"{before}{title}{after}", Pieces(node.shape)).own[source.rank] = part.layout
    return held


@dataclass(frozen=True, slots=True)
class Part:
    """What stands from `start` to `stop` of a dimension: a layout, which has this shape."""

    layout: Layout
    shape: tuple[int, ...]
    dim: int = 0
    start: int = 0
    stop: int = 0


def parts_of(layout: Layout, shapes: Mapping[str, tuple[int, ...]]) -> list[Part]:
    """The pieces of different tensors that a layout puts one after another; else it is its only part."""
    parts = layout.parts if isinstance(layout, Concat) else (layout,)
    names = [name for part in parts for name in set(wholes(part))]
    if not isinstance(layout, Concat) or len(set(names)) < len(names) or len(names) > len(parts):
        return [Part(layout, ())]
    found, start = list[Part](), 0
    for part in parts:
        shape = tuple(values(part, lambda name: torch.empty(shapes[name], device="meta")).shape)
        found.append(Part(part, shape, layout.dim, start, start + shape[layout.dim]))
        start += shape[layout.dim]
    return found


def _as_stated(stated: Mapping[str, Layout], left: Graph) -> dict[str, Pieces]:
    held: dict[str, Pieces] = {}
    for title, layout in stated.items():
        rank, _, name = title.partition(".")
        if len(of := set(wholes(layout))) == 1:
            held.setdefault(name, Pieces(left[of.pop()].shape)).own[int(rank.removeprefix("r"))] = layout
    return held


def _as_tensors(ranks: Sequence[Graph]) -> dict[str, Pieces]:
    """The same for outputs that are DTensors, which say themselves which part of the whole a rank has."""
    held: dict[str, Pieces] = {}
    for rank, graph in enumerate(ranks):
        for name, placed in placements(graph).items():
            if not any(placed.partial):
                held.setdefault(name, Pieces(placed.shape)).own[rank] = held_part(name, placed)
    return held


def _grouped(pieces: Pieces) -> Groups:
    """The ranks that hold the same piece together, in the order of the pieces; those that hold nothing come last."""
    numbers = torch.arange(prod(pieces.shape)).reshape(pieces.shape)
    groups: dict[tuple[bool, int, bytes], list[int]] = {}
    for rank, layout in pieces.own.items():
        taken = values(layout, lambda _: numbers).flatten()
        first = int(taken[0]) if taken.numel() else 0
        groups.setdefault((not taken.numel(), first, taken.numpy().tobytes()), []).append(rank)
    return tuple(tuple(groups[taken]) for taken in sorted(groups))


# ------------------------------------------------------------------------------------------------- what to say instead


_UNREDUCED = ": data or context parallel before the gradients are reduced"


def as_declared(found: Found) -> str:
    """What a job would declare of an output that lies so; nothing where no placement says it."""
    text = {
        "replicated": "replicated",
        "sharded": f"shard({found.dim})",
        "strided": f"strided({found.dim}, {found.parts})",
        "scaled": "scaled",
        "pieces": found.declared,
        "partial": {Fraction(1): "partial", Fraction(1, len(found.groups) or 1): "partial(avg)"}.get(found.factor, ""),
    }.get(found.kind, "")
    if found.kind in ("sharded", "strided") and not is_in_rank_order(found.groups):
        text += f" in the order of ranks {', '.join(str(group[0]) for group in found.groups)}"
    return text


def missing(name: str, found: Found) -> str:
    """What an output lacks that lies so, in the words of the contract that a framework may have for it."""
    if found.kind == "partial":
        mean = found.factor == Fraction(1, len(found.groups))
        nobody = "adds them up" if found.factor == 1 else f"takes {'their mean' if mean else f'{found.factor} of them'}"
        gradient = name.startswith(GRADIENT)
        share, contract = ("share of the gradient", _UNREDUCED) if gradient else ("share", "")
        return f"every rank holds its own {share}, and nobody {nobody}{contract}"
    if found.kind == "sharded" and not is_in_rank_order(found.groups):
        return "the pieces do not lie in the order of the ranks"
    if found.kind in ("sharded", "strided"):
        return "every rank has its own piece, and nobody gathers them"
    return ""
