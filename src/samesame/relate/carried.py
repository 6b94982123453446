"""Carried: a relation that congruence makes is worth no more than the relations that it was carried from.

Where every input of a right operator is related, and the left program applies the same operator to the same,
nothing has to be proved. What that rests on has: if one input is related by a test, so is the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from samesame.evidence import Evidence, Relation
from samesame.graph import Graph, Node
from samesame.relate.relating import Relating


def carried(relations: Sequence[Relation], right: Graph) -> list[Relation]:
    """The relations of a graph's nodes, those by congruence with the weakest evidence that they rest on."""
    known = {relation.right: relation for relation in relations}
    rests: dict[Node, Evidence | None] = {}
    for node in right.nodes:
        below = [evidence for part in node.inputs if (evidence := rests[part]) is not None]
        weakest = min(below, key=lambda evidence: evidence.rung, default=None)
        own = known.get(node.name)
        if own is not None and own.evidence.method == "congruence" and weakest and weakest.rung < own.evidence.rung:
            told = f"carried from what is {weakest.rung}: {weakest.detail}".removesuffix(": ")
            own = known[node.name] = replace(own, evidence=replace(own.evidence, rung=weakest.rung, detail=told))
        rests[node] = weakest if own is None else own.evidence
    return [known[relation.right] for relation in relations]


def counted(relating: Relating, relations: Sequence[Relation], left: str, right: str) -> dict[str, int]:
    """What was related, and how, in numbers; the operators of each side under these names."""
    return {
        "relations": len(relations),
        "proofs": relating.prover.proofs,
        "attempts": relating.prover.attempts,
        "by rule": relating.prover.by_rule,
        "by congruence": sum(relation.evidence.method == "congruence" for relation in relations),
        left: sum(not node.is_source for node in relating.left.nodes),
        right: sum(not node.is_source for node in relating.right.nodes),
    }
