"""Handed on: what is no number on both sides, as a softmax of a row that a mask hides whole, and a later proof of it.

That both sides are NaN there is enough where they are results, or where the same operators are applied to them. What is
proved of anything that is made of them is about numbers, though: p·m and {p if m else 0} are the same but where p is
NaN. Then that no row is hidden whole is a condition like any other.

A proof that both sides have the same elements of it is about whatever they are.

That both are −∞ is enough where later proofs reckon with it: they do if both programs are known to have −∞ there
(at_infinity.py), as long as the same operators make no NaN of it, as −∞ − (−∞) is one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from samesame.formula.assumptions import BOTH_ABOVE, BOTH_BELOW, OF_MAXIMA, SOME, Assumption, Holds
from samesame.formula.spans import ABOVE, BELOW, INFINITE
from samesame.graph import Node
from samesame.operators.table import movements, packet
from samesame.relate.blocks import Block
from samesame.relate.joint import IDENTITIES
from samesame.relate.layout import wholes
from samesame.relate.relating import Relating

SAME_OPERATORS = ("congruence", "input", "constant")
INFINITIES = {BOTH_BELOW: BELOW, BOTH_ABOVE: ABOVE}
# Operators that make no NaN of an infinity beside numbers; those of ONE, of one infinite argument beside finite ones.
MOVING = movements() | IDENTITIES | frozenset(f"aten.{name}" for name in (
    "index", "_unsafe_index", "index_select", "gather", "take_along_dim", "embedding"))
PASSING = MOVING | frozenset(f"aten.{name}" for name in (
    "where", "masked_fill", "exp",
    "neg", "relu", "sigmoid", "tanh", "amax", "amin", "maximum", "minimum", "clamp", "clamp_min", "clamp_max"))
ONE = frozenset(f"aten.{name}" for name in ("add", "sub", "rsub"))


def with_rows_excluded(conditions: Iterable[Assumption], relating: Relating) -> list[Assumption]:
    """The conditions of a run's proofs; those of maxima over something in full, where more is proved of their sides."""
    found = list(conditions)
    if not any(map(_is_of_rows, found)) or not is_handed_on(relating):
        return found
    return [replace(one, kind=SOME) if isinstance(one, Holds) and _is_of_rows(one) else one for one in found]


def is_handed_on(relating: Relating) -> bool:
    """Is there a proof of what is made of a tensor that may be no number, and that does not reckon with that?"""
    doubtful, infinite = set[Node](), set[Node]()
    moving = {use.right for use in relating.uses if _only_moves(use.block)}
    for node in relating.right.nodes:
        evidence = relating.related[node][2] if node in relating.related else None
        same = evidence is None or evidence.method in SAME_OPERATORS or relating.joint.term[node] in moving
        if not doubtful.isdisjoint(node.inputs):
            if not same:
                return True
            doubtful.add(node)
        elif same and not infinite.isdisjoint(node.inputs) and not _passes(relating, node):
            doubtful.add(node)
        elif not infinite.isdisjoint(node.inputs) and relating.spans_of(node) & INFINITE:
            infinite.add(node)
        for one in evidence.conditions if evidence is not None else ():
            if isinstance(one, Holds) and _is_of_rows(one):
                (infinite if _is_reckoned_with(relating, node, one) else doubtful).add(node)
    return _is_handed_on_by_left(relating, doubtful, moving)


def _is_handed_on_by_left(relating: Relating, doubtful: set[Node], moving: set[int]) -> bool:
    """Is there a proof of what the left program makes of the same tensors? The right one may have no use for them."""
    def class_of(node: Node) -> int:
        return relating.joint.egraph.find(relating.joint.term[node])

    known = [relating.related[node][1] for node in doubtful if node in relating.related]
    made = {class_of(relating.left[name]) for layout in known for name in wholes(layout)}
    after = set[Node]()
    for node in relating.left.nodes:
        if any(part in after or class_of(part) in made for part in node.inputs):
            after.add(node)
    return any(evidence.method not in SAME_OPERATORS and relating.joint.term[node] not in moving
               and any(relating.left[name] in after for name in wholes(layout))
               for node, (_, layout, evidence) in relating.related.items())


def _only_moves(claim: Block) -> bool:
    """Does a proof say no more than that both sides have the same elements of a tensor, whatever they are?"""
    return all(node.is_source or packet(node.operator) in MOVING for node in claim.graph.nodes)


def _is_reckoned_with(relating: Relating, node: Node, one: Holds) -> bool:
    """Is the tensor known to be infinite where the maximum is over nothing, on both sides?"""
    layout = relating.related[node][1]
    same = (node, *(relating.left[name] for name in wholes(layout)))
    return all(INFINITIES.get(one.kind) in relating.spans_of(tensor) for tensor in same)


def _passes(relating: Relating, node: Node) -> bool:
    """Does the operator make no NaN of infinities?"""
    if packet(node.operator) in ONE:
        return sum(bool(relating.spans_of(part) & INFINITE) for part in node.inputs) < 2
    return packet(node.operator) in PASSING


def _is_of_rows(one: Assumption) -> bool:
    return isinstance(one, Holds) and one.kind in OF_MAXIMA - {SOME}
