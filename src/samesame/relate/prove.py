"""Decide the claim of a block, strongest evidence first: a rule already known, equal normal forms (with SMT for
what is left over), and for opaque operators only, randomised testing.

A block that has been decided is a rule, whichever way it went: a block with the same key is the same claim about
other tensors, so the thirty-two layers of a model cost as many proofs as one. What was proved is then proved once more
in general form, for blocks of other sizes and for later runs (`rules.py`).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from samesame.evidence import Evidence, Rung
from samesame.formula.assumptions import Said
from samesame.formula.cases import is_by_cases, prove_by_cases
from samesame.formula.chance import differ_by_chance
from samesame.formula.effort import WORK
from samesame.formula.equal import Budget, NotProved, Proved, deep_recursion, prove_tensors_equal
from samesame.formula.expr import Opaque, Unsupported, numeric, walk
from samesame.formula.places import with_values
from samesame.formula.selected import is_untied, untied
from samesame.formula.smt import recording
from samesame.formula.tensor import Tensor, tensor
from samesame.graph import Node, at
from samesame.operators import is_deterministic, meaning_of
from samesame.operators.definitions import STANDING_IN
from samesame.operators.hiding import hiding, is_hiding, may_hide
from samesame.operators.ideal import NO_EMPTY_ROW, filled_anyhow, idealised, is_filling, is_guarded, is_ideal
from samesame.operators.numbers import literally, readings
from samesame.operators.table import packet
from samesame.relate.blocks import Block
from samesame.relate.domain import in_range
from samesame.relate.meanings import meanings
from samesame.relate.rules import Prove, Rule, Rulebook
from samesame.relate.trial import TOLERANCE, they_part, trial
from samesame.store.tried import Attempt

_SECONDS = 4.0              # for the normal form of one block, and again for its cases
GLANCE, FURTHER = 1.0, 0.25    # for its normal form before all else, at the nearest frontier and at others
LONG = 50                   # operators in a claim that is tried on random elements first: a glance at it takes longer
HARDER = 4                  # times the time for what ran out of it
IMPATIENT = 0.2             # for one where many have failed
LEARNING, LEARNING_TIMES = 0.3, 3.0    # for the general form of a proved block: seconds, and times what it took
BESIDE_A_TEST = 1.0         # for a block with a kernel: without a proof it is tested, and that is what it is worth
SELECTING = frozenset(("aten.topk", "aten.sort", "aten.argsort", "aten.argmax", "aten.argmin", "aten.max", "aten.min"))
TOO_NEAR = "it is not true of all tensors that could stand where it begins"
HOPELESS = "it would take more of {} than that equal arguments give equal results"
UNGUARDED = (True, False)   # a reading: without guards, and with what masks put in as the number that it is
Outcome = Proved | NotProved
Way = Callable[[Block, Tensor, Tensor], Outcome]


@dataclass(slots=True)
class Prover:
    """Decides blocks and remembers. `deadline` (seconds on time.monotonic) bounds the whole run, `until` (on
    time.thread_time, so that what is found does not hang on what else the machine does) what this prover does in it,
    and `limit` (seconds) a proof.
    Where decisions on sizes could not be followed, blocks over symbols are proved for sizes `alike` those run.

    Failures may cost so much `patience` (seconds) in all; after that a proof has little time. `sizes` are the values of
    size symbols in the example, by name: blocks over symbols are proved for all sizes. `questions` are those that the
    solver answered, by proof; `ideal` the keys of blocks proved without guards, `literal` of those in which no number
    is read as −∞, `hidden` of those in which what masks put in is, `untied` of those in which numbers that others are
    chosen from are all different; `glances` what was seen in vain; `hopeless` says of a block, with ties or without,
    whether its claim hangs on what opaque operators really do; `short` has the keys of blocks that ran out of time.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    budget: Budget = field(default_factory=lambda: Budget(seconds=_SECONDS))
    seed: int = 0
    deadline: float | None = None
    until: float = math.inf
    limit: float = math.inf
    patience: float = math.inf
    rules: dict[str, Rule] = field(default_factory=dict)
    book: Rulebook = field(default_factory=Rulebook)
    proofs: int = 0
    attempts: int = 0
    by_rule: int = 0
    seconds: float = 0.0
    learning: float = 0.0
    questions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ideal: set[str] = field(default_factory=set)
    literal: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    untied: set[str] = field(default_factory=set)
    glances: dict[str, Attempt] = field(default_factory=dict)
    hopeless: dict[tuple[str, bool, bool, bool], bool] = field(default_factory=dict)
    short: set[str] = field(default_factory=set)
    alike: bool = False

    @property
    def rung(self) -> Rung:
        """What a proof is worth here."""
        return Rung.PROVED_HERE if not self.sizes else Rung.PROVED_ALIKE if self.alike else Rung.PROVED

    @property
    def late(self) -> bool:
        """Is there no time left?"""
        return time.thread_time() > self.until or (self.deadline is not None and time.monotonic() > self.deadline)

    def try_harder(self) -> bool:
        """Give what ran out of time more of it, where the run has a limit that leaves some: is there anything to try
        again?"""
        again = [key for key in self.short if key in self.rules and self.rules[key].evidence is None]
        if not again or self.deadline is None or math.isinf(self.deadline) or self.late:
            return False
        for key in again:
            del self.rules[key]
        self.short.clear()
        had = self.budget
        self.budget = replace(had, seconds=HARDER * had.seconds, solver=HARDER * had.solver, terms=HARDER * had.terms)
        return True

    def decide(self, block: Block, seconds: float = math.inf) -> Evidence | None:
        """Evidence for the block's claim, or None; `seconds` bound each way of proving it."""
        return self._timed(block, seconds, self._decide)

    def glance(self, block: Block, seconds: float = GLANCE) -> Evidence | None:
        """Evidence that the normal form finds in so many seconds. What it does not find is not decided."""
        if block.key in self.glances or _accounts(block):
            return None
        return self._timed(block, math.inf, partial(self._glance, seconds=seconds))

    def _timed(self, block: Block, seconds: float, decide: Callable[[Block], Evidence | None]) -> Evidence | None:
        """What is known already, or is decided now; a proof is kept as a rule."""
        self.limit = min(seconds, BESIDE_A_TEST) if _accounts(block) else seconds
        recalled = self.recall(block)
        if recalled is not None or block.key in self.rules or self.late:
            return recalled
        started, busy = time.monotonic(), time.thread_time()
        evidence = decide(block)
        spent = time.monotonic() - started
        self.seconds += spent
        if evidence is None:
            self.patience -= time.thread_time() - busy
            return None
        evidence = replace(evidence, seconds=spent)
        self.rules[block.key] = replace(self.rules[block.key], evidence=evidence)
        if evidence.rung >= Rung.PROVED_HERE:
            self._learn(block, evidence, time.thread_time() - busy)
        return evidence

    def recall(self, block: Block) -> Evidence | None:
        """Evidence for the block as an instance of a known rule; its seconds are those of the rule's proof."""
        known = self.rules.get(block.key)
        if known is not None:
            self.by_rule += known.evidence is not None
            return known.evidence and replace(known.evidence, method="rule", seconds=0.0)
        started, busy, before = time.monotonic(), time.thread_time(), len(self.book.own)
        given, self.limit = self.limit, min(self.limit, self.book.seconds)
        learnt = self.book.find(block, self.prove)
        self.limit = given
        self.seconds += time.monotonic() - started
        if learnt is None:
            self.patience -= time.thread_time() - busy
            return None
        evidence, own = learnt
        if len(self.book.own) > before or (own and self.sizes):        # proved in general form, now or at the example
            self.proofs += 1
        else:
            self.by_rule += 1
            evidence = replace(evidence, method="rule")
        evidence = replace(evidence, rung=self.rung)
        self.rules[block.key] = Rule(f"P{len(self.rules) + 1}", block, evidence)
        return evidence

    def _decide(self, block: Block) -> Evidence | None:
        """Decide a block that is no instance of a known rule. What is tried in vain is kept for the next run."""
        given = self._remaining().seconds
        told = self.book.in_vain(block.key, given)
        with recording() as questions:
            outcome = self._tried(block, self.prove, given) if told is None else Attempt(told)
        if isinstance(outcome, Attempt) and told is None:
            self.book.tried[block.key] = outcome
        if isinstance(outcome, Attempt) and self._was_short(block, outcome, told is not None):
            self.short.add(block.key)
        found = outcome if isinstance(outcome, Evidence) else self._test(block)
        if found is not None:
            return self._as_proof(block, found, questions)
        assert isinstance(outcome, Attempt)
        self.rules[block.key] = Rule(f"P{len(self.rules) + 1}", block, None, outcome.reason)
        return None

    def _was_short(self, block: Block, outcome: Attempt, told: bool) -> bool:
        """Did it meet a limit of time, here or in the run that told of it?"""
        return self.book.in_vain(block.key, math.inf) is None if told else outcome.seconds is not None

    def _glance(self, block: Block, seconds: float) -> Evidence | None:
        """Decide it where the normal form does soon."""
        self.limit = seconds
        given = self._remaining().seconds
        if self.book.in_vain(block.key, given) is not None:
            return None
        with recording() as questions:
            outcome = self._tried(block, self._prove_at_once, given)
        if isinstance(outcome, Evidence):
            return self._as_proof(block, outcome, questions)
        self.glances[block.key] = outcome
        return None

    def _tried(self, block: Block, prove: Prove, given: float) -> Evidence | Attempt:
        """Prove it with so many seconds."""
        started = time.thread_time()
        outcome = prove(block)
        self.attempts += 1
        if isinstance(outcome, Evidence):
            return outcome
        spent = time.thread_time() - started
        limited = spent >= min(given, self.budget.solver / WORK / 3000)    # a query that gave up
        return Attempt(outcome, spent if limited else None)

    def _as_proof(self, block: Block, found: Evidence, questions: Iterable[str]) -> Evidence:
        """The evidence under the name of a new rule."""
        name = f"P{len(self.rules) + 1}"
        self.rules[block.key] = Rule(name, block, None)
        self.proofs += 1
        self.questions[name] = tuple(questions)
        return replace(found, proof=name)

    def _learn(self, block: Block, evidence: Evidence, spent: float) -> None:
        """Make a rule of it, as general as can be in little more of the thread's time than it took, which is no time of
        the proofs that are still to come."""
        started, busy = time.monotonic(), time.thread_time()
        budget = replace(self.budget, seconds=min(self.budget.seconds, LEARNING + LEARNING_TIMES * spent))
        learner = replace(self, budget=budget, sizes={})
        of_itself = replace(evidence, rung=Rung.PROVED) if evidence.rung is Rung.PROVED_ALIKE else evidence
        self.book.learn(block, of_itself, learner.prove)
        self.learning += time.monotonic() - started
        self.until += time.thread_time() - busy

    def prove(self, block: Block) -> Evidence | str:
        """Evidence, or the reason why there is none. Guards against extremes are left out only if nothing else
        helps. What is proved with the definition of a kernel is worth no more than the test of that kernel."""
        outcome = self._proved(block)
        kernels = _accounts(block)
        if isinstance(outcome, str) or not kernels:
            return outcome
        if not all(kernels):
            return "a kernel in it was not tested against its definition"
        return replace(outcome, rung=Rung.TESTED, detail="; ".join(kernels))

    def _proved(self, block: Block) -> Evidence | str:
        """As it is written; else with what masks put in as −∞, or without guards, or both. Without guards first, where
        the same were left out before: that is said anyhow, and what is so only then takes long to fail."""
        first = [UNGUARDED] if self._was_unguarded(block) else []
        outcome = self._read_otherwise(block, first) or self._prove_as_read(block, self._by_what_is_left)
        if isinstance(outcome, str):
            outcome = self._read_otherwise(block, (way for way in _readings(block) if way not in first)) or outcome
        if isinstance(outcome, str) and sum(packet(node.operator) in SELECTING for node in block.graph.nodes) > 1:
            with untied() as told:
                found = self._prove_as_read(block, self._by_all_means)
            if isinstance(found, Evidence):
                self.untied.add(block.key)
                return replace(found, conditions=(*found.conditions, *sorted(told, key=str)))
        return outcome

    def _read_otherwise(self, block: Block, ways: Iterable[tuple[bool, bool]]) -> Evidence | None:
        """By the first of these readings, without guards or with what masks put in as −∞, that has a proof."""
        for ideal, hidden in ways:
            with idealised() if ideal else nullcontext(), hiding() if hidden else nullcontext():
                found = self._prove_as_read(block, self._by_all_means)
            if isinstance(found, Evidence):
                self.ideal |= {block.key} if ideal else set()
                self.hidden |= {block.key} if hidden else set()
                return found
        return None

    def _was_unguarded(self, block: Block) -> bool:
        """Were the guards of its operators left out in a proof before?"""
        before = (self.rules[key].block for key in self.ideal if key in self.rules)
        guards = _guards(block)
        return bool(guards) and guards <= {guard for proved in before for guard in _guards(proved)}

    @contextmanager
    def reading(self, key: str) -> Iterator[None]:
        """Numbers and guards are read as they were when the block of this key was proved."""
        ways: tuple[tuple[set[str], Callable[[], AbstractContextManager[Any]]], ...] = (
            (self.ideal, idealised), (self.literal, literally), (self.hidden, hiding), (self.untied, untied)
        )
        with readings(), ExitStack() as entered:
            for keys, way in ways:
                if key in keys:
                    entered.enter_context(way())
            yield

    def _prove_at_once(self, block: Block) -> Evidence | str:
        """By the normal form, and all extremes guarded against."""
        return self._prove_as_read(block, self._by_normal_form)

    def _prove_as_read(self, block: Block, prove: Way) -> Evidence | str:
        """With its constants as they are read. Where the least float is read as −∞ and matters otherwise than to a
        softmax, as the number that it is."""
        with readings() as read:
            outcome = self._outcome(block, prove)
        if isinstance(outcome, Proved) and outcome.infinite and read.infinite:
            if is_hiding():
                return "a number that a mask puts in matters otherwise than to a softmax"
            with readings() as read, literally():
                outcome = self._outcome(block, prove)
            if isinstance(outcome, Proved):
                self.literal.add(block.key)
        if isinstance(outcome, NotProved):
            return outcome.reason
        own = in_range(block.ranges)  # are said of each instance, with the names and sizes of its tensors
        read |= self._empty_rows(block, prove)
        conditions = (*(c for c in outcome.conditions if c not in own), *sorted(read, key=str))
        return Evidence(self.rung, outcome.method, detail=outcome.detail, conditions=conditions)

    def _empty_rows(self, block: Block, prove: Way) -> set[Said]:
        """That there are none, where a proof rests on it: one side has no value for a row that a mask hides, and the
        other a guard. Then nothing is proved with another number in place of the guard's."""
        if is_ideal() or not any(is_filling(node.operator) for node in block.graph.nodes):
            return set()
        with filled_anyhow() as asked, literally() if block.key in self.literal else nullcontext():
            sides = meanings(block)                        # which have formulas, as they had for the proof
            said = bool(asked) and not isinstance(prove(block, *sides), Proved)
        return {NO_EMPTY_ROW} if said else set()

    def _outcome(self, block: Block, prove: Way) -> Outcome:
        try:
            left, right = meanings(block)
            if self._is_hopeless(block, left, right):
                unknown = _unknown(block, left, right)
                return NotProved(HOPELESS.format(" and ".join(unknown)) if unknown else TOO_NEAR)
            return prove(block, left, right)
        except Unsupported as reason:
            return NotProved(str(reason))

    def _is_hopeless(self, block: Block, left: Tensor, right: Tensor) -> bool:
        """Does the claim take more than a proof knows of opaque operators, or of the tensors at its frontier? Asked of
        each block and reading once; where all has a formula, of a long one or when the normal form was seen to fail."""
        key = block.key, is_ideal(), is_untied(), is_hiding()
        if key in self.hopeless:
            return self.hopeless[key]
        unknown = _unknown(block, left, right)
        if block.key in self.glances or len(block.graph.nodes) > LONG or unknown:
            apart = None
            if _in_numbers(block):
                apart = they_part(block.graph, block.left.name, block.right.name, block.ranges)
            if apart is None or (unknown and not apart):           # any functions in the place of operators may part
                with deep_recursion():
                    apart = differ_by_chance(left, right) and differ_by_chance(_as_picked(left), _as_picked(right))
            self.hopeless[key] = apart
        return self.hopeless.get(key, False)

    def _by_normal_form(self, _: Block, left: Tensor, right: Tensor) -> Outcome:
        return prove_tensors_equal(left, right, budget=self._remaining())

    def _by_all_means(self, _: Block, left: Tensor, right: Tensor) -> Outcome:
        """By the normal form, then by cases; by these first where there are many."""
        ways: list[Callable[..., Outcome]] = [prove_tensors_equal, prove_by_cases]
        if is_by_cases(left, right):
            ways.reverse()
        first = ways[0](left, right, budget=self._remaining())
        if isinstance(first, Proved):
            return first
        second = ways[1](left, right, budget=self._remaining())
        return second if isinstance(second, Proved) else first

    def _by_what_is_left(self, block: Block, left: Tensor, right: Tensor) -> Outcome:
        """The same, less the normal form where it was seen to fail in as much time."""
        seen = self.glances.get(block.key)
        if seen is None or not seen.covers(self._remaining().seconds):
            return self._by_all_means(block, left, right)
        found = prove_by_cases(left, right, budget=self._remaining())
        return found if isinstance(found, Proved) else NotProved(seen.reason)

    def _remaining(self) -> Budget:
        of_run = math.inf if self.deadline is None else self.deadline - time.monotonic()
        left = min(self.until - time.thread_time(), of_run)
        limit = self.limit if self.patience > 0 else min(self.limit, IMPATIENT)
        return replace(self.budget, seconds=max(0.05, min(self.budget.seconds, limit, left)))

    def _test(self, block: Block) -> Evidence | None:
        """Opaque operators, and kernels that were tested themselves, only: both sides on fresh values of the
        frontier."""
        if not all(kernels := _accounts(block)):
            return None
        opaque = sorted({n.operator for n in block.graph.nodes if is_opaque(n) or n.operator in STANDING_IN})
        if not opaque or not all(map(is_deterministic, opaque)):
            return None
        found = trial(at(block.graph, self.sizes), block.left.name, block.right.name, block.ranges, self.seed)
        if found is None:
            return None
        detail = (
            f"{', '.join(opaque)} opaque; {found.words}; worst difference {found.worst:.1e} of the largest magnitude, "
            f"tolerance {TOLERANCE:.0e} (rounding of float64 with room)"
        )
        return Evidence(Rung.TESTED, "test", detail="; ".join([detail, *kernels]))


def _as_picked(side: Tensor) -> Tensor:
    """A side with the elements that were picked in place of what stands where they stood."""
    return tensor(side.shape, lambda *i: with_values(side[i]), side.kind)


def _guards(block: Block) -> set[str]:
    """Its operators that have guards."""
    return {packet(node.operator) for node in block.graph.nodes if is_guarded(node.operator)}


def _readings(block: Block) -> list[tuple[bool, bool]]:
    """Other ways to read a block: without guards, and with what masks put in as −∞."""
    guarded = bool(_guards(block))
    hides = may_hide(block.graph)
    return [(ideal, hidden) for ideal in (False, True) for hidden in (True, False)
            if (ideal or hidden) and (guarded or not ideal) and (hides or not hidden)]


def _in_numbers(block: Block) -> bool:
    """Whether all sizes are numbers: general forms have symbols, if only in what is made of sizes."""
    return all(isinstance(size, int) for node in block.graph.nodes
               for part in (node.type if isinstance(node.type, tuple) else (node.type,)) for size in part.shape)


def _unknown(block: Block, *sides: Tensor) -> list[str]:
    """The operators of the block that stand in formulas as functions of which nothing is known."""
    found = {part.name for side in sides for part in walk(numeric(side.element()[1])) if isinstance(part, Opaque)}
    used = {packet(node.operator) for node in block.graph.nodes}
    return sorted({name for name in found if packet(name) in used} or found)


def places_of_unknown(block: Block, why: str, origins: Mapping[int, str]) -> str:
    """Where the operators that a reason names stand in the programs, by the terms of the block's nodes."""
    named = [n for n in block.graph.nodes if re.search(rf"\b{re.escape(packet(n.operator))}\b", why)]
    placed = ((packet(node.operator), origins.get(block.terms.get(node.name, -1))) for node in named)
    found = (f"{name} at {place}" for name, place in placed if place)
    return ", ".join(dict.fromkeys(found))


def _accounts(block: Block) -> list[str]:
    """How the kernels that nodes of the block stand for were tested."""
    return sorted({node.args[-1] for node in block.graph.nodes if node.operator in STANDING_IN})


def is_opaque(node: Node) -> bool:
    """An operator whose results are known by running it only."""
    return not node.is_source and node.operator != "getitem" and meaning_of(node.operator) is None
