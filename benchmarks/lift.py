"""What `lift` makes of real kernels: flag-gems 5.0.2 and liger-kernel 0.8.5, without a GPU.

    python benchmarks/lift.py                    # the table, and a summary
    python benchmarks/lift.py softmax mm         # these operators only
    python benchmarks/lift.py --cache FILE mm    # these anew; the summary is over them and what the file has of others
    python benchmarks/lift.py --corpus           # the project's own kernels instead (tests/kernels)
    python benchmarks/lift.py --json FILE        # the same as data
    python benchmarks/lift.py --without search   # closed forms of loops by rules alone; also invariants, pruning

    pip install --no-deps flag-gems==5.0.2 liger-kernel==0.8.5 && pip install sqlalchemy pyyaml

Every launch that an operator makes is captured and lifted, in a process that is replaced when it dies or takes long.
A formula counts as wrong when it differs from what the kernel stores in Triton's interpreter; what the operator returns
there is compared with torch. Of an autotuner's configurations the first one that compiles is lifted.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

OBLIGATIONS = ("value", "coverage", "race", "bounds", "undefined", "overflow", "aliasing")
MARKS = {"proved": "✓", "violated": "✗", "undecided": "?"}
MEANS = {"search": "synthesis", "invariants": "invariants", "pruning": "pruning"}
CLOSE = 2e-3                                # relative to the largest magnitude; the kernels compute in float32


@dataclass
class Row:
    """One launch."""

    operator: str
    kernel: str = ""
    call: int = 0
    formulas: list[str] = field(default_factory=list)
    told: bool = False                      # whether there is a formula for each stored tensor
    states: dict[str, str] = field(default_factory=dict)
    preconditions: list[str] = field(default_factory=list)
    unsupported: str = ""
    loops: bool = False                     # whether the kernel has any
    seconds: float = 0.0                    # of the processor
    error: float | None = None              # formula against interpreter; None where it was not evaluated
    note: str = ""                          # why not, or what the operator returns beside torch

    @property
    def verdict(self) -> str:
        if "violated" in self.states.values():
            return "violated"
        return "verified" if self.states and set(self.states.values()) == {"proved"} else "undecided"

    @property
    def wrong(self) -> bool:
        return self.error is not None and not self.error <= CLOSE


# --------------------------------------------------------------------------------------------------- in the worker


def rows_of(name: str, corpus: bool, without: tuple[str, ...] = ()) -> Iterator[Row]:
    """Capture one operator and lift each of its launches, `without` some means of finding closed forms of loops."""
    import torch

    from samesame.evidence import Refused
    from samesame.kernels.host.launch import Call
    from samesame.kernels.host.launches import capture_launches
    from samesame.lift.example import Example

    target, arguments, reference = corpus_target(name) if corpus else library_target(name)
    torch.manual_seed(0)
    inputs = arguments() if arguments is not None else None
    try:
        captured = capture_launches(target, inputs)
    except Refused as refused:
        yield Row(name, unsupported=f"not captured: {refused}")
        return
    calls = [step for step in captured.steps if isinstance(step, Call)]
    chosen = [usable(call) for call in calls]
    example, verdicts = Example(target, inputs, captured), dict[int, list[Any]]()
    rows: list[tuple[Row, Any]] = []
    for number, launch in enumerate(chosen):
        rows.append(lifted(name, number, launch, captured, without, verdicts, example))
        if rows[-1][1] is not None:
            verdicts[launch.call] = [rows[-1][1]]
    try:
        numbers(rows, chosen, captured, target, inputs, reference)
    except Exception as error:
        for row, _ in rows:
            row.note = row.note or f"{type(error).__name__}: {str(error).splitlines()[0][:160] if str(error) else ''}"
    yield from (row for row, _ in rows)


def library_target(name: str) -> tuple[Any, Any, Any]:
    from lift_operators import ALL

    from samesame.kernels.host.device import pretended

    operator = next(o for o in ALL if o.name == name)
    with pretended():
        return operator.function(), operator.arguments, operator.reference


def corpus_target(name: str) -> tuple[Any, Any, Any]:
    from kernel_corpus import target
    from samesame.programs.named import named

    return target(name), None, named(target(name, "reference"))


def usable(call: Any) -> Any:
    """The first configuration that compiles: a tuner leaves out one whose static assertion fails."""
    from samesame.evidence import Refused

    for launch in call.variants:
        try:
            if launch.ttir:
                return launch
        except Refused:
            continue
    return call.variants[0]


def lifted(
    name: str,
    number: int,
    recorded: Any,
    captured: Any,
    without: tuple[str, ...],
    before: dict[int, list[Any]],
    example: Any,
) -> tuple[Row, Any]:
    from samesame.evidence import Refused
    from samesame.kernels.kernel import Settings, lift_launch
    from samesame.kernels.loops.carried import Means
    from samesame.lift.program import prepared

    settings = Settings(means=Means(**{MEANS[name]: False for name in without}))
    row = Row(name, recorded.kernel, number)
    started = time.process_time()
    try:
        row.loops = bool(re.search(r"scf\.(for|while)", recorded.ttir))
        verdict = lift_launch(prepared(recorded, captured, before, example), settings)
    except Refused as refused:
        row.unsupported = str(refused)
        return row, None
    except Exception as error:
        trace = traceback.extract_tb(error.__traceback__)[-1]
        row.unsupported = f"FAILS: {type(error).__name__}: {error} ({Path(trace.filename).name}:{trace.lineno})"
        return row, None
    row.formulas = [formula.text for formula in verdict.formulas]
    row.told = bool(verdict.formulas) and all(formula.expr is not None for formula in verdict.formulas)
    row.states = {o.name: o.state for o in verdict.obligations}
    row.preconditions = list(verdict.preconditions)
    row.unsupported = "; ".join(verdict.unsupported)
    row.seconds = time.process_time() - started
    return row, verdict


def numbers(
    rows: list[tuple[Row, Any]], chosen: list[Any], captured: Any, target: Any, inputs: Any, reference: Any
) -> None:
    """Run the operator in the interpreter; compare each formula with what its launch stored, and torch with the end."""
    import torch

    from samesame.kernels.execution.values import undefined_in
    from samesame.kernels.front import passed_of
    from samesame.kernels.host.interpret import interpret
    from samesame.lift.numerics import apart, error_of, plain

    torch.manual_seed(0)
    configuration = next((launch.configuration for launch in chosen if launch.configuration), "")
    run = interpret(target, inputs, configuration=configuration)
    for (row, verdict), launch, execution in zip(rows, chosen, run.executions, strict=False):
        if verdict is None:
            continue
        passed = passed_of(launch, captured)
        errors = []
        for formula in verdict.formulas:
            if formula.expr is None or undefined_in(formula.expr[1]):
                continue
            try:
                errors.append(error_of(formula, passed, execution, captured.sizes))
            except Exception as error:
                row.note = f"not evaluated: {type(error).__name__}: {str(error)[:120]}"
        row.error = max(errors) if errors else None
    if reference is None or not rows:
        return
    arguments = run.inputs if inputs is None else None
    expected = reference(**arguments) if arguments is not None else reference(*inputs)
    right = next(iter(leaves(expected)), None)

    def is_right(outcome: Any) -> bool:
        got = next(iter(outcome.outputs.values()), None)
        return got is not None and right is not None and apart(plain(got), plain(right)) <= CLOSE

    if run.outputs and not is_right(run):
        zeros = is_right(interpret(target, inputs, configuration=configuration, blank=True))
        only = "torch's only where undefined values happen to be zeros" if zeros else "not torch's"
        rows[-1][0].note = f"in the interpreter the result is {only}"


def leaves(value: Any) -> list[Any]:
    import torch

    parts = value if isinstance(value, tuple | list) else (value,)
    return [part if isinstance(part, torch.Tensor) else torch.as_tensor(part) for part in parts]


def work(connection: Any, corpus: bool, without: tuple[str, ...]) -> None:
    """A worker: lifts the operators that it is sent, one after the other."""
    prepare(corpus)
    connection.send("ready")
    while True:
        name = connection.recv()
        try:
            connection.send([asdict(row) for row in rows_of(name, corpus, without)])
        except Exception as error:
            connection.send([asdict(Row(name, unsupported=f"FAILS: {type(error).__name__}: {str(error)[:200]}"))])


def prepare(corpus: bool) -> None:
    """Import the libraries as if there were a device."""
    import logging
    import warnings

    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("GEMS_VENDOR", "nvidia")
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    os.environ.setdefault("FLAGGEMS_CACHE_DIR", str(Path(tempfile.gettempdir()) / "samesame-flag-gems"))
    import torch

    from samesame.kernels.host.device import pretended

    torch.set_num_threads(1)
    if not corpus:
        with pretended():
            import flag_gems  # noqa: F401
            from flag_gems.utils.codegen_config_utils import CODEGEN_COFIGS

            # Block pointers are gone in Triton 3.9; the library can do without.
            for config in filter(None, CODEGEN_COFIGS.values()):
                config.prefer_block_pointer = False


# --------------------------------------------------------------------------------------------------- in the parent


class Worker:
    """A process that lifts, and its replacement when it dies."""

    def __init__(self, corpus: bool, limit: float, without: tuple[str, ...]) -> None:
        self.corpus, self.limit, self.without = corpus, limit, without
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, there = context.Pipe()
        self.process = context.Process(target=work, args=(there, self.corpus, self.without), daemon=True)
        self.process.start()
        there.close()
        if not self.connection.poll(300) or self.connection.recv() != "ready":
            raise SystemExit("the worker does not start")

    def lift(self, name: str) -> list[Row]:
        self.connection.send(name)
        try:
            if self.connection.poll(self.limit):
                return [Row(**row) for row in self.connection.recv()]
            why = f"more than {self.limit:g} s"
        except EOFError:
            why = "the process died"
        self.stop()
        self.start()
        return [Row(name, unsupported=why)]

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


HEADING = ["operator", "kernel", "formula", *OBLIGATIONS, "precondition", "ms", "error"]


def lines(rows: list[Row]) -> Iterator[str]:
    """The rows of the table."""
    for row in rows:
        said = shortened("; ".join(row.formulas) or row.unsupported, 110)
        marks = [MARKS.get(row.states.get(name, ""), "") for name in OBLIGATIONS]
        error = "" if row.error is None else f"{row.error:.0e}"
        cells = [row.operator, shortened(row.kernel, 40), said, *marks, shortened(", ".join(row.preconditions), 60),
                 f"{1000 * row.seconds:.0f}", error]
        yield "| " + " | ".join(cell.replace("|", "¦").replace("\n", " ") for cell in cells) + " |"


def shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def summary(rows: list[Row]) -> Iterator[str]:
    launches = [row for row in rows if row.kernel]
    n = max(len(launches), 1)
    counts = {
        "formula": sum(r.told and not r.unsupported for r in launches),
        "value proved": sum(r.states.get("value") == "proved" for r in launches),
        "all obligations": sum(r.verdict == "verified" for r in launches),
        "violated": sum(r.verdict == "violated" for r in launches),
        "formula evaluated": sum(r.error is not None for r in launches),
        "formula wrong, every obligation proved": sum(r.wrong and r.verdict == "verified" for r in launches),
        "formula wrong, an obligation open or violated": sum(r.wrong and r.verdict != "verified" for r in launches),
    }
    seconds = sorted(r.seconds for r in launches if r.seconds) or [0.0]
    yield f"operators: {len({r.operator for r in rows})}; captured launches: {len(launches)}"
    yield from (f"{name}: {count} ({100 * count / n:.0f} %)" for name, count in counts.items())
    yield f"median {1000 * statistics.median(seconds):.0f} ms, worst {seconds[-1]:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("operators", nargs="*", help="names of operators; all by default")
    parser.add_argument("--corpus", action="store_true", help="the project's own kernels")
    parser.add_argument("--without", action="append", default=[], choices=MEANS, help="what loops do without")
    parser.add_argument("--limit", type=float, default=90.0, help="seconds for one operator")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument("--cache", type=Path, help="keep rows in this file; those of other operators come from it")
    chosen = parser.parse_args()
    every = all_names(chosen.corpus)
    names = chosen.operators or every
    if unknown := [name for name in names if name not in every]:
        parser.error(f"there is no operator {unknown[0]}")
    kept = json.loads(chosen.cache.read_text()) if chosen.cache and chosen.cache.exists() else []
    rows = [Row(**row) for row in kept if row["operator"] not in names]
    worker = Worker(chosen.corpus, chosen.limit, tuple(chosen.without))
    started = time.perf_counter()
    print(f"| {' | '.join(HEADING)} |\n|{'---|' * len(HEADING)}")
    for number, name in enumerate(names, 1):
        if sys.stderr.isatty():
            print(f"{number}/{len(names)} {name:40}", end="\r", file=sys.stderr)
        found = worker.lift(name)
        rows += found
        print("\n".join(lines(found)), flush=True)
        for file in filter(None, (chosen.json, chosen.cache)):
            file.write_text(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False))
    worker.stop()
    for row in rows:
        if row.note or row.wrong:
            print(f"- {row.operator} {row.kernel}: {'WRONG ' if row.wrong else ''}{row.note}")
    print("\n".join(summary(rows)))
    print(f"{time.perf_counter() - started:.0f} s in all")


def all_names(corpus: bool) -> list[str]:
    if corpus:
        from kernel_corpus import KERNELS

        return list(KERNELS)
    from lift_operators import ALL

    return [operator.name for operator in ALL]


if __name__ == "__main__":
    main()
