"""On a GPU: what is otherwise in an attempt where kernels are Triton and programs run on a CUDA device.

Where a GPU is, programs race on it as they do on a processor (`OnGpu`). Where there is none, kernels are compiled, and
their code is proved and interpreted; nothing is timed, and so nothing is said to be faster (`Untimed`). In both,
capture, search and proofs are the processor's work, on a copy of the program there.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from samesame.evidence import Refused, Verdict
from samesame.optimize import native, search
from samesame.optimize.attempt import Attempt, Optimized, runnable_in
from samesame.optimize.built import place_of
from samesame.optimize.candidate import Candidate
from samesame.optimize.contract import contract
from samesame.optimize.dropin import AUTOTUNED, BOTH, DEFAULT, EAGER, WAYS, by_compiler
from samesame.optimize.facts import on_cuda, unguarded
from samesame.optimize.ir import Program as Kernels
from samesame.optimize.job import Job, copied, example_of, name_of
from samesame.optimize.saved import files_of, write_files
from samesame.optimize.specification import Specification
from samesame.optimize.timing import Racer, incumbent
from samesame.optimize.tune import Tuned
from samesame.report.optimized import NOT_TIMED, Row, in_unit

INTERPRETING = 0.4                                         # of all the time, for what follows the search


def on_processor(module: Any, example: Any) -> tuple[Any, Any]:
    """A program and its inputs, or a copy of them on the processor where they are on a GPU."""
    parts = list(module.modules()) if isinstance(module, nn.Module) else []
    held = [x for part in parts for x in (*part._parameters.values(), *part._buffers.values(), *vars(part).values())]
    if not any(x.is_cuda for x in (*held, *tree_leaves(example)) if isinstance(x, torch.Tensor)):
        return module, example
    try:
        return copied((module, example), "cpu") if parts else (module, copied(example, "cpu"))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise Refused(f"{name_of(module)} lies on a GPU and cannot be copied to the processor: {error}") from None


class Cuda(Attempt):
    """What both have in common."""

    target, device = "cuda", "cuda"

    def facts(self, candidate: Candidate, way: str, verdict: Verdict | None = None) -> dict[str, Any]:
        return on_cuda(super().facts(candidate, way, verdict))

    def kernels(self, specification: Specification, found: search.Found) -> Iterable[Candidate]:
        from samesame.optimize import cuda

        counts = self.report.counts
        return native.candidates(self.graph, specification, found, self.tuned, counts, cuda.InTriton, self.until)


class OnGpu(Cuda):
    """Programs race on the GPU that is there, as CUDA graphs. `given` are the user's own module and inputs where they
    lie on it, in whose place what is found is to be used."""

    ways = (EAGER, DEFAULT, AUTOTUNED, BOTH)
    given: tuple[Any, Any] | None = None

    @cached_property
    def machine(self) -> str:
        return f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}"

    def facts(self, candidate: Candidate, way: str, verdict: Verdict | None = None) -> dict[str, Any]:
        return {**super().facts(candidate, way, verdict), "gpu": torch.cuda.get_device_name()}

    @cached_property
    def there(self) -> Job:
        """The job on the GPU."""
        if self.given is None:
            return self.job.on(self.device)
        module, example = self.given
        places = {name: place_of(module, name, None) for name in self.job.weights}
        weights = {name: holder[key] for name, (holder, key) in places.items()}
        return Job(module, *example_of(example), weights, self.gradients)

    def tuned(self, programs: Sequence[Kernels], sizes: Mapping[str, int], share: float) -> Tuned:
        from samesame.optimize import cuda

        return cuda.measured(programs, sizes, self.examples, self.seconds(share))   # who gets ready waits by itself

    def module_of(self, files: dict[str, str]) -> Any:
        return runnable_in(files, self.there)

    def prepare(self) -> None:
        self.job.require_movable(self.device)
        super().prepare()

    def own(self, way: str) -> Any:
        try:
            there = self.there
        except torch.OutOfMemoryError:
            self.report.notes.append("The GPU has no memory left for a copy of the program, so the original comes back "
                                     "as it is.")
            return self.module
        return there.program if way == EAGER else by_compiler(there.program, way, there.weights)

    def tabulate(self, racers: Sequence[Racer], best: Racer | None, winner: Racer | None) -> None:
        super().tabulate(racers, best, winner)
        self.report.timed = "in CUDA graphs"
        self.report.notes.append("Times are of calls in a CUDA graph, which leave out what Python takes to launch.")
        if winner is not None and best is not None and winner.plain and best.plain:
            self.report.notes.append(f"Called one by one from Python, it takes {in_unit(winner.plain)}, and "
                                     f"{best.name} {in_unit(best.plain)}.")


class Untimed(Cuda):
    """The same for CUDA: Triton kernels whose code is proved, and no times. The best by the model that is proved to be
    the program and keeps the numeric contract in Triton's interpreter is what was found."""

    after = INTERPRETING

    @cached_property
    def machine(self) -> str:
        from samesame.optimize import cuda

        return f"compiled for {cuda.ALL}"

    def prepare(self) -> None:
        """Nothing races."""

    def tuned(self, programs: Sequence[Kernels], sizes: Mapping[str, int], share: float) -> Tuned:
        from samesame.optimize import cuda

        return cuda.chosen(programs, sizes)

    def forms(self, specification: Specification, found: search.Found) -> Iterable[Candidate]:
        return ()

    def decide(self, found: Sequence[Candidate]) -> Optimized:
        self.report.counts["candidates"] = len(found)
        self.report.rows = [Row(incumbent(way).name, way, False, None, None, 0) for way in WAYS]
        for number, candidate in enumerate(found):
            facts = self.facts(candidate, EAGER)
            file = write_files(self.place / f"found_{number}", files_of(candidate, facts))
            with self.run.during("race"):
                outside = self.interpreted(unguarded(self.module, file, self.job.weights, facts))
            answer = outside or self.verified(candidate, EAGER, file, self.proving())
            failed = answer if isinstance(answer, str) else ""
            self.report.rows.append(Row(candidate.name, EAGER, True, None, None, 0, failed, winner=not failed))
            if isinstance(answer, Verdict):
                candidate = candidate.settled()
                self.report.verdict, self.report.way = NOT_TIMED, EAGER
                candidate.told(self.report, answer)
                files = files_of(candidate, self.facts(candidate, EAGER, answer))
                return Optimized(self.module, self.report, files, answer.certificate)
        self.report.contract = None
        return Optimized(self.module, self.report)

    def interpreted(self, program: Callable[..., Any]) -> str:
        """How a program with Triton kernels fails the numeric contract in Triton's interpreter; nothing where it keeps
        it on as many draws as there is time for. Where one run takes too long, a note says so."""
        from samesame.kernels.host.interpret import interpret

        seconds, faults = 0.3 * self.left, list[Any]()

        def run(*args: Any, **kwargs: Any) -> Any:
            kept = list[Any]()
            faults.extend(interpret(lambda: kept.append(program(*args, **kwargs)), timeout=seconds).faults)
            return kept[0]

        try:
            held = contract(self.job, run, self.seed, frozen=True, seconds=seconds, number=1)
        except Refused as refused:
            why = str(refused) if seconds > 1 else "there was no time left; give it more with --minutes"
            self.report.notes.append(f"Rounding is not measured at these sizes: {why}.")
            return ""
        if held.cut:                                       # as far as there was time, it holds
            held.cut, held.failed = False, ""
        self.report.contract = held
        self.report.notes.append("Rounding was measured in Triton's interpreter, in which sums have another order.")
        return held.refused or (str(faults[0]) if faults else "")
