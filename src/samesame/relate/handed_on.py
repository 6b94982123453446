"""Handed on: what is no number on both sides, as a softmax of a row that a mask hides whole, and a later proof of it.

That both sides are NaN there is enough where they are results, or where the same operators are applied to them. What is
proved of anything that is made of them is about numbers, though: p·m and {p if m else 0} are the same but where p is
NaN. Then that no row is hidden whole is a condition like any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from samesame.formula.assumptions import NEITHER, SOME, Assumption, Holds
from samesame.relate.relating import Relating

SAME_OPERATORS = ("congruence", "input", "constant")


def with_rows_excluded(conditions: Iterable[Assumption], relating: Relating) -> list[Assumption]:
    """The conditions of a run's proofs; those of maxima over something in full, where more is proved of their sides."""
    found = list(conditions)
    if not any(map(_is_of_rows, found)) or not is_handed_on(relating):
        return found
    return [replace(one, kind=SOME) if isinstance(one, Holds) and _is_of_rows(one) else one for one in found]


def is_handed_on(relating: Relating) -> bool:
    """Is there a proof of what is made of a tensor that may be no number?"""
    may_be_none = {node for node, (_, _, evidence) in relating.related.items()
                   if any(map(_is_of_rows, evidence.conditions))}
    after = set(may_be_none)
    for node in relating.right.nodes:
        if not after.isdisjoint(node.inputs):
            after.add(node)
            if node in relating.related and relating.related[node][2].method not in SAME_OPERATORS:
                return True
    return False


def _is_of_rows(one: Assumption) -> bool:
    return isinstance(one, Holds) and one.kind == NEITHER
