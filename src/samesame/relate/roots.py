"""Roots: the outputs of two programs, compared pairwise.

Root to root, and with evidence: a relation to some other tensor of the other side is not enough, and an output rests on
every relation that led to it, so it is worth no more than the weakest of them.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from samesame.evidence import Evidence, Relation, Root, Rung
from samesame.graph import Graph, Node
from samesame.relate.propose import Values, agree, difference, reals
from samesame.relate.relating import Relating

# Differences relative to a root's largest magnitude, in float64. Rounding alone stays far below AGREES; where the
# sides hold constants that differ by their own rounding (a table stored in float32, say), only what is above
# ROUNDED refutes.
AGREES = 1e-9
REFUTES = 1e-8
ROUNDED = 1e-6


def compare_roots(relating: Relating, values: tuple[Values, Values]) -> list[Root]:
    """Pairwise, root to root: a relation to some other tensor of the other side is not enough."""
    return [
        _root(name, a, b, relating, values)
        for (name, a), (_, b) in zip(relating.left.roots, relating.right.roots, strict=True)
    ]


def _root(name: str, left: Node, right: Node, relating: Relating, values: tuple[Values, Values]) -> Root:
    worst = mean = apart = 0.0
    agreeing = True
    suspect = bool(relating.inputs.suspects)
    for position, (mine, yours) in enumerate(zip(*values, strict=True)):
        x, y = mine[left.name], yours[right.name]
        agreeing = agreeing and agree(x, y, AGREES)
        off = difference(x, y)
        if position == 0 or not suspect:         # a weight that may be made of others is drawn without regard to them
            apart = max(apart, off)
        if off == math.inf:
            worst = mean = math.inf
        elif off:
            gap = torch.sub(*reals(x, y)).abs()
            gap = gap[torch.isfinite(gap)]
            worst, mean = max(worst, float(gap.max())), max(mean, float(gap.mean()))
    if not agreeing and apart > (ROUNDED if _may_be_rounded(relating) else REFUTES):
        told = f"they differ by {apart:.2g} of the largest magnitude, in float64"
        told = told if math.isfinite(apart) else ""
        elsewhere = _output_of(relating.left, left, values[0], right, values[1])
        evidence = Evidence(Rung.REFUTED, "values", detail="; ".join(filter(None, (told, elsewhere))))
    elif not agreeing:
        told = f"they differ by {apart:.2g} of the largest magnitude, perhaps because stored numbers were rounded"
        evidence = Evidence(Rung.UNDECIDED, "values", detail=f"{told}: in float64 nothing would then be left")
    elif 0 in left.shape:
        evidence = Evidence(Rung.PROVED_HERE, "constant", detail="it has no elements")
    else:
        evidence = relating.root_evidence(left, right) or Evidence(
            Rung.UNDECIDED, "values", detail="equal on every draw, and no proof was found"
        )
    return Root(name, left.name, right.name, evidence, worst, mean)


def _may_be_rounded(relating: Relating) -> bool:
    """Does a side hold numbers that may be roundings of what the other side computes, though nothing shows it?"""
    inputs = relating.inputs
    if inputs.suspects is not None:
        return bool(inputs.suspects)
    return bool(relating.rounded or inputs.unpaired_left or inputs.unpaired_right)


def _output_of(graph: Graph, node: Node, mine: Values, right: Node, yours: Values) -> str:
    """Which of the left's other outputs the right one is, if any: outputs in another order are a common mistake."""
    for name, other in graph.roots:
        if other is not node and all(agree(x[other.name], y[right.name]) for x, y in zip(mine, yours, strict=True)):
            return f"the right's is the left's output {name}: are the outputs in another order?"
    return ""


def resting(root: Root, relating: Relating, relations: list[Relation]) -> Root:
    """A root that is computed rests on the relations, and is worth no more than the weakest of them."""
    found = root.evidence
    weakest = min((relation.evidence for relation in relations), key=lambda evidence: evidence.rung, default=found)
    given = relating.left[root.left].is_source and relating.right[root.right].is_source
    if given or found.rung <= weakest.rung:
        return root
    tested = weakest.rung is Rung.TESTED
    detail = f"proved from what is tested: {weakest.detail}" if tested else found.detail
    return replace(root, evidence=replace(found, rung=weakest.rung, detail=detail))


def apart(graphs: tuple[Graph, Graph], values: tuple[Values, Values]) -> bool:
    """Do the programs differ in value on some draw?"""
    pairs = [(a.name, b.name) for (_, a), (_, b) in zip(graphs[0].roots, graphs[1].roots, strict=True)]
    return not all(agree(x[a], y[b], AGREES) for a, b in pairs for x, y in zip(*values, strict=True))


def difference_of_roots(graphs: tuple[Graph, Graph], values: tuple[Values, Values]) -> list[float]:
    """How far each pair of outputs is apart, relative to its largest magnitude; infinitely where shapes differ."""
    found = []
    for (_, a), (_, b) in zip(graphs[0].roots, graphs[1].roots, strict=True):
        pairs = [(x[a.name], y[b.name]) for x, y in zip(*values, strict=True)]
        found.append(max(difference(x, y) if x.shape == y.shape else math.inf for x, y in pairs))
    return found
