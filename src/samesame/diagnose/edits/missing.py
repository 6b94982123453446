"""Edits that put in what is missing: a factor, a bias or a cap that the other side has after the same tensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from samesame.diagnose.change import Change, Hints, Made, after, floats, numbers, packet, shown
from samesame.diagnose.repeated import namesake, repetitions
from samesame.graph import Node, TensorType


def _in_rows_of(mine: torch.Tensor, node: Node, values: Mapping[str, Any]) -> torch.Tensor | None:
    """The node's value as a tensor of the shape of `mine`, where their rows are alike however they are counted."""
    yours = floats(values, node)
    if yours is None or yours.numel() != mine.numel() or yours.shape[-1:] != mine.shape[-1:]:
        return None
    return yours.reshape(mine.shape)


def missing_factor(node: Node, hints: Hints) -> Iterator[Change]:
    """The other side's tensor is this one times a number."""
    mine = floats(hints.values, node)
    if mine is None or mine.numel() < 2:
        return
    for other in hints.others:
        yours = _in_rows_of(mine, other, hints.other_values)
        factor = None if yours is None else _factor(mine, yours)
        if factor is not None:
            yield Change(
                node,
                f"{packet(node)} is multiplied by {shown(factor)}",
                1,
                lambda n, factor=factor: after(n, ("aten.mul.Tensor", (factor,))),
                other,
            )


def _factor(mine: torch.Tensor, yours: torch.Tensor) -> float | None:
    finite = torch.isfinite(mine) & torch.isfinite(yours) & (mine != 0)
    if int(finite.sum()) < 2:
        return None
    ratios = yours[finite] / mine[finite]
    middle = float(ratios.median())
    if middle == 0 or abs(middle - 1) < 1e-9 or float((ratios - middle).abs().max()) > 1e-9 * abs(middle):
        return None
    return middle


def missing_bias(node: Node, hints: Hints) -> Iterator[Change]:
    """The other side's tensor is this one plus a weight of that side, broadcast; or its tensors are the columns of this
    one, plus a weight each."""
    mine = floats(hints.values, node)
    if mine is None:
        return
    found: dict[int, tuple[Node, Node]] = {}               # by column: a weight, and what adds it
    for other in hints.others:
        yours = floats(hints.other_values, other)
        if yours is None or min(mine.dim(), yours.dim()) < 1 or not torch.isfinite(yours).all():
            continue
        rows = _in_rows_of(mine, other, hints.other_values)
        if rows is not None:
            for weight in hints.other_graph.sources("parameter"):
                if _is_gap(mine, rows, floats(hints.other_values, weight)):
                    yield from _in_each_place(node, {0: (weight, other)}, hints)
        for weight in [part for part in other.inputs if part.operator == "parameter"]:
            at = _columns(mine, yours, floats(hints.other_values, weight))
            if at is not None:
                found.setdefault(at, (weight, other))
    if len(found) > 1 and _cover(found, mine.shape[-1]):
        yield from _in_each_place(node, dict(sorted(found.items())), hints)


def _is_gap(mine: torch.Tensor, yours: torch.Tensor, weight: torch.Tensor | None) -> bool:
    if weight is None or weight.dim() != 1 or mine.shape[-1:] != weight.shape or not weight.any():
        return False
    gap, scale = yours - mine, float(yours.abs().max()) or 1.0
    return bool(torch.isfinite(gap).all()) and float((gap - weight).abs().max()) <= 1e-9 * scale


def _columns(mine: torch.Tensor, yours: torch.Tensor, weight: torch.Tensor | None) -> int | None:
    """The first of the columns of `mine` that `yours` is, but for a weight that is added."""
    if weight is None or weight.dim() != 1 or yours.shape[-1:] != weight.shape or not weight.any():
        return None
    if min(mine.dim(), yours.dim()) < 2:
        return None
    wide, width = mine.flatten(0, -2), yours.shape[-1]
    part = yours.flatten(0, -2) - weight
    if part.shape[0] != wide.shape[0] or width >= wide.shape[1]:
        return None
    at = int((wide[:, : wide.shape[1] - width + 1] - part[:, :1]).abs().amax(0).argmin())
    scale = float(yours.abs().max()) or 1.0
    return at if float((wide[:, at : at + width] - part).abs().max()) <= 1e-9 * scale else None


def _cover(found: dict[int, tuple[Node, Node]], width: int) -> bool:
    """Do the columns make the whole, one behind the other?"""
    at = 0
    for start, (weight, _) in sorted(found.items()):
        if start != at:
            return False
        at += weight.shape[0]
    return at == width


def _in_each_place(node: Node, found: dict[int, tuple[Node, Node]], hints: Hints) -> Iterator[Change]:
    """Here, and wherever the same is done with other weights."""
    for _, _, twins in repetitions(node, hints.graph):
        yield from _adding(node, found, (node, *twins), hints)
    yield from _adding(node, found, (node,), hints)


def _adding(
    node: Node, found: dict[int, tuple[Node, Node]], places: tuple[Node, ...], hints: Hints
) -> Iterator[Change]:
    """Add weights of the other side to the node, and their namesakes to the other places."""
    mine = _weight_of(node)
    made: dict[str, tuple[Node, ...]] = {}                 # by place: the weights that it adds
    taken: dict[str, Node] = {}
    for place in places:
        there = _weight_of(place)
        inputs = []
        for number, (weight, _) in enumerate(found.values()):
            bias: Node | None = weight
            if place is not node:
                bias = None if mine is None or there is None else namesake(weight, mine, there, hints.other_graph)
            if bias is None:
                return
            name = f"{place.name}_bias{number or ''}"
            inputs.append(Node(name, "input", (), {}, TensorType(bias.shape, "float64"), bias.origin))
            taken[name] = bias
        made[place.name] = tuple(inputs)
    everywhere = f", in all {len(places)} places where the line runs, each its own" if len(places) > 1 else ""
    names = [weight.origin.parameter or weight.name for weight, _ in found.values()]
    said = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} side by side"
    yield Change(
        node,
        f"{packet(node)} adds {said}{everywhere}",
        1,
        lambda n: _with_sum(n, made[n.name]),
        next(iter(found.values()))[1],
        taken=taken,
        twins=places[1:],
    )


def _with_sum(node: Node, weights: tuple[Node, ...]) -> Made:
    if len(weights) == 1:
        return [*weights, *after(node, ("aten.add.Tensor", weights))]
    size = sum(weight.shape[0] for weight in weights)
    joined = Node(f"{node.name}_biases", "aten.cat.default", (weights,), {}, TensorType((size,), "float64"))
    return [*weights, joined, *after(node, ("aten.add.Tensor", (joined,)))]


def _weight_of(node: Node) -> Node | None:
    return next((part for part in node.inputs if part.operator == "parameter"), None)


def missing_cap(node: Node, hints: Hints) -> Iterator[Change]:
    """The other side's tensor is this one under a soft cap, c·tanh(x / c), with a number c of that side."""
    mine = floats(hints.values, node)
    if mine is None or not any(packet(other) == "aten.tanh" for other in hints.others):
        return
    said = {float(v) for other in hints.others for _, _, v in numbers(other)}
    for cap in sorted(c for v in said if v > 0 for c in {v, 1 / v}):
        capped = cap * torch.tanh(mine / cap)
        for other in hints.others:
            yours = _in_rows_of(mine, other, hints.other_values)
            if yours is not None and torch.allclose(yours, capped, rtol=1e-9, atol=0):
                yield Change(
                    node,
                    f"{packet(node)} is capped: {shown(cap)}·tanh(· / {shown(cap)})",
                    2,
                    lambda n, cap=cap: after(
                        n, ("aten.div.Tensor", (cap,)), ("aten.tanh.default", ()), ("aten.mul.Tensor", (cap,))
                    ),
                    other,
                )
