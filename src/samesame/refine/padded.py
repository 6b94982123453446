"""Flat weights that ranks share, often filled up with zeros: ZeRO and FSDP by hand.

What is cut flat must divide by the ranks, so people lay weights one after another, put zeros behind them, and give
each rank as much. Laid together again, the pieces of one name on all ranks are then the numbers of sequential weights
in their order, and zeros. Where that is so, a rank's piece is read as its part of the weights, and the zeros as zeros:
they belong to the program, not to its weights.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import torch

from samesame.capture.ranks.record import AFTER
from samesame.graph import Dtype, Graph, Node, TensorType, rewritten
from samesame.refine.due import GRADIENT
from samesame.refine.sources import Source
from samesame.relate.layout import Concat, Layout, Reshape, Slice, Whole


def without_padding(
    left: Graph, world: Graph, sources: Sequence[Source], stated: Collection[str]
) -> tuple[Graph, dict[str, Layout]]:
    """The world in which flat weights of all ranks are no longer than the sequential weights they are made of, and the
    layouts of these, by node name. What is `stated` of weights by these names is not looked into."""
    weights = {node.name: left.tensors[node.name].detach() for node in left.sources("parameter")}
    kept: dict[Node, int] = {}
    layouts: dict[str, Layout] = {}
    for pieces in _flat([source for source in sources if source.name not in stated], world):
        held = [world.tensors[piece.node.name] for piece in pieces]
        run = list(_laid_out(torch.cat(held), weights))
        total, length = sum(weights[name].numel() for name in run), len(held[0])
        filled_up = total < length * len(pieces)
        if not run or (len(run) == 1 and not filled_up) or (filled_up and _is_told(pieces, world)):
            continue
        for number, piece in enumerate(pieces):
            start, stop = number * length, min((number + 1) * length, total)
            if stop < start + length:
                kept[piece.node] = max(stop - start, 0)
            if stop > start:
                layouts[piece.node.name] = _cut(run, weights, start, stop)
    if not kept:
        return world, layouts
    tensors = dict(world.tensors)
    tensors.update((node.name, tensors[node.name][:count]) for node, count in kept.items())
    filled = rewritten(world, lambda node, now: _filled(node, kept[node]) if node in kept else [now])
    return replace(filled, tensors=tensors), layouts


def _flat(sources: Iterable[Source], world: Graph) -> Iterator[list[Source]]:
    """Weights in one dimension that all ranks have under one name, equally long, none of them the same as another."""
    named: dict[str, list[Source]] = {}
    for source in sources:
        if source.node.operator == "parameter":
            named.setdefault(source.name, []).append(source)
    ranks = {source.rank for source in sources}
    for pieces in named.values():
        held = [world.tensors[piece.node.name] for piece in pieces]
        alike = len({tuple(tensor.shape) for tensor in held}) == 1 and {piece.rank for piece in pieces} == ranks
        if alike and held[0].dim() == 1 and held[0].numel() and not torch.equal(held[0], held[-1]):
            yield pieces


def _is_told(pieces: Sequence[Source], world: Graph) -> bool:
    """Are their gradients, or what is left in them, outputs? The padding would have some, and be no weight."""
    roots, name = {name for name, _ in world.roots}, pieces[0].name
    return any(f"r{piece.rank}.{told}" in roots for piece in pieces for told in (f"{GRADIENT}{name}", f"{name}{AFTER}"))


def _laid_out(joined: torch.Tensor, weights: Mapping[str, torch.Tensor]) -> Iterator[str]:
    """The weights whose numbers stand there one after another, before zeros alone; none where something else does, or
    the zeros could be a weight, too."""
    found, at = list[str](), 0
    while at < joined.numel():
        here = (name for name, weight in weights.items() if name not in found and 0 < weight.numel() <= len(joined) - at
                and torch.equal(weight.reshape(-1), joined[at : at + weight.numel()]))
        name, zeros = next(here, None), not bool(joined[at:].any())
        if (name is None) is not zeros:
            return
        if name is None:
            break
        found.append(name)
        at += weights[name].numel()
    yield from found


def _cut(run: Sequence[str], weights: Mapping[str, torch.Tensor], start: int, stop: int) -> Layout:
    """From one element of weights that stand one after another to another."""
    parts, at = list[Layout](), 0
    for name in run:
        count = weights[name].numel()
        low, high = max(start - at, 0), min(stop - at, count)
        if low < high:
            flat: Layout = Whole(name) if weights[name].dim() == 1 else Reshape(Whole(name), (count,))
            parts.append(flat if (low, high) == (0, count) else Slice(flat, 0, low, high))
        at += count
    return parts[0] if len(parts) == 1 else Concat(tuple(parts), 0)


def _filled(node: Node, count: int) -> list[Node]:
    """The weight up to its padding, and zeros; zeros alone where there is no more of it."""
    assert isinstance(node.type, TensorType)
    if not count:
        shape, dtype = node.shape, {"dtype": Dtype(node.type.dtype)}
        return [Node(f"{node.name}.zeros", "aten.full.default", (shape, 0), dtype, node.type, node.origin)]
    short = replace(node, type=TensorType((count,), node.type.dtype))
    given = (short, (0, node.shape[0] - count), 0)
    return [short, Node(f"{node.name}.filled", "aten.constant_pad_nd.default", given, {}, node.type, node.origin)]
