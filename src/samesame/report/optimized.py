"""What `optimize` found, for people and for machines.

First the answer, then the table of what ran side by side; what was changed; the proof; and the figures of the numeric
contract. Times are lower quartiles of interleaved rounds, each program in a fresh process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from samesame.evidence import Verdict
from samesame.report import headline
from samesame.report.json import plain
from samesame.report.words import counted

SIDE_BY_SIDE = "side by side (lower quartile of a call; spread to the upper one)"
CHANGED, STEPS, CONTRACT = "what was changed", "step by step", "numeric contract"
FASTER, NOTHING, NOT_TIMED = "faster", "nothing faster found", "not timed"
OF_CONSTANTS = "proved up to the rounding of constants that it works out"
FAITHFUL = "the kernels' formulas are proved to be what the program's operators mean, at these sizes"
PRINTED = "that the kernels' formulas are those that were proved is tested, not proved"
KERNELS = (
    "each kernel is proved to compute its part of them, as a loop nest, for all tile sizes",
    "its C++ is printed from the loop nest and tested, not proved; it is for these sizes: others go to the original",
)
CODE = "each kernel, read back from its Triton code, is proved to compute its part of them, for all sizes:"
HERE = "the drop-in runs them at these sizes; others go to the original"
EAGER, DEFAULT = "eager", "torch.compile"            # two of the ways of `optimize/dropin`, which stands by itself
C = 4.0                                              # times what rounding may do, that an element may be off
SHOWN = 100                                          # letters of a formula in a step
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


@dataclass(frozen=True, slots=True)
class Step:
    """One rule on the way: before and after, as mathematics in a line, and as MathML."""

    rule: str
    before: str
    after: str
    drawn: tuple[str, str] = ("", "")

    def __str__(self) -> str:
        return f"{_short(self.before)} → {_short(self.after)}    ({self.rule})"


def _short(formula: str) -> str:
    return formula if len(formula) <= SHOWN else f"{formula[:SHOWN]} …"


@dataclass(frozen=True, slots=True)
class Formula:
    """What an output is, as MathML: in the original, and in what was found, if that is another formula."""

    output: str
    before: str
    after: str = ""


@dataclass
class Contract:
    """What was measured. `worst` is the largest share of what an element is allowed; the errors are the largest,
    relative to the largest magnitude of their output. `failed` says where it does not hold, in a sentence; `cut`, that
    it was not measured to the end."""

    draws: int = 0
    elements: int = 0
    worst: float = 0.0
    found_error: float = 0.0
    original_error: float = 0.0
    weights: int = 0
    failed: str = ""
    seconds: float = 0.0
    cut: bool = False

    @property
    def refused(self) -> str:
        """Why a program does not take the original's place; nothing where it may."""
        if self.cut:
            return f"its rounding is not known: {self.failed}"
        return f"outside the numeric contract: {self.failed}" if self.failed else ""


@dataclass(frozen=True)
class Row:
    """One program of the race. `seconds` is the lower quartile of a call, `spread` how far the upper one lies above it,
    as a share."""

    name: str
    way: str
    found: bool
    seconds: float | None
    spread: float | None
    rounds: int
    failed: str = ""
    best: bool = False                   # of what the user already has
    winner: bool = False
    late: bool = False                   # not timed for want of time alone


@dataclass
class Report:
    """Everything that is said of one search."""

    title: str
    verdict: str = NOTHING
    way: str = EAGER
    rows: list[Row] = field(default_factory=list)
    changed: tuple[str, ...] = ()
    formulas: tuple[Formula, ...] = ()   # as MathML, for a page
    steps: tuple[Step, ...] = ()
    proof: str = ""
    kernels: tuple[str, ...] = ()
    evidence: str = ""
    conditions: list[str] = field(default_factory=list)
    contract: Contract | None = None
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    threads: int = 0
    seed: int = 0
    machine: str = ""
    minutes: float = 0.0                 # the time that was given
    measured: str = ""                   # the day, where this was kept from an earlier run
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    timed: str = ""                      # how calls were timed, if not one after another from Python

    @property
    def exit_code(self) -> int:
        return 0 if self.verdict == FASTER else 3

    @property
    def winner(self) -> Row | None:
        return next((row for row in self.rows if row.winner), None)

    @property
    def best(self) -> Row | None:
        return next((row for row in self.rows if row.best), None)

    def ratio(self, way: str | None = None) -> float | None:
        """How many times as fast what was found is as the best of what the user has, or as the user's program in this
        way."""
        other = self.best if way is None else next((r for r in self.rows if r.way == way and not r.found), None)
        if self.winner is None or other is None or not self.winner.seconds or other.seconds is None:
            return None
        return other.seconds / self.winner.seconds

    @property
    def headline(self) -> str:
        if self.verdict == FASTER and self.best is not None:
            ratio, default = self.ratio() or 0.0, self.ratio(DEFAULT)
            more = f", {default:.2f} × as fast as torch.compile" if default and self.best.way != DEFAULT else ""
            late = any(row.late and not row.found for row in self.rows)
            there = "that was ready in time" if late else "there was"
            timed = f", {self.timed}" if self.timed else ""
            return f"{ratio:.2f} × as fast as {self.best.name}, the best {there}{more}{timed}; {self.evidence}"
        if self.verdict == NOT_TIMED:
            return f"Triton kernels, {self.machine}; {self.evidence}"
        return f"{self.best.name} is the fastest" if self.best else "nothing was measured"

    def prove(self, verdict: Verdict, conditions: Sequence[str]) -> None:
        """What a proof stands on, and under which conditions, these among them. Of a program that works constants out
        in its own dtype it is a proof for what they are meant to be, by how much these are off is a condition."""
        self.proof = headline(verdict).plain
        self.evidence = OF_CONSTANTS if verdict.is_of_constants else str(verdict.evidence)
        own = {str(condition) for root in verdict.roots for condition in root.evidence.conditions}
        self.conditions = sorted(own.union(conditions))

    def say_kernels(self, faithful: bool, lifted: Sequence[str]) -> None:
        """The proof is of the form of kernels and their loop nests, and of their code only where that was `lifted`."""
        code = "its Triton code proved" if lifted else "its compiled code tested"
        self.evidence += f", {code}" if faithful else ", its kernels tested"
        about = (CODE, *(f"  {line}" for line in lifted), HERE) if lifted else KERNELS
        self.kernels = (FAITHFUL if faithful else PRINTED, *about)

    def form(self) -> dict[str, Any]:
        """As JSON."""
        own = {name: value for name, value in asdict(self).items() if name != "formulas"}
        found = {"format": 1, "verb": "optimize", "headline": self.headline, **own, "steps": list(map(str, self.steps)),
                 "ratio": self.ratio(), "ratio_to_default": self.ratio(DEFAULT), "exit_code": self.exit_code}
        form: dict[str, Any] = plain(found)
        return form


def first_line(report: Report) -> str:
    return f"{report.verdict}   {report.headline}"


def in_full(report: Report, explain: bool = False) -> str:
    """The report as text."""
    told = (line for title, lines in sections(report, explain) for line in (f"\n{title}", *(f"  {x}" for x in lines)))
    return "\n".join([first_line(report), *(f"  {line}" for line in aside(report)), *told, f"\n{footer(report)}"])


def aside(report: Report) -> Iterator[str]:
    yield f"{report.title}   {counted(report.threads, 'thread')}, {report.machine}"
    if report.measured:
        yield f"as it was measured on {report.measured}; --store - measures again"


def footer(report: Report) -> str:
    versions = " · ".join(f"{name} {version}" for name, version in report.versions.items())
    return f"{report.seconds:.0f} s · seed {report.seed} · {versions}"


def sections(report: Report, explain: bool) -> Iterator[tuple[str, list[str]]]:
    """Each section that has something to say, with its lines."""
    if report.rows:
        yield SIDE_BY_SIDE, list(table(report))
    if report.changed:
        yield CHANGED, list(report.changed)
    if explain and report.steps:
        yield STEPS, list(map(str, report.steps))
    if explain and report.counts:
        yield "the search", [" · ".join(f"{what} {number}" for what, number in report.counts.items())]
    if report.proof:
        yield "proof", [report.proof, *report.kernels, *(f"if {condition}" for condition in report.conditions)]
    if report.contract is not None:
        yield CONTRACT, list(figures(report.contract))
    notes = [*report.notes]
    if late := [row.name for row in report.rows if row.late and not row.found]:
        notes.append(f"Not ready in time, and so not raced: {'; '.join(late)}. Give it more with --minutes.")
    if report.counts.get("candidates") == 0:
        notes.append("No other program was found that might be faster.")
    if notes:
        yield "notes", [f"· {note}" for note in notes]


def table(report: Report) -> Iterator[str]:
    """Rows in the order in which they came in, each against the best of what the user has."""
    width = max(len(spoken(row)) for row in report.rows)
    for row in ran(report):
        assert row.seconds is not None
        mark = "   ← this" if is_answer(report, row) else ""
        yield (f"{spoken(row):{width}}   {in_unit(row.seconds):>9}   +{100 * (row.spread or 0):3.0f} %   "
               f"{against_best(report, row):>8}   {counted(row.rounds, 'round')}{mark}")
    for row in report.rows:
        if row.seconds is None:
            yield f"{spoken(row):{width}}   {untimed(row)}"


def ran(report: Report) -> list[Row]:
    """Those that were timed, the fastest first."""
    return sorted((row for row in report.rows if row.seconds is not None), key=lambda row: row.seconds or 0.0)


def is_answer(report: Report, row: Row) -> bool:
    """Is this the fastest there is?"""
    return row.winner or (row.best and report.winner is None)


def against_best(report: Report, row: Row) -> str:
    """How many times as fast as the best of what the user has."""
    best = report.best.seconds if report.best else None
    return f"{best / row.seconds:.2f} ×" if best and row.seconds else ""


def untimed(row: Row) -> str:
    return f"failed: {row.failed}" if row.failed else "not timed"


def spoken(row: Row) -> str:
    if not row.found:
        return row.name
    return f"found: {row.name}" if row.way == EAGER else f"found: {row.name}, {row.way}"


def figures(held: Contract) -> Iterator[str]:
    yield (f"{counted(held.draws, 'draw')}, {counted(held.elements, 'element')}: each within max(2 × the original's "
           f"error, {C:g} × what rounding may do); the nearest came to {100 * held.worst:.0f} % of it")
    yield (f"largest error against float64, relative: {held.found_error:.1e}; the original's {held.original_error:.1e}"
           f"; {'the given weights' if held.weights == 1 else f'{held.weights} sets of weights'}; NaN and ±∞ agree")


def in_unit(seconds: float) -> str:
    size, name = next(((size, name) for size, name in UNITS if seconds >= size), UNITS[-1])
    return f"{seconds / size:.3g} {name}"
