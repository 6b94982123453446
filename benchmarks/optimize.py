"""What `samesame optimize` makes of the usual workloads, against every way that torch has to run them.

    python benchmarks/optimize.py                                  # all rows, one thread and all threads: hours
    python benchmarks/optimize.py lora ntrans --threads 1          # rows whose names hold these words
    python benchmarks/optimize.py layer --minutes 6                # whole layers of Transformers, by name only
    python benchmarks/optimize.py --minutes 3 --markdown           # for each row and number of threads; as a table
    python benchmarks/optimize.py --scale 16 --minutes 1           # every width divided, to try it out
    python benchmarks/optimize.py lora --target cuda               # on the GPU that is there
    python benchmarks/optimize.py --list

Times are lower quartiles of at least 16 interleaved rounds, each program in a process of its own; `best` is the fastest
of eager torch and torch.compile (default, max-autotune, freezing, both). Where nothing faster is found the best is what
is returned, so its ratio is 1. Two figures stand below: geometric means over the best, and over torch.compile's
default. `warm` is a second run with the same store. A second table says what was searched: seconds until there were
candidates to race, terms and forms in the e-graph, loop nests (each for all tiles) and how many of these were cut, and
why, or proved, how many choices of tiles were tried, and how many candidates there were.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))

import torch
from optimize_workloads import LAYERS, WORKLOADS, Workload

from samesame.budget import Run
from samesame.evidence import SamesameError
from samesame.optimize.attempt import machine
from samesame.optimize.dropin import DEFAULT, EAGER
from samesame.optimize.verb import optimize
from samesame.report.optimized import Report, in_unit
from samesame.store import Store
from samesame.versions import versions, versions_of_packages

HEAD = ("workload", "threads", "eager", "compile", "best", "found", "spread", "× best", "× compile", "proof", "error",
        "seconds", "warm")


COUNTS = ("e-nodes", "forms", "schedules", "schedules that gather", "schedules in parts with enough to do",
          "schedules dominated", "schedules too costly", "schedules proved", "choices of tiles tried", "candidates")


@dataclass(frozen=True)
class Result:
    """One row: its cells, the two ratios, and the row of what was searched."""

    cells: tuple[str, ...]
    best: float
    default: float
    searched: tuple[str, ...]


def measured(workload: Workload, threads: int, minutes: float, scale: int, store: Store, target: str) -> Result:
    """One workload with so many threads, searched for, and once more from the store."""
    module, inputs = workload.made(scale)
    run = Run(60 * minutes)
    report = optimize(module, inputs, threads=threads, store=store, run=run, target=target).report
    for line in [*report.notes, *(f"{r.name}, {r.way}: {r.failed}" for r in report.rows if r.failed)]:
        print(f"{workload.name}: {line}", file=sys.stderr)
    begun = time.monotonic()
    optimize(module, inputs, minutes=minutes, threads=threads, store=store, target=target)
    warm = time.monotonic() - begun
    counts = (str(report.counts.get(name, 0)) for name in COUNTS)
    return row(workload.name, report, threads, warm, (workload.name, f"{run.seconds['search']:.0f}", *counts))


def row(name: str, report: Report, threads: int, warm: float, searched: tuple[str, ...]) -> Result:
    best = report.best
    if best is None or best.seconds is None:
        return Result((name, str(threads), *("-",) * 11), 1.0, 1.0, searched)
    default = time_of(report, DEFAULT)
    to_best, to_default = report.ratio() or 1.0, report.ratio(DEFAULT) or (default or best.seconds) / best.seconds
    found, held = report.winner, report.contract
    cells = (
        name, str(threads), shown(time_of(report, EAGER)), shown(default), f"{in_unit(best.seconds)} ({best.way})",
        "-" if found is None or found.seconds is None else f"{in_unit(found.seconds)} ({found.name})",
        f"{100 * ((found or best).spread or 0):.0f} %", f"{to_best:.2f}", f"{to_default:.2f}", report.evidence or "-",
        "-" if held is None else f"{held.found_error:.1e}/{held.original_error:.1e}",
        f"{report.seconds:.0f}", f"{warm:.1f}",
    )
    return Result(cells, to_best, to_default, searched)


def name_of(target: str) -> str:
    return torch.cuda.get_device_name() if target == "cuda" and torch.cuda.is_available() else machine()


def time_of(report: Report, way: str) -> float | None:
    return next((row.seconds for row in report.rows if row.way == way and not row.found), None)


def shown(seconds: float | None) -> str:
    return "failed" if seconds is None else in_unit(seconds)


def mean(ratios: Iterable[float]) -> float:
    """The geometric mean."""
    logs = [log(ratio) for ratio in ratios]
    return exp(sum(logs) / len(logs))


def printed(cells: Sequence[str], markdown: bool) -> None:
    print(f"| {' | '.join(cells)} |" if markdown else "   ".join(cells), flush=True)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("rows", nargs="*", help="words of which a row's name holds one")
    words.add_argument("--threads", type=int, nargs="*", help="of a processor: 1, and all, if none is given")
    words.add_argument("--minutes", type=float, default=5.0, help="for each row and number of threads")
    words.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    words.add_argument("--scale", type=int, default=1, help="divide every width by this")
    words.add_argument("--markdown", action="store_true")
    words.add_argument("--list", action="store_true")
    asked = words.parse_args()
    everything = (*WORKLOADS, *LAYERS)
    chosen = [w for w in everything if any(word.lower() in w.name.lower() for word in asked.rows)]
    chosen = chosen if asked.rows else list(WORKLOADS)
    if asked.list or not chosen:
        print("\n".join(workload.name for workload in (chosen or everything)))
        return
    threads = asked.threads or sorted({1 if asked.target == "cpu" else os.cpu_count() or 1, os.cpu_count() or 1})
    packages = " · ".join(f"{name} {version}" for name, version in versions_of_packages().items())
    print(f"{name_of(asked.target)} · {packages}\n")
    printed(HEAD, asked.markdown)
    if asked.markdown:
        printed(("---",) * len(HEAD), True)
    results: list[Result] = []
    prover, semantics = versions()
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "s.sqlite", prover=prover, semantics=semantics) as s:
        for workload in chosen:
            for number in threads:
                try:
                    results.append(measured(workload, number, asked.minutes, asked.scale, s, asked.target))
                except SamesameError as refusal:
                    print(f"{workload.name}: {refusal}", file=sys.stderr)
                    continue
                printed(results[-1].cells, asked.markdown)
    if results:
        print()
        for line in (("searched", "search s", *COUNTS), *(result.searched for result in results)):
            printed(line, asked.markdown)
        print(f"\n{len(results)} rows: geometric mean {mean(r.best for r in results):.2f} × the best, "
              f"{mean(r.default for r in results):.2f} × torch.compile's default; "
              f"least {min(r.best for r in results):.2f} ×")


if __name__ == "__main__":
    main()
