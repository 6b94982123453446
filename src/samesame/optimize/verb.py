"""optimize: the fastest program that computes the same.

Capture the program; search for others; let them race against what the user already has; and take the fastest that is
proved to compute the same and keeps the numeric contract. Racing comes before proving, because most of what is found
is not faster, and what is not faster need not be proved. Where nothing is faster, the best of what the user already
has is the answer.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from samesame.budget import Run
from samesame.capture import GRADIENTS, Differentiates, Recorded, capture_calls
from samesame.capture.program import Program
from samesame.evidence import Refused
from samesame.operators.execute import on_threads
from samesame.optimize.attempt import Attempt
from samesame.optimize.attempt import Optimized as Optimized
from samesame.optimize.candidate import Candidate
from samesame.optimize.differentiated import differentiable
from samesame.optimize.gpu import OnGpu, Untimed, on_processor
from samesame.optimize.job import name_of
from samesame.optimize.racer import memory
from samesame.store import Store

TARGETS = ("cpu", "cuda")

Search = Callable[[Any, Any, "Run"], Iterable[Candidate]]


def optimize(
    module: Any,
    inputs: Any,
    *,
    minutes: float = 5.0,
    threads: int | None = None,
    target: str = "cpu",
    seed: int = 0,
    store: Store | None = None,
    out: str | Path | None = None,
    run: Run | None = None,
    candidates: Search | None = None,
) -> Optimized:
    """Find the fastest program that computes what `module` does on inputs such as these.

    `module` is a module, or a function over tensors; `inputs` a tuple or dict of example tensors, or a function that
    returns one. It is timed with so many `threads` (default: all), for at most so many `minutes` together; where the
    `target` is "cuda", on a GPU, and where none is there, it is compiled, proved and not timed. `out` is a folder to
    save it in. `candidates` is where programs come from, in place of our own search. Raises Refused for a program that
    cannot be captured, draws random numbers, or leaves something behind.
    """
    if target not in TARGETS:
        raise ValueError(f"target is {target!r}; give {' or '.join(map(repr, TARGETS))}")
    if target == "cuda" and find_spec("triton") is None:
        raise Refused("--target cuda needs Triton: pip install 'samesame[triton]', or leave it out")
    run = run or Run(60 * minutes)
    example = inputs() if callable(inputs) else inputs
    given = module, example
    if target == "cuda":
        module, example = on_processor(module, example)
    threads = threads or os.cpu_count() or 1
    with run.during("capture"), on_threads(threads):
        recorded, gradients = called(module, example)
    begun = time.monotonic()
    with TemporaryDirectory(prefix="samesame-") as place:
        kind = Attempt if target == "cpu" else OnGpu if torch.cuda.is_available() else Untimed
        attempt = kind(module, example, recorded, Path(place), threads, seed, run, store, gradients)
        if isinstance(attempt, OnGpu) and module is not given[0]:
            attempt.given = given
        optimized = attempt.recalled() if candidates is None else None
        if optimized is None:
            with attempt.racing():
                attempt.prepare()
                memory(reuse=False)                    # as in a race: what kernels make lies in pages that are there
                with run.during("search"), on_threads(threads):
                    found = attempt.listed(candidates(module, example, run) if candidates else attempt.searched())
                optimized = attempt.decide(found)
            optimized.report.seconds = time.monotonic() - begun
            if candidates is None:
                attempt.remember(optimized)
    if out is not None:
        optimized.save(out)
    return optimized


def called(module: Any, example: Any) -> tuple[Recorded, bool]:
    """What a call does, and whether it computes gradients. Raises Refused as `optimize` does."""
    try:
        return sound(capture_calls(module, example, probing=True, again=True)), False
    except Differentiates:
        recorded = sound(capture_calls(module, example, how=GRADIENTS, probing=True, again=True))
    if again := differentiable(Program(module, example, True)):
        raise Refused(f"{name_of(module)} computes gradients, and output {again[0]} can be differentiated once more, "
                      "which that of a faster program could not be: return it detached")
    return recorded, True


def sound(recorded: Recorded) -> Recorded:
    """Raises Refused for a program whose calls do more than to return something."""
    left = [state.name for state in recorded.interface.states] + list(recorded.interface.lost)
    if left:
        raise Refused(f"a call writes into {', '.join(dict.fromkeys(left))}, which a faster program would not do: use "
                      "what it writes as a result, or put the module in eval mode")
    if recorded.fails or recorded.again:
        why = recorded.again or f"a second call raises {recorded.fails}"
        raise Refused(f"{why}, so no two calls do the same; what is found would be called in the place of each: keep "
                      "this out of the module")
    return recorded


