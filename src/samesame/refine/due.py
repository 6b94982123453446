"""Due: where each output should be, and what to say of one that is elsewhere.

An output is due whole on every rank that returns it, unless the job says otherwise. It says so by `expected`; by
returning a DTensor, which knows its own placement; or because the output is the gradient of a weight or an input, or
what the program leaves in one, which is due where the ranks hold that weight or input, piece by piece. A piece that
lies on another rank than the one it is due on is a mistake like any other: who puts the pieces together in rank order
gets another tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import prod

import torch

from samesame.capture.ranks.record import AFTER, placements
from samesame.graph import Graph, Node
from samesame.refine.outputs import CLEAN, Found, Groups
from samesame.refine.placement import Mesh, coordinate, holders, in_order_of, parsed
from samesame.refine.sources import Source
from samesame.relate.layout import Layout, values, wholes

GRADIENT = "grad."


@dataclass(frozen=True, slots=True)
class Due:
    """Where one output should be: as declared by `text`, if it is. `where` are the ranks on which it is looked for.
    `order` are the groups of ranks in the order of the pieces that they hold of what the output belongs to, if that is
    known, and `places` each rank's place along the axis that the text names."""

    name: str
    where: Sequence[int]
    text: str | None = None
    order: Groups | None = None
    places: Mapping[int, int] = field(default_factory=dict)

    def holds(self, found: Found) -> bool:
        """Is an output that lies so where it should be?"""
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
    return {name: _due(name, expected.get(name), belonging.get(name), mesh) for name in wanted}


def _due(name: str, text: str | None, order: Groups | None, mesh: Mesh) -> Due:
    ranks = prod(mesh.values())
    if text is None:
        return Due(name, range(ranks), None, order)
    plain, where = holders(text, name, ranks)
    axes = [placement.axis for placement in parsed(plain, name, mesh)]
    along = {rank: coordinate(rank, axes[0], mesh)[0] for rank in where} if axes[0] and len(axes) == 1 else {}
    return Due(name, where, text, order, along)


def _as_sources(sources: Sequence[Source], layouts: Mapping[str, Layout], left: Graph) -> dict[str, Groups]:
    """For the gradient of each sequential weight and input, and for what is left in it, the ranks in the order of the
    pieces of it that they hold."""
    held: dict[str, dict[int, tuple[int, ...]]] = {}
    for source in sources:
        layout = layouts[source.node.name]
        if len(of := set(wholes(layout))) == 1:
            node = left[of.pop()]
            title = node.origin.parameter or node.name
            for name in (f"{GRADIENT}{title}", f"{title}{AFTER}"):
                held.setdefault(name, {})[source.rank] = _elements(layout, node)
    return {name: _grouped(pieces) for name, pieces in held.items()}


def _as_stated(stated: Mapping[str, Layout], left: Graph) -> dict[str, Groups]:
    held: dict[str, dict[int, tuple[int, ...]]] = {}
    for title, layout in stated.items():
        rank, _, name = title.partition(".")
        if len(of := set(wholes(layout))) == 1:
            held.setdefault(name, {})[int(rank.removeprefix("r"))] = _elements(layout, left[of.pop()])
    return {name: _grouped(pieces) for name, pieces in held.items()}


def _elements(layout: Layout, node: Node) -> tuple[int, ...]:
    """Which elements of a sequential tensor a layout takes, by their numbers in it."""
    numbers = torch.arange(prod(node.shape)).reshape(node.shape)
    return tuple(values(layout, lambda _: numbers).flatten().tolist())


def _as_tensors(ranks: Sequence[Graph]) -> dict[str, Groups]:
    """The same for outputs that are DTensors, which say themselves which part of the whole a rank has."""
    held: dict[str, dict[int, tuple[tuple[int, int], ...]]] = {}
    for rank, graph in enumerate(ranks):
        for name, placed in placements(graph).items():
            if not any(placed.partial):
                held.setdefault(name, {})[rank] = tuple(run for runs in placed.runs for run in runs)
    return {name: _grouped(pieces) for name, pieces in held.items()}


def _grouped(pieces: Mapping[int, tuple[object, ...]]) -> Groups:
    """The ranks that hold the same piece together, in the order of the pieces."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for rank, piece in pieces.items():
        groups.setdefault(piece, []).append(rank)
    return tuple(tuple(groups[piece]) for piece in sorted(groups))


# ------------------------------------------------------------------------------------------------- what to say instead


_UNREDUCED = ": data or context parallel before the gradients are reduced"


def as_declared(found: Found) -> str:
    """What a job would declare of an output that lies so; nothing where no placement says it."""
    text = {
        "replicated": "replicated",
        "sharded": f"shard({found.dim})",
        "strided": f"strided({found.dim}, {found.parts})",
        "scaled": "scaled",
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
