"""The input relation of a refinement: what every rank's inputs and weights are of the sequential program's.

Three sources, the strongest first. What the user or a parallel plan states of a tensor holds, once it has been checked
against the values: a statement that the loaded weights contradict is refused. A weight of the same name is looked for
in the sequential one by its values, whole or a piece. Anything else is looked for in all weights. What has no place is
refused by name: a program that reads something which the sequential one does not have refines nothing. And every
sequential weight must be on the ranks, all of it: what no rank holds cannot take part in what they compute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import torch

from samesame.evidence import Refused
from samesame.graph import Graph, Node
from samesame.refine.placement import Mesh, Placement, coordinate, holders, in_order_of, parsed, piece
from samesame.relate.layout import Layout, Reshape, Slice, Whole, values, wholes
from samesame.relate.parameters import InputRelation, relate_parameters
from samesame.relate.pieces import PieceProposer
from samesame.relate.propose import agree

_SHOWN = 4
_PLAIN = 1e-7               # how near float32 is to a number of three digits behind the point, below one
COTANGENT = "cotangent."


@dataclass(frozen=True, slots=True)
class Source:
    """An input or weight of one rank: the rank, its own name there, and its node in the world graph."""

    rank: int
    name: str
    node: Node


def input_relation(
    left: Graph,
    world: Graph,
    sources: Sequence[Source],
    stated: Mapping[str, str],
    layouts: Mapping[str, Layout],
    mesh: Mesh,
    expected: Mapping[str, str],
) -> InputRelation:
    """The layout of each source of the world over sources of `left`, by node name.

    `stated` gives placements by name, for inputs and weights; `layouts` what capture already knows, by node name.
    A cotangent, which stands for what a gradient is taken of, has the shape of an output and no values to compare: it
    lies as that output is `expected`, or else as its shape says.
    Raises Refused where a statement is contradicted, a source has no place, or part of a weight is on no rank.
    """
    mine = {_title(node): node for node in left.nodes if node.operator in ("input", "parameter")}
    _require_known(stated, mine, "the sequential program")
    placements = {name: parsed(text, name, mesh) for name, text in stated.items()}
    weights = {name: left.tensors[node.name] for name, node in mine.items() if node.operator == "parameter"}
    relation = InputRelation()
    open_: dict[str, torch.Tensor] = {}
    for source in _by_position(sources, [name for name, node in mine.items() if node.operator == "input"]):
        held = world.tensors[source.node.name]
        found = layouts.get(source.node.name)
        if source.name.startswith(COTANGENT) and source.name in mine and found is None:
            text = expected.get(source.name.removeprefix(COTANGENT))
            found = _as_its_output(source, mine[source.name], held, text, mesh)
        if found is None and source.name in mine:
            found = _by_name(source, mine[source.name], left, held, placements.get(source.name), mesh)
        if found is not None:
            relation.layouts[source.node.name] = found
        elif source.node.operator == "input" and source.name in mine:
            raise Refused(
                f"rank {source.rank} is given other numbers for {source.name} than stand in the sequential one where a "
                "piece of this shape lies in rank order; give each rank its own piece, or `relations`"
            )
        elif source.node.operator == "input":
            raise Refused(
                f"rank {source.rank} takes an input {source.name}, and the sequential program takes "
                f"{', '.join(n for n, node in mine.items() if node.operator == 'input') or 'none'}; give both the same"
            )
        else:
            open_[source.node.name] = held
    runs = dict(_runs(mine, weights, [source for source in sources if source.node.name in open_], world))
    relation.layouts |= runs
    open_ = {name: tensor for name, tensor in open_.items() if name not in runs}
    if open_:
        _by_value({mine[name].name: tensor for name, tensor in weights.items()}, open_, relation)
        if missing := [name for name in open_ if name not in relation.layouts]:
            _refuse_unplaced(missing, sources)
    _require_covered(left, relation)
    return relation


def _by_position(sources: Sequence[Source], names: Sequence[str]) -> Iterator[Source]:
    """The sources; inputs of a rank that has as many as the sequential program, by other names, under its names."""
    taken: dict[int, list[Source]] = {}
    for source in sources:
        if source.node.operator == "input":
            taken.setdefault(source.rank, []).append(source)
    for source in sources:
        own = taken.get(source.rank, [])
        strange = {other.name for other in own} != set(names)
        if source in own and len(own) == len(names) and strange:
            source = replace(source, name=names[own.index(source)])
        yield source


def _as_its_output(source: Source, node: Node, held: torch.Tensor, text: str | None, mesh: Mesh) -> Layout | None:
    """The piece that a rank has of an output that is expected so, of the whole where ranks have parts of a sum."""
    output = source.name.removeprefix(COTANGENT)
    plain, order = in_order_of(text or "replicated")
    placements = parsed(holders(plain, output, prod(mesh.values()))[0], output, mesh)
    cuts = [placement for placement in placements if placement.kind in ("sharded", "strided")]
    if not cuts:
        return _by_shape(source, node, held, mesh)
    at = [coordinate(rank, cuts[0].axis, mesh)[0] for rank in range(prod(mesh.values()))]
    if order and (len(cuts) > 1 or at[source.rank] not in [at[rank] for rank in order]):
        return _by_shape(source, node, held, mesh)
    place = [at[rank] for rank in order].index(at[source.rank]) if order else at[source.rank]
    layout, shape = piece(node.name, node.shape, cuts, at.index(place) if order else source.rank, mesh)
    return layout if shape == tuple(held.shape) else _by_shape(source, node, held, mesh)


def _by_shape(source: Source, node: Node, held: torch.Tensor, mesh: Mesh) -> Layout | None:
    """The whole, or the piece that rank order gives, by shapes alone."""
    if tuple(held.shape) == node.shape:
        return Whole(node.name)
    pieces = (
        piece(node.name, node.shape, [Placement("sharded", dim, axis=axis)], source.rank, mesh)
        for axis in ("", *(mesh if len(mesh) > 1 else ())) for dim in range(len(node.shape))
    )
    return next((layout for layout, shape in pieces if shape == tuple(held.shape)), None)


def _title(node: Node) -> str:
    """The name that the user knows a source by."""
    return node.origin.parameter or node.name


def _require_known(stated: Mapping[str, str], known: Mapping[str, Node], where: str) -> None:
    for name in stated:
        if name not in known:
            raise Refused(f"a relation is given for {name}, and {where} has only {_listed(list(known))}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")


def _by_name(
    source: Source, node: Node, left: Graph, held: torch.Tensor, placements: tuple[Placement, ...] | None, mesh: Mesh
) -> Layout | None:
    """The piece of the tensor of the same name that this rank holds: as stated, or as its values show."""
    whole = left.tensors[node.name]
    if placements is not None:
        layout, shape = piece(node.name, tuple(whole.shape), placements, source.rank, mesh)
        said = ", ".join(map(str, placements))
        if shape != tuple(held.shape):
            raise Refused(
                f"{source.name} is given as {said}, so that rank {source.rank} has {list(shape)}, "
                f"but it has {list(held.shape)}"
            )
        if not agree(values(layout, lambda _: whole), held, 0.0):
            raise Refused(f"{source.name} is given as {said}, but rank {source.rank} holds other numbers")
        return layout
    if tuple(whole.shape) == tuple(held.shape):
        return Whole(node.name) if agree(whole, held, 0.0) else None
    return next(_cuts_by_rank(node.name, whole, held, source.rank, mesh), None)


def _cuts_by_rank(name: str, whole: torch.Tensor, held: torch.Tensor, rank: int, mesh: Mesh) -> Iterator[Layout]:
    """Pieces that rank order gives, over each dimension and axis, with these values: the natural reading where values
    alone, zeros say, fit several."""
    if whole.dim() != held.dim():
        return
    for axis in ("", *(mesh if len(mesh) > 1 else ())):
        for dim in range(whole.dim()):
            layout, shape = piece(name, tuple(whole.shape), [Placement("sharded", dim, axis=axis)], rank, mesh)
            if shape == tuple(held.shape) and agree(values(layout, lambda _: whole), held, 0.0):
                yield layout


def _runs(
    mine: Mapping[str, Node], weights: Mapping[str, torch.Tensor], sources: Sequence[Source], world: Graph
) -> Iterator[tuple[str, Layout]]:
    """Weights of ranks that are a run of the numbers of a sequential one: what is sharded flat, as FSDP1 does, is cut
    at any number. Found under the name that the weight has in the module that a wrapper holds."""
    for source in sources:
        held = world.tensors[source.node.name]
        name = next((name for name in _endings(source.name) if name in weights), None)
        if name is None or held.dim() != 1 or not 0 < held.numel() < weights[name].numel():
            continue
        flat, count = weights[name].detach().reshape(-1), held.numel()
        starts = (flat.unfold(0, count, 1) == held).all(1).nonzero().flatten().tolist()
        if len(starts) == 1:
            whole: Layout = Whole(mine[name].name)
            whole = whole if weights[name].dim() == 1 else Reshape(whole, (flat.numel(),))
            yield source.node.name, Slice(whole, 0, starts[0], starts[0] + count)


def _endings(name: str) -> Iterator[str]:
    """A name without the modules that it begins with: all of it, then less and less."""
    while name:
        yield name
        name = name.partition(".")[2]


def _by_value(
    weights: Mapping[str, torch.Tensor], held: Mapping[str, torch.Tensor], relation: InputRelation
) -> None:
    """Weights of ranks that have other names than in the sequential program: pieces, or several put together."""
    wide = {name: tensor.double() for name, tensor in weights.items()}
    proposer = PieceProposer([wide], {name: tensor.numel() for name, tensor in wide.items()})
    taken = {part for layout in relation.layouts.values() for part in wholes(layout)}
    free = {name: tensor for name, tensor in wide.items() if name not in taken}
    for name, tensor in held.items():
        if tensor.numel() == 1 and (only := _only_number(free, tensor.double())) is not None:
            relation.layouts[name] = only
            continue
        for _, layout in proposer.candidates([{name: tensor.double()}], name, tuple(tensor.shape))[:1]:
            relation.layouts[name] = layout
    rest = relate_parameters(weights, {name: held[name] for name in held if name not in relation.layouts})
    relation.layouts.update(rest.layouts)
    equal = Counter(rest.keys[0].values())                 # ranks may each hold a copy of one that has no equal
    relation.how = {name: how for name, how in rest.how.items()
                    if any(equal[rest.keys[0][part]] > 1 for part in wholes(rest.layouts[name]))}


def _only_number(weights: Mapping[str, torch.Tensor], held: torch.Tensor) -> Layout | None:
    """The one place in all weights at which they hold this number, in the shape of the tensor that holds it; none for
    a number of few digits, which may stand there by chance."""
    number = held.item()
    found = {name: (tensor == number).nonzero().tolist() for name, tensor in weights.items()}
    places = [(name, *place) for name, at in found.items() for place in at]
    if len(places) != 1 or abs(number - round(number, 3)) < _PLAIN:
        return None
    name, *place = places[0]
    layout: Layout = Whole(name)
    for dim, at in enumerate(place):
        layout = layout if weights[name].shape[dim] == 1 else Slice(layout, dim, at, at + 1)
    return layout if weights[name].dim() == held.dim() else Reshape(layout, tuple(held.shape))


def _refuse_unplaced(names: Sequence[str], sources: Sequence[Source]) -> None:
    unplaced = [source for source in sources if source.node.name in names]
    told = _listed([f"{source.name} of rank {source.rank}" for source in unplaced])
    raise Refused(
        f"{told} {'has' if len(unplaced) == 1 else 'have'} values that no piece of the sequential weights has; load "
        "the shards of the sequential weights, none of them all zeros or ones, or give `relations`"
    )


def _require_covered(left: Graph, relation: InputRelation) -> None:
    """Every element of a sequential weight or input that is on a rank at all must be on one."""
    marks = {node.name: torch.zeros(node.shape, dtype=torch.bool) for node in left.nodes
             if node.operator in ("input", "parameter")}
    titles = {node.name: _title(node) for node in left.nodes}
    for layout in relation.layouts.values():
        _mark(layout, marks)
    partly = [titles[name] for name, mark in marks.items() if bool(mark.any()) and not bool(mark.all())]
    if partly:
        raise Refused(f"part of {_listed(partly)} is on no rank; give every rank its piece of the sequential tensor")
    relation.unpaired_left = [name for name, mark in marks.items() if mark.numel() and not bool(mark.any())]


def _mark(layout: Layout, marks: dict[str, torch.Tensor]) -> None:
    """Mark the elements that a layout takes, by running it on their numbers."""
    numbered, start, names = {}, 0, dict.fromkeys(wholes(layout))
    for name in names:
        size = marks[name].numel()
        numbered[name] = torch.arange(start, start + size).reshape(marks[name].shape)
        start += size
    taken = values(layout, numbered.__getitem__).reshape(-1)
    start = 0
    for name in names:
        size = marks[name].numel()
        inside = taken[(taken >= start) & (taken < start + size)] - start
        marks[name].reshape(-1)[inside] = True
        start += size
