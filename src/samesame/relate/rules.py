"""Rules: blocks that were proved, kept in general form, for the next layer, the next model and the next run.

A rule is a general block (`generalise.py`): two sides over tensor variables, size symbols and number variables, and the
evidence that they are equal. It closes every gap that is an instance of it. What cannot be proved in general is kept as
it was proved. A store (`store/`) keeps rules between runs; before a rule goes there the second prover has worked out
both its sides, and must not disagree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TypeVar

import torch

from samesame import evaluator
from samesame.evidence import LADDER, Evidence, Rung, SamesameError
from samesame.formula import assumptions, dag
from samesame.formula.assumptions import COUNT, OF_MAXIMA, Holds
from samesame.formula.expr import Unsupported
from samesame.formula.selected import untied
from samesame.formula.sizes import decoded, encoded, size_text
from samesame.graph.text import GraphError, from_json, text_form, to_json
from samesame.operators.demands import Range
from samesame.operators.hiding import hiding
from samesame.operators.ideal import idealised
from samesame.operators.numbers import literally
from samesame.relate.blocks import Block, key_of
from samesame.relate.generalise import General, Instance, generalise, has_pieces
from samesame.relate.lapses import lapse
from samesame.relate.meanings import meanings
from samesame.store import Store
from samesame.store.entry import Entry, StoreError
from samesame.store.tried import Attempt, Tried
from samesame.versions import versions

# How much a rule is generalised, the most general first: numbers that are sizes, numbers that are variables.
VARIANTS = ((True, True), (False, True), (True, False), (False, False))
Prove = Callable[[Block], Evidence | str]
T = TypeVar("T")


class Disagreement(AssertionError):
    """The two provers disagree: one of them is wrong, and no verdict may rest on either."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A decided block: its two sides as a graph over variables, and the evidence, or the reason why there is none."""

    name: str
    block: Block
    evidence: Evidence | None
    reason: str = ""


@dataclass(slots=True)
class Rulebook:
    """Rules by the key of their block: this run's `own`, and those of a store; `fresh` ones the store has not yet.

    Proving a rule anew when it is looked for may take so many `seconds`. `narrow` keys are of general blocks that could
    not be proved, `missing` ones are not in the store. `tried` is what was tried in vain and the store does not know
    yet, `before` what it knows. A book that is `closed` is neither read nor written. `unlike` has the keys of blocks
    that were no instance of the rules known then, and how many these were. `lapses` say what failed on the way to a
    general form.
    """

    store: Store | None = None
    closed: bool = False
    seconds: float = math.inf
    filled: bool | None = None
    known: dict[str, Rule] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    fresh: list[str] = field(default_factory=list)
    narrow: set[str] = field(default_factory=set)
    unlike: dict[str, int] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    tried: dict[str, Attempt] = field(default_factory=dict)
    before: Mapping[str, Attempt] | None = None
    lapses: dict[str, None] = field(default_factory=dict)

    @property
    def is_filled(self) -> bool:
        """Does a store hold rules of earlier runs?"""
        if self.filled is None:
            self.filled = not self.closed and self.store is not None and not self.store.is_empty()
        return self.filled

    def find(self, block: Block, prove: Prove) -> tuple[Evidence, bool] | None:
        """Evidence for the block as an instance of a known rule, and whether the rule is this run's own; a rule of
        another version is first proved again."""
        return self.aside(partial(self._found, block, prove))

    def _found(self, block: Block, prove: Prove) -> tuple[Evidence, bool] | None:
        if self.closed or self.unlike.get(block.key) == len(self.own):
            return None
        for key, instance in _forms(block):
            rule = self.known.get(key) or self._stored(key, prove)
            if rule is not None and rule.evidence is not None:
                told = instance.of(rule.evidence.conditions)
                if not any(map(assumptions.never_holds, told)):
                    return replace(rule.evidence, conditions=told), key in self.own
        self.unlike[block.key] = len(self.own)
        return None

    def learn(self, block: Block, evidence: Evidence, prove: Prove) -> None:
        """Keep a proved block, as general as it can be proved."""
        if self.closed:
            return
        general = self.aside(partial(self._general, block, evidence, prove))
        self._keep(general or Rule(block.key[:12], block, evidence))

    def _general(self, block: Block, evidence: Evidence, prove: Prove) -> Rule | None:
        """The rule of its most general form that can be proved, if it is not known yet."""
        for key, general in _generals(block):
            if key in self.known or key in self.narrow:
                continue
            wide = replace(block, graph=general.graph, ranges=general.ranges, key=key)
            found = self.aside(partial(prove, wide))
            if isinstance(found, Evidence):
                found = replace(found, rung=Rung.PROVED, proof=key[:12], seconds=evidence.seconds)
                return Rule(key[:12], wide, found)
            self.narrow.add(key)
        return None

    def aside(self, attempt: Callable[[], T | None]) -> T | None:
        """What is found by way of a general form; nothing where we fail on the way, which is told."""
        try:
            return attempt()
        except Exception as error:
            self.lapses[lapse(error)] = None
            return None

    def notes(self) -> list[str]:
        """What failed, in a sentence each."""
        return [f"Not everything that was proved was generalised: {told}; please report it." for told in self.lapses]

    def in_vain(self, key: str, seconds: float) -> str | None:
        """Why an earlier run had no proof of this block, if so many seconds would bring nothing new."""
        if self.closed or self.store is None:
            return None
        if self.before is None:
            self.before = Tried(self.store).known
        attempt = self.before.get(key)
        return attempt.reason if attempt is not None and attempt.covers(seconds) else None

    def _keep(self, rule: Rule) -> None:
        assumed = () if rule.evidence is None else rule.evidence.conditions
        if any(isinstance(one, Holds) and one.kind == COUNT for one in assumed):
            return                                     # the second prover draws counts of nothing, too
        self.known[rule.block.key] = rule
        self.fresh.append(rule.block.key)
        self.own.add(rule.block.key)

    def _stored(self, key: str, prove: Prove) -> Rule | None:
        if key in self.missing or self.store is None or (entry := self.store.get(key)) is None:
            self.missing.add(key)
            return None
        if entry.stale:
            outcome = reproved(entry, prove)
            if isinstance(outcome, str):
                return None
            entry = outcome
            self.fresh.append(key)
        try:
            rule = _rule(entry)
        except NO_RULE as fault:
            self.store.notice(f"rule {key[:12]} of the store is not used: it holds no rule ({fault})")
            return None
        self.known[key] = rule
        return rule

    def save(self) -> int:
        """Give the store what was learnt, after the second prover; the number of rules. Raises Disagreement."""
        if self.store is None:
            return 0
        entries = [entry_of(self.known[key]) for key in dict.fromkeys(self.fresh)]
        self.store.put(entries)
        self.fresh.clear()
        if self.store.writable and not self.closed:
            try:
                Tried(self.store).keep(self.tried)
            except StoreError as error:
                self.store.notice(f"{error}; what was tried in vain will be tried again")
            self.tried.clear()
        return len(entries)


def _forms(block: Block) -> Iterator[tuple[str, Instance]]:
    """The keys under which a rule for the block may stand, and what its symbols then stand for."""
    for key, general in _generals(block):
        yield key, general.instance
    yield block.key, Instance()


def _generals(block: Block) -> Iterator[tuple[str, General]]:
    """The general forms of a block by their keys, each once."""
    seen = {block.key}
    for anywhere in (True, False) if has_pieces(block.graph) else (False,):
        first: General | None = None
        for as_sizes, as_variables in VARIANTS[:2] if anywhere else VARIANTS:
            if first is not None and not (first.varied if as_sizes else first.sized):
                continue                                                    # it would be the first once more
            general = generalise(
                block.graph, block.ranges, as_sizes=as_sizes, as_variables=as_variables, anywhere=anywhere
            )
            if general is not None:
                first = first or general
                key = key_of(general.graph, general.ranges)
                if key not in seen:
                    seen.add(key)
                    yield key, general


# ----------------------------------------------------------------------------------------------------------- as entries


def entry_of(rule: Rule) -> Entry:
    """A proved rule as the store keeps it. Raises Disagreement where the second prover refutes it."""
    assert rule.evidence is not None
    block = rule.block
    numbers = {n.name: block.graph.tensors[n.name].flatten()[0].item() for n in block.graph.sources("constant")}
    body = {
        "graph": to_json(replace(block.graph, name="rule")),
        "numbers": {name: repr(value) for name, value in numbers.items()},
        "ranges": {name: [encoded(low), encoded(high)] for name, (low, high) in block.ranges.items()},
    }
    told = {one.name: getattr(rule.evidence, one.name) for one in fields(rule.evidence)}
    told |= {"rung": str(rule.evidence.rung), "conditions": [one.form() for one in rule.evidence.conditions]}
    evidence = told | {"second": second_opinion(rule)}
    return Entry(block.key, body, evidence, *versions())


@contextmanager
def _both() -> Iterator[None]:
    with idealised(), hiding():
        yield


def second_opinion(rule: Rule) -> str:
    """What the second prover says of a rule, in words. Raises Disagreement where it refutes it."""
    refuted: evaluator.Disagreement | None = None
    for reading in (nullcontext, literally, idealised, hiding, _both, untied):     # the first prover may have needed it
        try:
            with reading():
                found = evaluator.compare(dag.claim(*meanings(rule.block)))
        except Unsupported:
            continue
        if not isinstance(found, evaluator.Disagreement):
            break
        refuted = found
    else:
        assert rule.evidence is not None
        if any(isinstance(one, Holds) and one.kind in OF_MAXIMA for one in rule.evidence.conditions):
            return "cannot tell (it holds where maxima are over at least one element)"
        raise Disagreement(f"the provers disagree on rule {rule.name}: {rule.evidence}; {refuted}")
    if isinstance(found, evaluator.Cannot):
        return f"cannot tell ({found.reason})"
    sizes = "; ".join(", ".join(f"{name} = {n}" for name, n in at.items()) for at in found.sizes)
    return f"agrees at {found.points} points in {found.arithmetic}{f' ({sizes})' if sizes else ''}"


def _rule(entry: Entry) -> Rule:
    """The rule of an entry. Raises GraphError, ValueError or KeyError where it holds none."""
    graph = from_json(entry.body["graph"])
    for node in graph.sources("constant"):
        number = NUMBERS.get(text := entry.body["numbers"][node.name])
        dtype = getattr(torch, node.type.dtype)                                            # type: ignore[union-attr]
        graph.tensors[node.name] = torch.tensor([float(text) if number is None else number], dtype=dtype)
    ranges: dict[str, Range] = {
        name: (decoded(low), decoded(high)) for name, (low, high) in entry.body["ranges"].items()
    }
    block = Block(graph, {}, ranges, False, entry.key)
    if key_of(graph, ranges) != entry.key:
        raise ValueError("its key is not that of its block")
    told = {name: value for name, value in entry.evidence.items() if name != "second"}
    rung = next(rung for rung, words in LADDER.items() if words == told["rung"])
    if rung < Rung.PROVED_HERE:
        raise ValueError("its evidence is no proof")
    evidence = Evidence(**told | {"rung": rung, "conditions": tuple(map(assumptions.decoded, told["conditions"]))})
    return Rule(entry.key[:12], block, evidence)


NUMBERS = {"True": True, "False": False}
NO_RULE = (GraphError, SamesameError, LookupError, ValueError, TypeError, AttributeError, StopIteration)


def reproved(entry: Entry, prove: Prove) -> Entry | str:
    """The entry with evidence of its own, of this version; or what is wrong with it, as a sentence."""
    try:
        rule = _rule(replace(entry, evidence=entry.evidence | {"conditions": []}))     # it is told anew what it assumes
    except NO_RULE as fault:
        return f"it holds no rule ({fault})"
    outcome = prove(rule.block)
    if isinstance(outcome, str):
        return f"it cannot be proved: {outcome}"
    assert rule.evidence is not None
    rung = min(outcome.rung, rule.evidence.rung) if outcome.rung < Rung.PROVED_HERE else rule.evidence.rung
    try:
        return entry_of(replace(rule, evidence=replace(outcome, rung=rung, proof=rule.name)))
    except Disagreement as disagreement:
        return str(disagreement)


def spoken(entry: Entry) -> str:
    """A rule for people: its two sides line by line, and what it stands on."""
    graph = from_json(entry.body["graph"])
    ends = {name: [size_text(decoded(end)) for end in both] for name, both in entry.body["ranges"].items()}
    told = entry.evidence
    lines = [
        text_form(graph).rstrip(),
        *(f"where {low} ≤ {name} ≤ {high}" for name, (low, high) in ends.items()),
        f"{told['rung']}: {told['method']}, {told['detail']}",
        *(f"if {assumptions.decoded(one)}" for one in told["conditions"] if isinstance(one, dict)),
        *(f"if {sentence}" for sentence in told["conditions"] if isinstance(sentence, str)),   # of an earlier version
        f"second prover: {told['second']}",
        f"prover {entry.prover}, operators {entry.semantics}",
    ]
    return "\n".join(lines)
