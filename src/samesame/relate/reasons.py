"""Reasons: why congruence relates a tensor, step by step, down to relations that have reasons of their own.

What the e-graph knows of two terms is a chain of steps. All of them down to the inputs are the certificate's; a person
wants those of this tensor alone: the same operator, applied to tensors whose relations are said elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from samesame.egraph import CONGRUENCE, Evidence
from samesame.egraph.explain import Step, explain
from samesame.evidence import Because
from samesame.graph import Node
from samesame.operators.table import packet
from samesame.relate.joint import IDENTITIES, JointGraph
from samesame.relate.relating import Relating

MOST = 40                   # steps for one tensor; a longer chain is left to the certificate


def reasons(relating: Relating) -> dict[str, tuple[Because, ...]]:
    """The steps for each right tensor that congruence related, where they are few."""
    joint, names = relating.joint, _names(relating)
    known: dict[frozenset[int], Node] = {}                 # pairs of terms that relations before this one are about
    found: dict[str, tuple[Because, ...]] = {}
    for node in relating.right.nodes:
        if node not in relating.related:
            continue
        left, layout, _ = relating.related[node]
        pair = relating.arranged(left, layout), joint.term[node]                # as the right one is
        if relating.related[node][2].method == "congruence" and pair[0] == pair[1]:
            found[node.name] = (_one_term(node, pair[0], known, names, joint),)
        elif relating.related[node][2].method == "congruence":
            whole = explain(joint.egraph, *pair, lambda one, other: frozenset((one, other)) in known)
            if len(whole.steps) <= MOST:
                found[node.name] = tuple(_because(step, known, names, joint) for step in whole.steps)
        known.setdefault(frozenset(pair), node)
    return found


def _one_term(
    node: Node, term: int, known: Mapping[frozenset[int], Node], names: Mapping[int, str], joint: JointGraph
) -> Because:
    """Both programs apply one operator to the same; or the right one casts or copies what is related."""
    if packet(node.operator) in IDENTITIES and joint.term[node.inputs[0]] == term:
        return Because(f"right {node.name}", names[term], "identity", (node.inputs[0].name,))
    shown = _shown(term, names, joint, True)
    nodes = (known.get(frozenset((part,))) for part in joint.egraph.arguments(term))
    return Because(shown, shown, "one term", tuple(dict.fromkeys(part.name for part in nodes if part is not None)))


def _because(
    step: Step, known: Mapping[frozenset[int], Node], names: Mapping[int, str], joint: JointGraph
) -> Because:
    applied = step.reason is CONGRUENCE
    pairs = [(step.left, step.right)]
    if applied:
        pairs = list(zip(joint.egraph.arguments(step.left), joint.egraph.arguments(step.right), strict=True))
    nodes = (known.get(frozenset(pair)) for pair in pairs if pair[0] != pair[1])
    return Because(
        _shown(step.left, names, joint, applied),
        _shown(step.right, names, joint, applied),
        step.reason.id if isinstance(step.reason, Evidence) else "congruence",
        tuple(dict.fromkeys(node.name for node in nodes if node is not None)),
        tuple(number + 1 for number in step.since),
    )


def _names(relating: Relating) -> dict[int, str]:
    """What each term is called: on the left, on the right, or on both sides."""
    joint = relating.joint
    names = {joint.term[node]: f"right {node.name}" for node in reversed(relating.right.nodes)}
    for term, node in joint.lefts.items():
        both = "right" in joint.sides.get(term, ())
        names[term] = node.origin.parameter or node.name if both else f"left {node.origin.parameter or node.name}"
    return names


def _shown(term: int, names: Mapping[int, str], joint: JointGraph, applied: bool) -> str:
    """A term by its name, or as its operator on named terms."""
    if not applied and term in names:
        return names[term]
    shown = joint.egraph.term(term)
    arguments = ", ".join(names.get(part) or _shown(part, names, joint, True) for part in shown.arguments)
    told = f"{packet(shown.operator).removeprefix('aten.')}({arguments})"
    return f"{names[term]} = {told}" if term in names else told
