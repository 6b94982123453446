"""Where outputs lie that are zero, but for rounding (relate/vanishing.py).

What ranks hold of the gradient of a bias before a norm, or of a key's bias in attention, is other on every rank, and
tells nothing: such an output lies as it is due.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import torch

from samesame.graph import Graph, Node
from samesame.refine.due import Due
from samesame.refine.outputs import Found, Groups
from samesame.refine.placement import Mesh, coordinate, holders, in_order_of, parsed
from samesame.relate.layout import values as layout_values
from samesame.relate.propose import Values
from samesame.relate.vanishing import Total, vanishing

Pairs = Mapping[str, tuple[Node, Mapping[int, Node]]]
WORDS = "zero, but for rounding"


def zero_outputs(left: Graph, right: Graph, pairs: Pairs, due: Mapping[str, Due], values: tuple[Values, Values],
                 mesh: Mesh) -> frozenset[str]:
    """The outputs that are zero in the sequential program, and so are what the ranks have of them, as it is due."""
    mine = {name: [Total((root.name,))] for name, (root, held) in pairs.items() if held}
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


def _on_ranks(lies: Found, held: Mapping[int, Node]) -> list[Total]:
    if lies.kind == "partial":
        return [Total(tuple(held[group[0]].name for group in lies.groups))]
    return [Total((node.name,)) for node in held.values()]


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
