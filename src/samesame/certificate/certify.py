"""Certificates: everything a verdict of `same` rests on, as one JSON file that `samesame replay` checks.

What the e-graph knows is spelled out step by step: for each root an explanation, and before each proof that it uses,
the explanations of why its block fits there. Steps stand in the order in which they hold. Proofs are named by a digest
of what they say, so that whatever is changed in one is noticed where it is used.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import torch
import z3

from samesame.certificate import questions
from samesame.certificate.forms import digest_of, kind_of, value_of, widened
from samesame.certificate.replay import BYTE, FORMAT, VERSION, digest, stands
from samesame.egraph.explain import explain
from samesame.egraph.terms import Evidence as Given
from samesame.evidence import Rung, Verdict
from samesame.formula import dag, sizes
from samesame.formula.smt import context, decided
from samesame.graph import Graph, TensorType
from samesame.graph.text import encoded, encoded_type, to_json
from samesame.operators.demands import Range
from samesame.relate.blocks import Block
from samesame.relate.joint import CONSTANT, MOVED, Slot, Typed
from samesame.relate.kinds import is_uniform
from samesame.relate.layout import Concat, Layout, Whole, wholes
from samesame.relate.meanings import meanings
from samesame.relate.relating import Relating, Use

_HELD = 1 << 14             # elements of a constant that is written down
_EFFORT = 500_000           # the solver's own measure of work on one claim: some 0.2 s
_SECONDS = 3.0              # it may go on for minutes in a step that it does not count


def certificate(relating: Relating, verdict: Verdict, read: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """The certificate of a verdict of `same` and the relating that it stands on. `read` says of each side which stored
    numbers are read as formulas (relate/stored.py), where some are.

    Raises EGraphError where a root is not related.
    """
    form = _Certificate(relating).form(verdict)
    if read:
        form |= {"read": {"left": read[0], "right": read[1]}}
    return {**form, "seal": digest(form)}


class _Certificate:
    def __init__(self, relating: Relating) -> None:
        self.relating, self.joint, self.prover = relating, relating.joint, relating.prover
        self.evidence = {rule.evidence.proof: rule.evidence for rule in self.prover.rules.values() if rule.evidence}
        self.uses = {(self.arranged(use), use.right, use.id): use for use in relating.uses}
        self.steps: dict[tuple[int, int], list[Any]] = {}
        self.named: dict[str, str] = {}
        self.written: dict[str, Any] = {}
        self.held: set[int] = set()                   # terms of constants whose values are written down

    def form(self, verdict: Verdict) -> dict[str, Any]:
        relating, term = self.relating, self.joint.term
        roots: list[list[Any]] = [
            [name, term[a], term[b]]
            for (name, a), (_, b) in zip(relating.left.roots, relating.right.roots, strict=True)
        ]
        for _, a, b in roots:
            self.derive(a, b)
        weights = {n.name: term[n] for n in relating.right.sources("parameter") if n.name in relating.inputs.layouts}
        left, right = self.side(relating.left), self.side(relating.right)
        conditions = {c for proof in self.written.values() for c in proof["conditions"]}
        of_outputs = {str(c) for root in verdict.roots for c in root.evidence.conditions}
        return self.pruned({
            "format": FORMAT,
            "version": VERSION,
            "versions": verdict.versions,
            "seed": verdict.seed,
            "evidence": str(verdict.evidence),
            "sizes": dict(self.prover.sizes),
            "region": verdict.sizes.region.form(),
            "not_followed": list(verdict.sizes.lost),
            "left": left,
            "right": right,
            "weights": weights,
            "terms": [self.term(k) for k in range(len(self.joint.types))],
            "constants": self.constants(),
            "steps": list(self.steps.values()),
            "proofs": self.written,
            "conditions": sorted(conditions),
            "of_outputs": sorted(of_outputs - conditions),
            "roots": roots,
        })

    def pruned(self, form: dict[str, Any]) -> dict[str, Any]:
        """The form with those terms only that the graphs, the weights, the steps and the outputs speak of."""
        speaking = [form["left"]["terms"], form["right"]["terms"], form["weights"],
                    *(step[2].get("terms", {}) for step in form["steps"])]
        needed = {term for terms in speaking for term in terms.values()}
        needed |= {term for a, b, _ in form["steps"] for term in (a, b)}
        needed |= {term for _, a, b in form["roots"] for term in (a, b)}
        for number in range(len(form["terms"]) - 1, -1, -1):        # a term stands behind its arguments
            needed |= set(form["terms"][number][2]) if number in needed else set()
        new = {old: number for number, old in enumerate(sorted(needed))}
        for terms in speaking:
            terms.update({name: new[term] for name, term in terms.items()})
        return form | {
            "terms": [[kind, attributes, [new[a] for a in arguments], type_]
                      for kind, attributes, arguments, type_ in (form["terms"][old] for old in sorted(needed))],
            "steps": [[new[a], new[b], reason] for a, b, reason in form["steps"]],
            "roots": [[name, new[a], new[b]] for name, a, b in form["roots"]],
        }

    def side(self, graph: Graph) -> dict[str, Any]:
        whole = to_json(graph)
        nodes = [{key: value for key, value in node.items() if key != "origin"} for node in whole["nodes"]]
        plain = {"nodes": nodes, "roots": whole["roots"]}
        tensors = {node.name: digest_of(graph.tensors[node.name])
                   for kind in ("parameter", "constant") for node in graph.sources(kind)}
        self.held |= {self.joint.term[node] for node in graph.sources("constant")}
        return {
            "identity": digest(plain),
            "graph": plain,
            "loaded": digest(tensors),
            "tensors": tensors,
            "terms": {node.name: self.joint.term[node] for node in graph.nodes},
        }

    def term(self, number: int) -> list[Any]:
        shown, type_ = self.joint.egraph.term(number), self.joint.types[number]
        attributes = [_written(part) for part in shown.attributes[:-1]]        # the last one is the type
        return [shown.operator, attributes, list(shown.arguments), _written(type_)]

    def derive(self, a: int, b: int) -> None:
        """The steps that make two terms equal, and before each what it rests on."""
        for step in explain(self.joint.egraph, a, b).steps if a != b else ():
            stated = (step.left, step.right) if step.forward else (step.right, step.left)
            if stated in self.steps:
                continue
            reason: dict[str, Any] = {"congruence": True}
            if isinstance(step.reason, Given):
                of_its_own = {CONSTANT: self.constant_step, MOVED: self.moved_step}.get(step.reason.id)
                reason = of_its_own(*stated) if of_its_own else self.use(*stated, step.reason.id)
            self.steps[stated] = [*stated, reason]

    def constant_step(self, *stated: int) -> dict[str, Any]:
        self.held |= {term for term in stated if self.joint.egraph.term(term).operator != "constant"}
        return {"constant": True}

    def moved_step(self, *stated: int) -> dict[str, Any]:
        """That two terms hold the same elements of equal ones, by constants that are written down."""
        assert self.joint.moved is not None
        mine, yours = map(self.joint.moved.source, stated)
        self.derive(mine, yours)
        self.held |= {term for term in self.below(stated, {mine, yours}) if self.joint.constant_value(term) is not None}
        return {"moved": True, "terms": {"left": mine, "right": yours}}

    def below(self, terms: Iterable[int], ends: Collection[int]) -> set[int]:
        """What terms are built from, down to these ends and to constants."""
        found, waiting = set[int](), list(terms)
        while waiting:
            term = waiting.pop()
            if term not in found and term not in ends:
                found.add(term)
                waiting += () if self.joint.constant_value(term) is not None else self.joint.egraph.term(term).arguments
        return found

    def arranged(self, use: Use) -> int:
        """The term of the left tensor in the layout of the relation."""
        return self.joint.add_layout(use.layout, dict.fromkeys(wholes(use.layout), use.left))

    def terms_of(self, use: Use) -> dict[str, int]:
        """The term of each node of a use's block, those of the layout's steps included."""
        steps = [self.joint.add_layout(step, dict.fromkeys(wholes(step), use.left)) for step in steps_of(use.layout)]
        terms = dict(use.block.terms)
        nodes = [node for node in use.block.graph.nodes if node.name not in use.block.free]
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
            if name in use.block.free or any(read.name in use.block.free for read in node.inputs):
                continue                                     # a variable of a sign
            arguments = self.joint.egraph.term(terms[name]).arguments
            if node.operator == "constant":
                self.derive(terms[name], self.constant(terms[name]))
            elif node.operator != "input" and terms[name] not in [terms[read.name] for read in node.inputs]:
                for argument, read in zip(arguments, node.inputs, strict=True):
                    self.derive(argument, terms[read.name])
        alike = use.masked == "alike"                        # there is no proof of infinities to be replayed
        masked = {} if use.masked is None else {"masked": None if alike else self.masked(*use.masked)}
        return {"proof": self.proof(id, use.block), "terms": terms, **masked}

    def masked(self, id: str, block: Block) -> str | None:
        """The proof with masks in front; None where the second prover has no value for what an infinity makes there."""
        name = self.proof(id, block)
        constants = {named: value_of(held) for named, held in self.constants().items()}
        if stands(name, self.written[name], constants):
            return name
        del self.written[name], self.named[id]
        return None

    def constant(self, term: int) -> int:
        members = self.joint.egraph.members(self.joint.egraph.find(term))
        return next(member for member in members if self.joint.egraph.term(member).operator == "constant")

    def proof(self, id: str, block: Block) -> str:
        if id not in self.named:
            whole, evidence = to_json(block.graph), self.evidence[id]
            claim = None if evidence.rung is Rung.TESTED else self.claim(block)
            settled = claim is not None and is_settled(claim)
            asked = () if settled else self.prover.questions.get(id, ())
            nodes = [{key: value for key, value in node.items() if key != "origin"} for node in whole["nodes"]]
            constants = {name: self.number(value) for name, value in block.graph.tensors.items()}
            form = {
                "claim": claim,
                "block": {"nodes": nodes, "left": block.left.name, "right": block.right.name, "constants": constants},
                "method": evidence.method,
                "detail": evidence.detail,
                "rung": str(evidence.rung),
                "conditions": list(map(str, (*evidence.conditions, *block.in_range()))),
                "settled": settled,
                "queries": list(asked),
            }
            self.named[id] = f"P{digest(form)[:16]}"
            self.written[self.named[id]] = form
        return self.named[id]

    def claim(self, block: Block) -> dict[str, Any]:
        """The two formulas that were proved equal. A byte is between 0 and 255: numbers for it are drawn from there."""
        bytes_: dict[str, Range] = {node.name: BYTE for node in block.graph.nodes if node.operator == "input"
                                    and isinstance(node.type, TensorType) and node.type.dtype == "uint8"}
        with self.prover.reading(block.key):
            return dag.claim(*meanings(replace(block, ranges=bytes_ | block.ranges)))

    def number(self, value: torch.Tensor) -> str:
        """The digest of a constant that a block speaks of."""
        term = self.joint.add_constant(value)
        self.held.add(term)
        return str(self.joint.egraph.term(term).attributes[0])

    def constants(self) -> dict[str, Any]:
        """The constants that the terms in `held` are built from, by digest, unless they are large."""
        found: dict[str, Any] = {}
        waiting = sorted(self.held)
        while waiting:
            shown = self.joint.egraph.term(term := waiting.pop())
            waiting += shown.arguments
            value = self.joint.values.get(term)
            if shown.operator == "constant" and value is not None and (is_uniform(value) or value.numel() <= _HELD):
                found[str(shown.attributes[0])] = _held(value)
        return dict(sorted(found.items()))


def is_settled(claim: dict[str, Any]) -> bool:
    """Does the solver alone find that no element of the two sides differs, whatever the sizes?"""
    text = questions.whole(claim)
    solver = z3.Solver(ctx=context())
    solver.push()                                   # as the replayer asks
    solver.from_string(text or "")
    return bool(decided(solver, _EFFORT, _SECONDS) == z3.unsat)


def _held(value: torch.Tensor) -> dict[str, Any]:
    form = {"kind": kind_of(value.dtype), "shape": list(value.shape)}
    if is_uniform(value):
        return {**form, "value": encoded(value.flatten()[0].item())}
    wide = widened(value)
    content = (torch.view_as_real(wide) if wide.is_complex() else wide).numpy().tobytes()
    return {**form, "data": base64.b64encode(content).decode()}


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


def steps_of(layout: Layout) -> list[Layout]:
    """The steps of a layout in the order in which they are taken."""
    if isinstance(layout, Whole):
        return []
    parts = layout.parts if isinstance(layout, Concat) else (layout.part,)
    return [*(step for part in parts for step in steps_of(part)), layout]
