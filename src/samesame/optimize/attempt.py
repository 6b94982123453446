"""An attempt: one program on its way to a faster one, from what the search finds to the answer.

What is found races against what the user already has; the fastest that keeps the numeric contract and is proved to
compute the same is the answer. Racing comes before proving, because most of what is found is not faster, and what is
not faster need not be proved. Where nothing is faster, the best of what the user already has is the answer. Here that
is a processor; gpu.py says what is otherwise on a GPU.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import islice
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any, NamedTuple

import torch

from samesame.budget import Run
from samesame.capture import Recorded
from samesame.capture.program import Program
from samesame.check import check
from samesame.evidence import Refused, Rung, SamesameError, Shown, Verdict
from samesame.formula.expr import Unsupported
from samesame.graph import Graph
from samesame.graph.interface import Aliases, spoken
from samesame.operators.execute import on_threads
from samesame.optimize import native, search, segments
from samesame.optimize.algebra import algebraic, multiplications, specified
from samesame.optimize.candidate import Candidate
from samesame.optimize.constants import constants
from samesame.optimize.dropin import BOTH, DEFAULT, EAGER, FROZEN, WAYS, by_compiler
from samesame.optimize.facts import facts_of, unguarded
from samesame.optimize.ir import Program as Kernels
from samesame.optimize.job import Job, example_of, keep, name_of, runnable
from samesame.optimize.kept import Tiles, key_of, recalled, remember
from samesame.optimize.machine import here
from samesame.optimize.saved import FAST, files_of, save, write_files
from samesame.optimize.schedule import NoSchedule
from samesame.optimize.specification import Specification
from samesame.optimize.timing import ROUNDS, Ahead, Racer, cores, incumbent, race
from samesame.optimize.tune import Tuned, tune
from samesame.report import headline
from samesame.report.optimized import FASTER, NOTHING, Contract, Report, Row
from samesame.store import Store
from samesame.versions import versions_of_packages

HEAT = 6                                                   # rounds in which candidates are told apart
NEAR = 1.15                                                # times the best incumbent, to be raced to the end
TRIED = 4                                                  # candidates that race
FASTEST = 2                                                # of these, whose contracts hold, for a proof
RACING = 0.6                                               # of all the time, for what follows the search
PROVING = 0.2                                              # of all the time; no process starts in it
COMPILING = 0.35                                           # of the time that is left, for one to be compiled
SEARCHING = 0.25                                           # of the time that is left, for numbers to be chosen
CLEARLY = 1.5                                              # times as fast as the original: rounding is measured at once
QUICKER = 0.95                                             # of the time of one that has won, for another to be asked
ANOTHER = 0.25                                             # of all the time, for that
LONGEST = 0.8                                              # of the time that is left, for rounding
EARLY = 0.35                                               # of the time that is left, for a proof before all are ready
ALONE = 0.05                                               # of the time that is left, for rounding before proofs begin
LEAST, TUNING = 0.5, 8.0                                   # seconds for one group of kernels


@dataclass
class Optimized(Shown):
    """`module` is the fastest there is, to be used in the original's place: a drop-in where something was found, else
    the best of what torch makes of the original."""

    module: Any
    report: Report
    files: dict[str, str] = field(default_factory=dict)
    certificate: dict[str, Any] | None = None

    def save(self, folder: str | Path) -> None:
        """Write it: one Python file to import, native sources beside it, the certificate, the report. Raises
        SamesameError for a folder that holds something else."""
        save(Path(folder), self.report, self.files, self.certificate)


class Winner(NamedTuple):
    """A racer that is faster than all that torch makes, its proof and its contract."""

    racer: Racer
    verdict: Verdict
    contract: Contract | None


class Attempt:
    """One program on its way: what is found of it, row by row. `device` is where it runs."""

    target, device, after, gradients = "cpu", "cpu", RACING, False
    ways: Sequence[str] = WAYS

    def __init__(
        self, module: Any, example: Any, recorded: Recorded, place: Path, threads: int, seed: int, run: Run,
        store: Store | None, gradients: bool = False,
    ) -> None:
        self.module, self.example, self.place = module, example, place
        self.recorded, self.graph = recorded, recorded.graph
        self.threads, self.seed, self.run, self.store, self.gradients = threads, seed, run, store, gradients
        program = Program(module, example, gradients)
        require_names(program, self.graph)
        weights = {node.name: program.tensors[node.name] for node in self.graph.sources("parameter")}
        weights |= {name: tensor for name, tensor in program.tensors.items() if name not in weights}
        self.tensors = {**dict(program.given), **weights}
        self.job = Job(module, *example_of(example), weights, gradients)
        self.report = Report(name_of(module), threads=threads, seed=seed, versions=versions_of_packages(),
                             machine=self.machine, minutes=(run.timeout or math.inf) / 60)
        ways = [way for way in self.ways if not gradients or way not in (FROZEN, BOTH)]   # these take weights as fixed
        self.tiles = Tiles(store, threads, self.report.machine)
        self.racers, self.incumbents = list[Racer](), [incumbent(way, self.device) for way in ways]
        self.ahead: Ahead | None = None
        self.early: Rounding | None = None

    @cached_property
    def machine(self) -> str:
        """What it is measured on."""
        return machine()

    @cached_property
    def key(self) -> str | None:
        """What this search is kept under; None for a program whose facts cannot be written down."""
        try:
            facts = self.facts(Candidate("", "", tuple(self.job.weights)), EAGER)
        except Refused:
            return None
        return key_of(self.recorded, facts, self.tensors, self.threads, self.machine, self.target)

    def recalled(self) -> Optimized | None:
        """What an earlier run found, if it is kept."""
        if self.store is None or self.key is None:
            return None
        kept = recalled(self.store, self.key, self.report.minutes)
        if kept is None:
            return None
        report, files, certificate = kept
        report.title = self.report.title
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = self.module_of(files) if files else self.own(report.way)
        if files and module._instead.unfit:                # other numbers stand in it than this program has
            return None
        return Optimized(module, report, files, certificate)

    def facts(self, candidate: Candidate, way: str, verdict: Verdict | None = None) -> dict[str, Any]:
        """What a drop-in has to know. Raises Refused for arguments or results that cannot be written down."""
        with on_threads(self.threads):
            return facts_of(self.module, self.example, candidate, way, verdict, self.gradients)

    def remember(self, optimized: Optimized) -> None:
        """Keep what was found, but where nothing was measured."""
        if self.store is not None and self.key is not None and optimized.report.best is not None:
            report = replace(optimized.report, measured=date.today().isoformat())
            remember(self.store, self.key, report, optimized.files, optimized.certificate)
            self.tiles.remember()

    def module_of(self, files: dict[str, str]) -> Any:
        """The drop-in that the files make of the module."""
        return runnable_in(files, self.job)

    def own(self, way: str) -> Any:
        """The user's module, compiled in this way."""
        return self.module if way == EAGER else by_compiler(self.module, way, self.job.weights)

    def prepare(self) -> None:
        """Write down what races, and let the user's own programs get ready. Raises Refused where no other process could
        read it."""
        keep(self.job, self.place)
        self.ahead = Ahead(self.incumbents, self.place, self.threads, self.left)

    @contextmanager
    def racing(self) -> Iterator[None]:
        """Racers that are gone at the end, however it comes."""
        try:
            yield
        finally:
            if self.early is not None:
                self.early.end()
            if self.ahead is not None:
                self.ahead.end()
            for racer in (*self.incumbents, *self.racers):
                racer.stop()

    def listed(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """The candidates that there is time to look for: the rest is for races and the proof. A step that takes longer
        than expected is ended."""
        found, ended = list[Candidate](), False
        left = self.until - time.monotonic()
        search = Run(left if left < math.inf else None)
        with search.bounded():
            for candidate in candidates:
                found.append(candidate)
                if search.over:
                    break
            ended = True                                   # by itself
        if not ended:
            self.report.notes.append("The search was ended within a step that took longer than its share of the time; "
                                     "give it more with --minutes.")
        return found

    def searched(self) -> Iterable[Candidate]:
        """What our own search finds, the most promising first."""
        try:
            specification = specified(self.module, self.example, self.graph, self.until, gradients=self.gradients)
            found = search.searched(specification, self.until)
            self.report.counts |= {"e-nodes": found.nodes, "forms": len(found.candidates)}
            try:
                require_own_memory(self.recorded.interface.aliases)
                yield from self.kernels(specification, found)
            except (NoSchedule, Unsupported, SamesameError) as error:
                self.report.notes.append(f"There are no kernels of our own: {error}.")
            if time.monotonic() < self.until:
                yield from self.forms(specification, found)
        except (Refused, Unsupported) as error:
            self.report.notes.append(f"No other form was looked for: {error}.")
        except RecursionError:
            self.report.notes.append("No other form was looked for: the program has too many steps in one another.")

    def kernels(self, specification: Specification, found: search.Found) -> Iterable[Candidate]:
        """Where there are none that look elements up at integers in data, these look-ups stay calls of torch; and where
        calls part what has to be a place from what would look there."""
        if segments.has_calls(specification) and specification.is_guarded_alone:
            specification, found = self.without_look_ups
        ways = segments.candidates if segments.has_calls(specification) else native.candidates
        try:
            yield from ways(self.graph, specification, found, self.tuned, self.report.counts, until=self.until)
        except (NoSchedule, Unsupported):
            if not specification.looked or time.monotonic() > self.until:
                raise
            yield from self.kernels(*self.without_look_ups)

    @cached_property
    def without_look_ups(self) -> tuple[Specification, search.Found]:
        """The program with look-ups at integers in data as calls of torch, and what was found of that."""
        with_calls = specified(self.module, self.example, self.graph, self.until, look_ups=False,
                               gradients=self.gradients)
        return with_calls, search.searched(with_calls, self.until)

    def forms(self, specification: Specification, found: search.Found) -> Iterable[Candidate]:
        if specification.is_guarded_alone:
            specification, found = self.without_look_ups
        return algebraic(specification, found, multiplications(self.module, self.example, self.gradients))

    @cached_property
    def examples(self) -> dict[str, Any]:
        """What kernels are timed on: the program's tensors, and its tables."""
        return {**constants(self.graph), **self.tensors}

    def tuned(self, programs: Sequence[Kernels], sizes: Mapping[str, int], share: float) -> Tuned:
        """Numbers for one group of kernels, by measuring."""
        found = tune(programs, sizes, self.examples, self.seconds(share), self.tiles.won, self.quiet)
        self.tiles.won_by(found.roles)
        return found

    def seconds(self, share: float) -> float:
        """For one group of kernels that has such a share of the work."""
        return min(max(share * SEARCHING * self.left, LEAST), TUNING)

    @property
    def quiet(self) -> Callable[[], AbstractContextManager[None]]:
        """Inside of what it returns, those that get ready stand still."""
        return self.ahead.held if self.ahead is not None else nullcontext

    @property
    def left(self) -> float:
        return max(float(self.run.deadline) - time.monotonic(), 0.0)

    @property
    def until(self) -> float:
        """When the search is over."""
        return self.run.started + (1 - self.after) * (self.run.timeout or math.inf)

    def decide(self, found: Sequence[Candidate]) -> Optimized:
        """Race, prove, race again."""
        report = self.report
        report.counts["candidates"] = len(found)
        racers = self.racers
        with self.run.during("race"):
            own, entered = list[Racer](), list[Racer]()
            until = self.run.deadline - (PROVING * (self.run.timeout or 0.0) if found else 0.0)
            for racer in self.lineup(found):
                racers.append(racer)
                (own if racer.candidate is None else entered).append(racer)
            self.start(racers, until, found)
            self.race(racers, HEAT, 0.2 * self.left)
            first = self.fastest(entered)
            if first is not None and first.candidate is not None and not found[first.candidate].complete:
                late = [self.racer(found, first.candidate, way) for way in (FROZEN, BOTH) if way in self.ways]
                racers += late
                self.start(late, until)
                self.race(late, HEAT, 0.2 * self.left)
                entered += late
            best = self.fastest(own)
            near = [r for r in entered if r.running and r.measured and best is not None
                    and (r.lower < NEAR * best.lower or self.is_early(r))]
            winner = self.won(found, near, own)
            best = self.fastest(own)
            if winner is not None and best is not None:
                report.contract = winner.contract
                return self.faster(found, winner.racer, best, winner.verdict, racers)
            if best is not None and len(best.measured) <= HEAT:
                self.race(own, ROUNDS, self.left)
            return self.nothing(self.fastest(own), racers)

    def won(self, found: Sequence[Candidate], near: Sequence[Racer], own: Sequence[Racer]) -> Winner | None:
        """The fastest of those near to the best that may be handed out and is faster than that."""
        winner: Winner | None = None
        asked = list[Racer]()
        for racer, verdict in self.established(found, near):
            asked.append(racer)
            rivals = [] if winner is None else [winner.racer]
            self.race([*(other for other in own if other.running), *rivals, racer], ROUNDS, self.left)
            best, rivals = self.fastest(own), [rival for rival in rivals if rival.running]
            winner = winner if rivals else None
            if best is not None and racer.running and all(map(racer.beats, (best, *rivals))):
                winner = Winner(racer, verdict, self.report.contract)
            if winner is not None and not self.is_any_quicker(near, winner.racer, asked):
                break
        return winner

    def is_any_quicker(self, near: Iterable[Racer], first: Racer, asked: Sequence[Racer]) -> bool:
        """Whether one that was not asked is clearly quicker than the first, and there is time to ask whether it may be
        handed out: the one that was asked early need not be the fastest."""
        return self.left > ANOTHER * (self.run.timeout or 0.0) and any(
            racer.running and not racer.failed and racer.lower < QUICKER * first.lower
            for racer in near if racer not in asked)

    def lineup(self, found: Sequence[Candidate]) -> Iterator[Racer]:
        """Who races, in the order in which they start: where time is short, what was found is measured if anything
        is."""
        own = iter(self.incumbents)
        ours = (self.racer(found, number, way) for number, candidate in enumerate(found[:TRIED])
                for way in ((EAGER,) if candidate.complete else (EAGER, DEFAULT)))
        yield next(own)
        yield from islice(ours, 1)
        yield from own
        yield from ours

    def start(self, racers: Iterable[Racer], until: float, found: Sequence[Candidate] = ()) -> None:
        """Start them, in this order but for those that are getting ready by themselves, for which there is time yet: so
        two do at once where there are two cores. The first that was `found` may be established before the others."""
        waiting = list(racers)
        while waiting:
            alone = (racer for racer in waiting if self.ahead is None or not self.ahead.busy(racer))
            waiting.remove(racer := next(alone, waiting[0]))
            self.begin(racer, until)
            if racer.candidate == 0 and found and self.early is None:
                self.establish_early(found, racer)

    def establish_early(self, found: Sequence[Candidate], racer: Racer) -> None:
        """Measure the rounding of the first that was found, and look for its proof, where it is clearly faster than the
        original: torch's own ways may take long yet to get ready."""
        original = self.racers[0]
        ready = original.running and original.candidate is None and not (self.ahead and self.ahead.busy(original))
        if ready and racer.running and self.device == "cpu" and cores() > 1:
            race([original, racer], HEAT, time.monotonic() + ALONE * self.left, self.seed)
            if original.measured and racer.measured and CLEARLY * racer.lower < original.lower:
                self.early = Rounding(racer, self.left)
                self.early.begin(self.seed)
                proving = self.early.ending(Run(max(EARLY * self.left, 5.0)))
                self.early.verdict = self.proof(found, racer, proving)
                if isinstance(self.early.verdict, str) and proving.over:
                    self.early.verdict = None              # there will be more time when it leads

    def is_early(self, racer: Racer) -> bool:
        """Whether it is the one that was clearly faster at once: it has not run beside the others since."""
        return self.early is not None and self.early.racer is racer

    def race(self, racers: Sequence[Racer], rounds: int, seconds: float) -> None:
        """All of them but one whose rounding is being measured, which stands still meanwhile."""
        busy = self.early.racer if self.early is not None and self.early.is_alive() else None
        try:
            if busy is not None:
                busy.signal(SIGSTOP)
            race([racer for racer in racers if racer is not busy], rounds, time.monotonic() + seconds, self.seed)
        finally:
            if busy is not None:
                busy.signal(SIGCONT)

    def begin(self, racer: Racer, until: float) -> None:
        left = until - time.monotonic()
        seconds = max(COMPILING * left, min(left, 20.0))
        if self.ahead is not None and self.ahead.ready(racer, seconds):
            return
        if left <= 0:
            racer.failed, racer.late = "there was no time left", True
        else:
            racer.start(self.place, self.threads, seconds)

    def racer(self, found: Sequence[Candidate], number: int, way: str) -> Racer:
        """A candidate, compiled in this way."""
        candidate = found[number]
        facts = self.facts(candidate, way)
        file = write_files(self.place / f"found_{number}_{way.replace(' ', '_')}", files_of(candidate, facts))
        return Racer(candidate.name, way, file, number, self.device)

    def fastest(self, racers: Sequence[Racer]) -> Racer | None:
        return min((r for r in racers if r.running and r.measured), key=lambda r: r.lower, default=None)

    def established(self, found: Sequence[Candidate], racers: Sequence[Racer]) -> Iterator[tuple[Racer, Verdict]]:
        """The fastest racers that keep the numeric contract and are proved to compute the same, the fastest first, but
        before them one that was begun early: two contracts share a folder. Rounding is measured in the racer's process
        while the proof is looked for in this one."""
        kept = 0
        for racer in sorted(racers, key=lambda racer: (not self.is_early(racer), racer.lower)):
            verdict: Verdict | str = ""
            early = self.early if self.is_early(racer) else None
            with early or Rounding(racer, self.left) as rounding:
                if early is None:
                    rounding.begin(self.seed)
                rounding.join(min(ALONE * self.left, 60.0) if rounding.verdict is None else None)
                if rounding.verdict is not None:
                    verdict = rounding.verdict
                elif rounding.is_alive() or rounding.held is not None:
                    verdict = self.proof(found, racer, rounding.ending(self.proving()))
            if rounding.held is None:
                continue
            self.report.contract = rounding.held
            kept += 1
            if isinstance(verdict, Verdict):
                yield racer, verdict
            else:
                racer.failed = verdict
                racer.stop()
            if kept >= FASTEST:
                return

    def proving(self) -> Run:
        """The time that a proof may take."""
        return Run(max(0.7 * self.left, 5.0))

    def proof(self, found: Sequence[Candidate], racer: Racer, run: Run) -> Verdict | str:
        """That a racer's candidate computes the same; what is to be said where there is none."""
        assert racer.candidate is not None and racer.file is not None
        return self.verified(found[racer.candidate], racer.way, racer.file, run)

    def verified(self, candidate: Candidate, way: str, file: Path, run: Run) -> Verdict | str:
        """The proof that a candidate, or what stands for its kernels in torch's operators, computes the same; where
        there is none, what is to be said of that."""
        reference = candidate.reference
        facts = self.facts(reference or candidate, way)
        if reference is not None:
            folder = file.parent.with_name(f"{file.parent.name}_reference")      # there already when tried once more
            file = folder / FAST if folder.exists() else write_files(folder, files_of(reference, facts))
        program = unguarded(self.module, file, self.job.weights, facts)
        try:
            verdict = check(self.module, program, self.example, seed=self.seed, store=self.store, certify=True,
                            run=run)
        except Refused as refused:                         # the original can be captured: it was
            return f"not proved to compute the same: {refused}"
        self.report.counts["proved"] = self.report.counts.get("proved", 0) + (verdict.verdict == "same")
        whole = not verdict.only and not verdict.scope
        known = verdict.evidence >= Rung.PROVED_HERE or verdict.is_of_constants
        proved = verdict.verdict == "same" and known and whole
        return verdict if proved else f"not proved to compute the same; check says: {headline(verdict).plain}"

    def faster(
        self, found: Sequence[Candidate], racer: Racer, best: Racer, verdict: Verdict, racers: Sequence[Racer]
    ) -> Optimized:
        assert racer.candidate is not None
        candidate = found[racer.candidate].settled()
        self.report.verdict, self.report.way = FASTER, racer.way
        candidate.told(self.report, verdict)
        self.tabulate(racers, best, racer)
        facts = self.facts(candidate, racer.way, verdict)
        files = files_of(candidate, facts)
        return Optimized(self.module_of(files), self.report, files, verdict.certificate)

    def nothing(self, best: Racer | None, racers: Sequence[Racer]) -> Optimized:
        self.report.verdict, self.report.contract = NOTHING, None
        self.report.way = EAGER if best is None else best.way
        self.tabulate(racers, best, None)
        if best is None:
            self.report.notes.append("Nothing could be measured in this time; give it more with --minutes.")
        return Optimized(self.own(self.report.way), self.report)

    def tabulate(self, racers: Sequence[Racer], best: Racer | None, winner: Racer | None) -> None:
        for racer in racers:
            self.report.rows.append(Row(
                racer.name, racer.way, racer.candidate is not None,
                racer.lower if racer.measured and not racer.failed else None, racer.spread if racer.measured else None,
                len(racer.measured), racer.failed, racer is best, racer is winner, racer.late,
            ))


def require_names(program: Program, graph: Graph) -> None:
    """Raises Refused for a parameter that no module has by name: one in a list that is none of torch's."""
    nameless = [node.name for node in graph.sources("parameter") if node.name not in program.tensors]
    if nameless:
        raise Refused(f"{name_of(program.program)} reads a parameter that is in no module by name ({nameless[0]}), so "
                      "that it cannot be found again; put it into an nn.ParameterList")


class Rounding(Thread):
    """Waits for what a racer says of its rounding: `held` is the contract that it keeps. Where it keeps none the racer
    is stopped, and so is the proof that is looked for meanwhile."""

    def __init__(self, racer: Racer, seconds: float) -> None:
        super().__init__(daemon=True)
        self.racer, self.seconds, self.until = racer, seconds, time.monotonic() + seconds
        self.proving: Run | None = None
        self.verdict: Verdict | str | None = None          # where the proof was looked for already
        self.held: Contract | None = None
        self.done, self.one_at_a_time = False, Lock()

    def begin(self, seed: int) -> None:
        self.racer.tell(do="contract", seed=seed, until=LONGEST * self.seconds)
        self.start()

    def ending(self, proving: Run) -> Run:
        """The run of a proof, which ends where rounding is found to be too much; or was before."""
        with self.one_at_a_time:
            self.proving = proving
            if self.done and self.held is None:
                proving.deadline.passed()
        return proving

    def __enter__(self) -> Rounding:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait for it; where the proof was interrupted, no longer than until the racer has ended."""
        if kind is not None:
            self.end()
        self.join()

    def end(self) -> None:
        """Wait for it no longer."""
        self.racer.signal(SIGKILL)
        if self.ident is not None:                         # it was started
            self.join()

    def run(self) -> None:
        answer = self.racer.answer(max(self.until - time.monotonic(), 1.0))
        contract = Contract(**answer) if answer is not None else None
        if contract is not None and contract.failed:
            self.racer.failed = contract.refused
            self.racer.stop()
        elif contract is not None:
            self.held = contract
        with self.one_at_a_time:
            self.done = True
            if self.held is None and self.proving is not None:
                self.proving.deadline.passed()


def runnable_in(files: Mapping[str, str], job: Job) -> Callable[..., Any]:
    """The drop-in that found files make of a job's program; they last as long as it does."""
    place = TemporaryDirectory(prefix="samesame-")
    module = runnable(job, write_files(Path(place.name) / "found", files), "")
    module._instead.files = place  # type: ignore[attr-defined]
    return module


def require_own_memory(aliases: Aliases) -> None:
    """Raises NoSchedule where a result is, or lies in, an input, a weight or another result: kernels write each result
    into memory of its own, and who writes into one would no longer change the other."""
    if aliases:
        several = "shares" if len(aliases) == 1 else "share"
        raise NoSchedule(f"{' and '.join(map(spoken, aliases))} {several} memory with an input, a weight or another "
                         "output, or within itself, and kernels return copies; return a clone where that will do")


def machine() -> str:
    """The processor, and what torch uses of it."""
    return f"{here().name}, {os.cpu_count()} cores, {torch.backends.cpu.get_cpu_capability()}"
