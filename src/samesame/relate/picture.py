"""A picture: what a drawing of two related programs shows beside the relations.

The operators of both sides and where they come from; for each relation that took a proof the claim, as two formulas and
what their variables stand for; and how rounding grows from operator to operator. Layers that repeat share their claims,
so a model of thirty-two layers has little more of them than one of two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch

from samesame.evidence import Claim, Drawn, Picture, Stands
from samesame.formula.cases import prove_by_cases
from samesame.formula.equal import Budget, Proved, prove_tensors_equal
from samesame.formula.expr import Unsupported
from samesame.formula.legible import normal_forms
from samesame.formula.smt import recording
from samesame.formula.tensor import Tensor
from samesame.graph import Graph, Node
from samesame.graph.text import text_form, type_text
from samesame.operators.execute import Seen, pieces
from samesame.relate.blocks import Block
from samesame.relate.meanings import meanings
from samesame.relate.propose import difference, reals
from samesame.relate.prove import Prover
from samesame.relate.reasons import reasons
from samesame.relate.relating import Relating

READING = Budget(seconds=1.0)    # for the proof of a claim, to be read
LEAST = -17                 # powers of ten below which elements are counted as one


def picture_of(relating: Relating) -> Picture:
    """The picture of what was related; how rounding grows is measured later."""
    picture = Picture(_drawn(relating.left), _drawn(relating.right))
    joint, by_term = relating.joint, {use.right: use for use in relating.uses}
    rights: dict[int, str] = {}
    for node in relating.right.nodes:
        rights.setdefault(joint.egraph.find(joint.term[node]), node.name)
    for node in relating.right.nodes:
        use, known = by_term.get(joint.term[node]), relating.related.get(node)
        if use is None or known is None or known[2].method == "congruence":
            continue
        if use.block.key not in picture.claims:
            picture.claims[use.block.key] = _claim(use.block, relating.prover, known[2].method != "test")
        picture.decided[node.name] = use.block.key, _stands(relating, use.block, rights)
    picture.because.update(reasons(relating))
    return picture


def _drawn(graph: Graph) -> tuple[Drawn, ...]:
    return tuple(
        Drawn(n.name, n.operator, tuple(part.name for part in n.inputs), type_text(n.type), n.origin)
        for n in graph.nodes
    )


def _claim(block: Block, prover: Prover, proved: bool) -> Claim:
    """The claim as it was proved, with guards and least floats read as they were then; and its proof once more, as far
    as there is time to read it."""
    left: Tensor | None = None
    right: Tensor | None = None
    normal: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    with prover.reading(block.key):
        try:
            left, right = meanings(block)
            left.element(), right.element()
            if proved and not prover.late:
                normal, questions = normal_forms(left, right, READING), _asked(left, right)
        except Unsupported:
            left = right = None
    return Claim(left, right, text_form(block.graph), normal, questions)


def _asked(left: Tensor, right: Tensor) -> tuple[str, ...]:
    """What the solver is asked in a proof that the two are equal; nothing where there is none in the time."""
    for prove in prove_tensors_equal, prove_by_cases:
        with recording() as questions:
            if isinstance(prove(left, right, budget=READING), Proved):
                return tuple(questions)
    return ()


def _stands(relating: Relating, block: Block, rights: Mapping[int, str]) -> tuple[Stands, ...]:
    joint = relating.joint
    found = []
    for variable, term in block.frontier.items():
        name = joint.egraph.find(term)
        left = next((joint.lefts[member] for member in joint.egraph.members(name) if member in joint.lefts), None)
        found.append(Stands(variable, "" if left is None else left.name, rights.get(name, "")))
    return tuple(found)


def measuring(exact: Mapping[str, Any], errors: dict[str, float]) -> Seen:
    """What to call with each value of a run in a program's own precision, to keep its error against the exact one."""

    def seen(node: Node, value: Any, _: bool) -> None:
        known = None if node.is_source else exact.get(node.name)
        if isinstance(known, torch.Tensor) and isinstance(value, torch.Tensor) and value.is_floating_point():
            errors[node.name] = difference(known, value)

    return seen


def count_apart(counts: dict[int | None, int], left: torch.Tensor, right: torch.Tensor) -> None:
    """Add the elements of two outputs to the counts, by how far they are apart."""
    if left.shape != right.shape:
        return
    x, y = reals(left, right)
    scale = max((float(part[torch.isfinite(part)].abs().max()) for part in (x, y) if torch.isfinite(part).any()),
                default=0.0)
    found = Counter[int | None](counts)
    for a, b in zip(pieces(x), pieces(y), strict=True):
        both = torch.isfinite(a) & torch.isfinite(b)
        apart = (a - b).abs()[both]
        found[None] += int((apart == 0).sum())
        powers = torch.log10(apart[apart > 0] / scale).ceil().clamp(LEAST, -LEAST)
        found.update({LEAST + k: n for k, n in enumerate(torch.bincount((powers - LEAST).long()).tolist())})
    counts.update({power: n for power, n in found.items() if n})


__all__ = ["count_apart", "measuring", "picture_of"]
