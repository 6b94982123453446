"""Certificates: everything a verdict of `same` rests on, as one JSON file that `samesame replay` checks.

What the e-graph knows is spelled out step by step: for each root an explanation, and before each proof that it uses,
the explanations of why its block fits there. Steps stand in the order in which they hold. Proofs are named by a digest
of what they say, so that whatever is changed in one is noticed where it is used.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch

from samesame.egraph.explain import explain
from samesame.egraph.terms import Evidence as Given
from samesame.evidence import Verdict
from samesame.formula import dag, sizes
from samesame.graph import Graph, TensorType
from samesame.graph_text import encoded, encoded_type, to_json
from samesame.operators.ideal import idealised
from samesame.operators.numbers import readings
from samesame.relate.blocks import Block
from samesame.relate.layout import Concat, Layout, Whole, wholes
from samesame.relate.meanings import meanings
from samesame.relate.relating import Relating, Use
from samesame.relate.world import Slot, Typed, kind_of
from samesame.replay import FORMAT, VERSION, digest


def certificate(relating: Relating, verdict: Verdict) -> dict[str, Any]:
    """The certificate of a verdict of `same` and the relating that it stands on.

    Raises EGraphError where a root is not related.
    """
    form = _Certificate(relating).form(verdict)
    return {**form, "seal": digest(form)}


class _Certificate:
    def __init__(self, relating: Relating) -> None:
        self.relating, self.world, self.prover = relating, relating.world, relating.prover
        self.evidence = {rule.evidence.proof: rule.evidence for rule in self.prover.rules.values() if rule.evidence}
        self.uses = {(self.arranged(use), use.right, use.id): use for use in relating.uses}
        self.steps: dict[tuple[int, int], list[Any]] = {}
        self.named: dict[str, str] = {}
        self.written: dict[str, Any] = {}

    def form(self, verdict: Verdict) -> dict[str, Any]:
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
            "versions": verdict.versions,
            "seed": verdict.seed,
            "evidence": str(verdict.evidence),
            "sizes": list(verdict.sizes.varying),
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

    def arranged(self, use: Use) -> int:
        """The term of the left tensor in the layout of the relation."""
        return self.world.add_layout(use.layout, dict.fromkeys(wholes(use.layout), use.left))

    def terms_of(self, use: Use) -> dict[str, int]:
        """The term of each node of a use's block, those of the layout's steps included."""
        steps = [self.world.add_layout(step, dict.fromkeys(wholes(step), use.left)) for step in steps_of(use.layout)]
        nodes, terms = use.block.graph.nodes, dict(use.block.terms)
        added = [n for n in nodes if n.name not in terms and n.operator != "aten._to_copy.default"]
        terms |= {node.name: term for node, term in zip(added, steps, strict=True)}
        for node in nodes:
            if node.name not in terms:
                terms[node.name] = terms[node.inputs[0].name]
        return {**terms, use.block.left.name: steps[-1] if steps else use.left, use.block.right.name: use.right}

    def use(self, left: int, right: int, id: str) -> dict[str, Any]:
        use = self.uses[left, right, id]
        terms = self.terms_of(use)
        by_name = {node.name: node for node in use.block.graph.nodes}
        for name, node in by_name.items():
            arguments = self.world.egraph.term(terms[name]).arguments
            if node.operator == "constant":
                self.derive(terms[name], self.constant(terms[name]))
            elif node.operator != "input" and terms[name] not in [terms[read.name] for read in node.inputs]:
                for argument, read in zip(arguments, node.inputs, strict=True):
                    self.derive(argument, terms[read.name])
        return {"proof": self.proof(id, use.block), "terms": terms}

    def constant(self, term: int) -> int:
        members = self.world.egraph.members(self.world.egraph.find(term))
        return next(member for member in members if self.world.egraph.term(member).operator == "constant")

    def proof(self, id: str, block: Block) -> str:
        if id not in self.named:
            with readings(), idealised() if block.key in self.prover.ideal else nullcontext():
                left, right = meanings(block)
                claim = dag.claim(left, right)
            whole, evidence = to_json(block.graph), self.evidence[id]
            questions = self.prover.questions.get(id, ())
            nodes = [{key: value for key, value in node.items() if key != "origin"} for node in whole["nodes"]]
            constants = {name: self.number(value) for name, value in block.graph.tensors.items()}
            form = {
                "claim": claim,
                "block": {"nodes": nodes, "left": block.left.name, "right": block.right.name, "constants": constants},
                "method": evidence.method,
                "detail": evidence.detail,
                "rung": str(evidence.rung),
                "conditions": list(evidence.conditions),
                "queries": [{"text": text, "answer": "unsat"} for text in questions],
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


def steps_of(layout: Layout) -> list[Layout]:
    """The steps of a layout in the order in which they are taken."""
    if isinstance(layout, Whole):
        return []
    parts = layout.parts if isinstance(layout, Concat) else (layout.part,)
    return [*(step for part in parts for step in steps_of(part)), layout]
