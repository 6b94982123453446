"""Vanishing outputs: those that are zero, but for rounding.

The gradient of a bias before a norm is zero, for the norm takes every shift out again; so is that of a key's bias in
attention. What programs compute of it is rounding and nothing else, other on every rank, and no number in it says
anything. An output that is no larger than what rounding of its inputs moves it by is read as zero on both sides: values
then neither tell nor refute where it lies, and only a proof does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch

from samesame.graph import Graph, Node
from samesame.operators.execute import execute
from samesame.operators.kept import Over
from samesame.refine.due import Due
from samesame.refine.outputs import Found, Groups
from samesame.refine.placement import Mesh, coordinate, holders, in_order_of, parsed
from samesame.relate.layout import values as layout_values
from samesame.relate.propose import Values

Pairs = Mapping[str, tuple[Node, Mapping[int, Node]]]
Run = Mapping[str, Any]
SMALL = 1e-9                # of the largest operand: only then is it asked how far rounding goes
STEPS = 8.0                 # units in the last place by which inputs move
ROOM = 100.0                # times as far may an output be that is zero
WORDS = "zero, but for rounding"


@dataclass(frozen=True, slots=True)
class Whole:
    """A tensor that a graph has, or that is the sum of several."""

    parts: tuple[str, ...]

    def of(self, run: Run) -> torch.Tensor:
        return torch.stack([run[name].double() for name in self.parts]).sum(0)


def vanishing(graph: Graph, wholes: Mapping[str, Sequence[Whole]], runs: Values) -> frozenset[str]:
    """The outputs all of whose tensors are zero, on every draw."""
    small = {name for name, own in wholes.items() if own and all(_is_small(graph, x, run) for x in own for run in runs)}
    for run in runs if small else ():
        sources = {node.name: _moved(run[node.name]) for node in graph.nodes if node.is_source}
        moved: dict[str, Any] = execute(graph, sources)
        small = {name for name in small
                 if all(_largest(x.of(run)) <= ROOM * _largest(x.of(run) - x.of(moved)) for x in wholes[name])}
    return frozenset(small)


def zero_outputs(left: Graph, right: Graph, pairs: Pairs, due: Mapping[str, Due], values: tuple[Values, Values],
                 mesh: Mesh) -> frozenset[str]:
    """The outputs that are zero in the sequential program, and so are what the ranks have of them, as it is due."""
    mine = {name: [Whole((root.name,))] for name, (root, held) in pairs.items() if held}
    found = vanishing(left, mine, values[0])
    lying = {name: lying_anyhow(due[name], list(pairs[name][1]), mesh) for name in found}
    found = frozenset(name for name in found if _fits(lying[name], *pairs[name]))
    yours = {name: _on_ranks(lying[name], pairs[name][1]) for name in found}
    return vanishing(right, yours, values[1]) if found else found


def _fits(lies: Found, root: Node, held: Mapping[int, Node]) -> bool:
    """Whether what ranks hold has the shape of what they should: zeros of another shape are no piece of the output."""
    whole = torch.empty(root.shape, device="meta")
    if lies.own:
        return all(layout_values(lies.own[rank], lambda _: whole).shape == node.shape for rank, node in held.items())
    if lies.kind not in ("sharded", "strided") or any(len(node.shape) != whole.dim() for node in held.values()):
        return all(node.shape == root.shape for node in held.values())
    others = [dim for dim in range(whole.dim()) if dim != lies.dim]
    alike = all(node.shape[dim] == root.shape[dim] for node in held.values() for dim in others)
    sizes = [{held[rank].shape[lies.dim] for rank in group} for group in lies.groups]
    fits = alike and all(len(one) == 1 for one in sizes) and sum(map(sum, sizes)) == root.shape[lies.dim]
    return fits and (lies.kind == "sharded" or (all(one == {lies.parts * (min(one) // lies.parts)} for one in sizes)
                     and len(set(map(min, sizes))) == 1))


def _on_ranks(lies: Found, held: Mapping[int, Node]) -> list[Whole]:
    if lies.kind == "partial":
        return [Whole(tuple(held[group[0]].name for group in lies.groups))]
    return [Whole((node.name,)) for node in held.values()]


def with_zeros(runs: Values, names: Collection[str]) -> Values:
    """The values of each draw with zeros for these nodes."""
    return [Over({name: torch.zeros_like(run[name]) for name in names}, run) for run in runs] if names else runs


def _is_small(graph: Graph, whole: Whole, run: Run) -> bool:
    first = run[whole.parts[0]]
    if not isinstance(first, torch.Tensor) or not first.is_floating_point() or graph[whole.parts[0]].is_source:
        return False
    operands = [run[part.name] for name in whole.parts for part in _behind(graph[name])]
    scale = max((_largest(x) for x in operands if isinstance(x, torch.Tensor)), default=0.0)
    return _largest(whole.of(run)) < SMALL * scale


def _behind(node: Node, steps: int = 3) -> set[Node]:
    """A node, what it reads, and what that was made of, some steps back: a sum may be moved before it is returned."""
    found = last = {node}
    for _ in range(steps):
        last = {part for one in last for part in one.inputs} - found
        found = found | last
    return found


def _largest(value: torch.Tensor) -> float:
    return float(value.double().abs().max()) if value.numel() and not value.is_complex() else 0.0


def _moved(value: torch.Tensor) -> torch.Tensor:
    if not value.is_floating_point():
        return value
    dice = torch.Generator().manual_seed(value.numel())
    signs = torch.rand(value.shape, generator=dice, dtype=torch.float64) * 2 - 1
    return (value.double() * (1 + STEPS * torch.finfo(torch.float64).eps * signs)).to(value.dtype)


def lying_anyhow(due: Due, ranks: Sequence[int], mesh: Mesh) -> Found:
    """How an output that is zero lies on these ranks: as it is due."""
    text = holders(due.text, due.name, len(ranks))[0] if due.text else ""
    placements = parsed(text, due.name, mesh) if text else ()
    if any(placement.kind == "partial" for placement in placements):
        groups = _groups(ranks, placements[0].axis, mesh)
        return Found("partial", WORDS, groups, factor=Fraction(1, len(groups)) if "avg" in text else Fraction(1))
    if due.own and set(due.own) == set(ranks):
        return Found("pieces", WORDS, tuple((rank,) for rank in ranks), own=due.own)
    if len(placements) == 1 and placements[0].kind in ("sharded", "strided"):
        kind, (_, order) = placements[0], in_order_of(due.text or "")
        groups = _groups(ranks, kind.axis, mesh)
        if order and {group[0] for group in groups} == set(order):
            groups = tuple(sorted(groups, key=lambda group: order.index(group[0])))
        return Found(kind.kind, WORDS, groups, kind.dim, parts=kind.parts)
    return Found("replicated", WORDS, (tuple(ranks),))


def _groups(ranks: Sequence[int], axis: str, mesh: Mesh) -> Groups:
    along: dict[int, list[int]] = {}
    for rank in ranks:
        along.setdefault(coordinate(rank, axis, mesh)[0], []).append(rank)
    return tuple(map(tuple, along.values()))
