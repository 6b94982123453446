"""Candidates: which left tensors a right tensor is worth being related to, of those that agree with it in value.

Where a tensor is what several rearrangements of one left tensor hold, one of them is enough; what is known already
needs no proof. A movement computes nothing, so later blocks look through it to the tensor that it moves. Not where it
meets what was put together: a concatenation is cases for whoever looks through it, and a plain tensor for whoever knows
that it holds another one's elements in some order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from samesame.graph import Node
from samesame.operators.table import movements, packet
from samesame.relate.blocks import JOINS
from samesame.relate.joint import BIJECTIVE, JointGraph
from samesame.relate.layout import Layout, over_symbols_of, share, takes_all, wholes

_PIECES = ["expand", "slice", "select", "split", "split_with_sizes", "chunk", "unbind", "narrow", "cat", "stack"]
MOVES = BIJECTIVE | {"getitem", *(f"aten.{name}" for name in _PIECES)}
Candidates = list[tuple[str, Layout]]


def distinct(
    joint: JointGraph, node: Node, partner: Node | None, found: Candidates, held: Sequence[tuple[int, Layout]],
    by_name: Mapping[str, Node], exact: bool,
) -> list[tuple[Node, Layout]]:
    """The candidates that need a proof: a piece that is `held` is known by congruence. Of left tensors that are
    arrangements of one another the first is one, in each of its layouts. A root's partner comes first; of a movement
    then what the left puts together in it, of which what both move does not tell; then what the same operator made.
    Layouts are over size symbols, unless they are to be `exact`."""
    seen, kept = dict[int, str](), list[tuple[Node, Layout]]()
    moves = packet(node.operator) in movements()

    def joins(name: str, layout: Layout) -> bool:
        return moves and by_name[name].operator in JOINS and takes_all(layout)

    def order(pair: tuple[str, Layout]) -> tuple[bool, ...]:
        other = by_name[pair[0]]
        return partner is None or other is not partner, not joins(*pair), other.operator != node.operator

    for name, layout in sorted(found, key=order):
        other = by_name[name]
        at = share(layout, other.shape)
        told = [left for left, known in held if share(known, joint.types[left].shape) == at]
        if partner is None and told and (not joins(name, layout) or joint.term[other] in told):
            break
        *_, whole = joint.unmoved(joint.term[other])
        if seen.setdefault(joint.egraph.find(whole), name) == name:
            shapes = {part: by_name[part].shape for part in wholes(layout)}
            general = layout if exact else over_symbols_of(layout, shapes, node.shape)
            kept += [] if general is None else [(other, general)]
    return kept


def moves_related(joint: JointGraph, term: int) -> bool:
    shown = joint.egraph.term(term)
    return (
        shown.operator.rsplit(".", 1)[0] in MOVES
        and all(joint.is_related(argument) or moves_related(joint, argument) for argument in shown.arguments)
        and bool(shown.arguments)
    )


def put_together(
    joint: JointGraph, node: Node, candidates: Callable[[], Candidates], by_name: Mapping[str, Node], gathers: bool,
    guided: bool,
) -> Candidates:
    """The left tensors that a movement is worth relating to: where ranks hold pieces, a weight that is whole again;
    and what a concatenation, on either side, holds all of in some order, which later blocks could not see through the
    cuts."""
    joined = node.operator in JOINS or any(other.operator in JOINS for other in by_name.values())
    ranks = gathers and not guided and _gathers(joint, joint.term[node])
    if not (ranks if gathers else joined):
        return []

    def is_worth_it(other: Node, layout: Layout) -> bool:
        joins = node.operator in JOINS or (other.operator in JOINS and not gathers)
        return (joins and (ranks or takes_all(layout))) or (ranks and other.operator == "parameter")

    return [(name, layout) for name, layout in candidates() if is_worth_it(by_name[name], layout)]


def _gathers(joint: JointGraph, term: int) -> bool:
    """Does the movement put pieces together somewhere?"""
    shown = joint.egraph.term(term)
    moves = shown.operator.rsplit(".", 1)[0] in MOVES
    return moves and (shown.operator == "aten.cat.default" or any(_gathers(joint, part) for part in shown.arguments))
