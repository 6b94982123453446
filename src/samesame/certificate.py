"""Certificates: everything a verdict of `same` rests on, as one JSON file that `samesame replay` checks.

What the e-graph knows is spelled out step by step: for each root an explanation, and before each proof that it uses,
the explanations of why its block fits there. Steps stand in the order in which they hold. Proofs are named by a digest
of what they say, so that whatever is changed in one is noticed where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from samesame.egraph.explain import explain
from samesame.egraph.terms import Evidence as Given
from samesame.evidence import Evidence
from samesame.formula import dag, sizes
from samesame.graph import Graph, TensorType
from samesame.graph_text import encoded, encoded_type, to_json
from samesame.operators.numbers import readings
from samesame.relate.blocks import Block
from samesame.relate.meanings import meanings
from samesame.relate.relating import Relating
from samesame.relate.world import Slot, Typed, kind_of
from samesame.replay import FORMAT, VERSION, digest


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a proof: `left = right` by the evidence with this id, as an instance of the block over `terms` (the
    term of each of the block's nodes)."""

    id: str
    left: int
    right: int
    block: Block
    terms: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Proof:
    """How a block was decided: its evidence, and the questions the solver answered on the way, as SMT-LIB text."""

    evidence: Evidence
    queries: tuple[dict[str, str], ...] = ()


def certificate(
    relating: Relating, uses: Sequence[Use], proofs: Mapping[str, Proof], versions: Mapping[str, str], seed: int
) -> dict[str, Any]:
    """The certificate of a finished relating whose roots are all equal; `proofs` by evidence id.

    Raises EGraphError where a root is not related.
    """
    form = _Certificate(relating, uses, proofs).form(versions, seed)
    return {**form, "seal": digest(form)}


class _Certificate:
    def __init__(self, relating: Relating, uses: Sequence[Use], proofs: Mapping[str, Proof]) -> None:
        self.relating, self.world, self.proofs = relating, relating.world, proofs
        self.uses = {(use.left, use.right, use.id): use for use in uses}
        self.steps: dict[tuple[int, int], list[Any]] = {}
        self.named: dict[str, str] = {}
        self.written: dict[str, Any] = {}

    def form(self, versions: Mapping[str, str], seed: int) -> dict[str, Any]:
        relating, term = self.relating, self.world.term
        roots: list[list[Any]] = [
            [name, term[a], term[b]]
            for (name, a), (_, b) in zip(relating.left.roots, relating.right.roots, strict=True)
        ]
        for _, a, b in roots:
            self.derive(a, b)
        weights = {n.name: term[n] for n in relating.right.sources("parameter") if n.name in relating.inputs.layouts}
        return {
            "format": FORMAT,
            "version": VERSION,
            "versions": dict(versions),
            "seed": seed,
            "left": self.side(relating.left),
            "right": self.side(relating.right),
            "weights": weights,
            "terms": [self.term(k) for k in range(len(self.world.types))],
            "steps": list(self.steps.values()),
            "proofs": self.written,
            "conditions": sorted({c for proof in self.written.values() for c in proof["conditions"]}),
            "roots": roots,
        }

    def side(self, graph: Graph) -> dict[str, Any]:
        whole = to_json(graph)
        nodes = [{key: value for key, value in node.items() if key != "origin"} for node in whole["nodes"]]
        plain = {"nodes": nodes, "roots": whole["roots"]}
        weights = {node.name: _digest_of(graph.tensors[node.name]) for node in graph.sources("parameter")}
        return {
            "identity": digest(plain),
            "graph": plain,
            "loaded": digest(weights),
            "weights": weights,
            "terms": {node.name: self.world.term[node] for node in graph.nodes},
        }

    def term(self, number: int) -> list[Any]:
        shown, type_ = self.world.egraph.term(number), self.world.types[number]
        attributes = [_written(part) for part in shown.attributes[:-1]]        # the last one is the type
        return [shown.operator, attributes, list(shown.arguments), _written(type_)]

    def derive(self, a: int, b: int) -> None:
        """The steps that make two terms equal, and before each what it rests on."""
        for step in explain(self.world.egraph, a, b).steps if a != b else ():
            stated = (step.left, step.right) if step.forward else (step.right, step.left)
            if stated in self.steps:
                continue
            reason: dict[str, Any] = {"congruence": True}
            if isinstance(step.reason, Given):
                reason = {"constant": True} if step.reason.id == "constant" else self.use(*stated, step.reason.id)
            self.steps[stated] = [*stated, reason]

    def use(self, left: int, right: int, id: str) -> dict[str, Any]:
        use = self.uses[left, right, id]
        by_name = {node.name: node for node in use.block.graph.nodes}
        for name, node in by_name.items():
            arguments = self.world.egraph.term(use.terms[name]).arguments
            if node.operator == "constant":
                self.derive(use.terms[name], self.constant(use.terms[name]))
            elif node.operator != "input" and use.terms[name] not in [use.terms[read.name] for read in node.inputs]:
                for argument, read in zip(arguments, node.inputs, strict=True):
                    self.derive(argument, use.terms[read.name])
        return {"proof": self.proof(id, use.block), "terms": dict(use.terms)}

    def constant(self, term: int) -> int:
        members = self.world.egraph.members(self.world.egraph.find(term))
        return next(member for member in members if self.world.egraph.term(member).operator == "constant")

    def proof(self, id: str, block: Block) -> str:
        if id not in self.named:
            with readings():
                left, right = meanings(block)
            whole, known = to_json(block.graph), self.proofs[id]
            nodes = [{key: value for key, value in node.items() if key != "origin"} for node in whole["nodes"]]
            constants = {name: self.number(value) for name, value in block.graph.tensors.items()}
            form = {
                "claim": dag.claim(left, right),
                "block": {"nodes": nodes, "left": block.left.name, "right": block.right.name, "constants": constants},
                "method": known.evidence.method,
                "detail": known.evidence.detail,
                "rung": str(known.evidence.rung),
                "conditions": list(known.evidence.conditions),
                "queries": list(known.queries),
            }
            self.named[id] = f"P{digest(form)[:16]}"
            self.written[self.named[id]] = form
        return self.named[id]

    def number(self, value: torch.Tensor) -> dict[str, Any]:
        term = self.world.add_constant(value)
        kind = kind_of(str(value.dtype).removeprefix("torch."))
        number = encoded(value.flatten()[0].item())
        return {"digest": self.world.egraph.term(term).attributes[0], "kind": kind, "shape": list(value.shape),
                "value": number}


def _written(value: Any) -> Any:
    """An attribute of a term as JSON, slots and types included."""
    match value:
        case Slot(position):
            return {"slot": position}
        case Typed(shape, kind):
            return {"shape": list(map(sizes.encoded, shape)), "kind": kind}
        case TensorType():
            return encoded_type(value)
        case tuple():
            return list(map(_written, value))
    return encoded(value)


def _digest_of(value: torch.Tensor) -> str:
    plain = value.detach().contiguous().cpu()
    raw = plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""
    return digest([str(plain.dtype), list(plain.shape), digest(raw.hex())])


__all__ = ["Proof", "Use", "certificate"]
