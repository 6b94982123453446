"""What `lift` answers, as data: the formulas, what they stand on, and what breaks them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from samesame.evidence import Shown

VERSION = 1
EXIT = {"verified": 0, "violated": 1, "undecided": 3}


@dataclass
class Obligation:
    """One thing that must hold for a kernel to be verified.

    `state` is proved, violated or undecided; a violated one has a `counterexample`: sizes, and the program, lane or
    element where it fails. `seconds` is what deciding it took.
    """

    name: str
    state: str
    detail: str = ""
    place: str = ""
    counterexample: dict[str, Any] | None = None
    seconds: float = 0.0
    tensor: str = ""  # of coverage: whose elements; not part of the JSON

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "state": self.state,
            "detail": self.detail,
            "line": self.place,
            "counterexample": self.counterexample,
            "ms": round(1000 * self.seconds, 3),
        }


@dataclass
class Formula:
    """What one tensor holds after the launch: `out[i, j] = …` as text, LaTeX and expression."""

    tensor: str
    text: str
    latex: str
    name: str = ""
    expr: Any = None  # (indices, expression); not part of the JSON

    def to_json(self) -> dict[str, Any]:
        return {"tensor": self.tensor, "text": self.text, "latex": self.latex, "name": self.name}


@dataclass(frozen=True)
class Stage:
    """One step of how a formula came about: what it is, the formula there, and the line it comes from."""

    title: str
    text: str
    latex: str
    place: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"title": self.title, "text": self.text, "latex": self.latex, "line": self.place}


@dataclass
class KernelVerdict:
    """The answer for one launch. `demands` are the preconditions that a program may break; the others every program
    keeps: a lookup's index is in range, integers do not overflow, a symbol is no smaller than it says. `configuration`
    is the autotuner's choice, where there are several."""

    kernel: str
    place: str = ""
    configuration: str = ""
    formulas: list[Formula] = field(default_factory=list)
    preconditions: list[str] = field(default_factory=list)
    demands: list[str] = field(default_factory=list)
    obligations: list[Obligation] = field(default_factory=list)
    readings: list[str] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)  # where they were asked for
    numerics: list[Any] = field(default_factory=list)  # errors that were measured, where they were asked for
    unmeasured: list[str] = field(default_factory=list)  # why some were not
    seconds: float = 0.0
    ranges: dict[str, Any] = field(default_factory=dict)  # assumed of integer tensors; not part of the JSON
    data: dict[str, Any] = field(default_factory=dict)  # the same with single numbers besides, and whether they differ
    sums: list[Any] = field(default_factory=list)  # limits on sums of their elements; not part of the JSON
    held: dict[str, int] = field(default_factory=dict)  # sizes that are numbers here; not part of the JSON
    assumed: list[Any] = field(default_factory=list)  # its conditions on sizes, as expressions; not part of the JSON
    covers: dict[str, Any] = field(default_factory=dict)  # (indices, what tells whether they are written) of an output
    reads: set[str] = field(default_factory=set)  # storages; neither is part of the JSON
    loads: set[str] = field(default_factory=set)  # the tensors that are read there; not part of the JSON
    told: dict[str, Any] = field(default_factory=dict)  # where its tensors hold more than −∞; not part of the JSON
    stated: list[str] = field(default_factory=list)  # a user's contracts on its tensors, among the preconditions
    counts: list[str] = field(default_factory=list)  # tensors taken to have no element below 1; not part of the JSON
    divisions: list[str] = field(default_factory=list)  # contracts on sizes that may help; not part of the JSON
    places: list[str] = field(default_factory=list)  # tensors that say where stores go, and may have to be distinct

    def demand(self, conditions: Iterable[str]) -> None:
        """More preconditions that a program may break, named first."""
        found = [condition for condition in conditions if condition not in self.preconditions]
        self.demands[:0] = found
        self.preconditions[:0] = found

    @property
    def verdict(self) -> str:
        states = {o.state for o in self.obligations}
        if "violated" in states:
            return "violated"
        return "verified" if states == {"proved"} and not self.unsupported else "undecided"

    @property
    def headline(self) -> str:
        """The verdict with all that it stands on: `verified, if N ≤ 128; 0 ≤ labels[…] < V`."""
        return conditional(self.verdict, self.preconditions)

    @property
    def name(self) -> str:
        return ", ".join(dict.fromkeys(f.name for f in self.formulas if f.name))

    def to_json(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel,
            "line": self.place,
            "configuration": self.configuration,
            "verdict": self.verdict,
            "headline": self.headline,
            "name": self.name,
            "formulas": [f.to_json() for f in self.formulas],
            "preconditions": self.preconditions,
            "demands": self.demands,
            "obligations": [o.to_json() for o in self.obligations],
            "readings": self.readings,
            "stages": [s.to_json() for s in self.stages],
            "numerics": [m.to_json() for m in self.numerics],
            "unmeasured": self.unmeasured,
            "unsupported": self.unsupported,
            "ms": round(1000 * self.seconds, 3),
        }


def conditional(verdict: str, conditions: Iterable[str]) -> str:
    """A verdict with its conditions, where it is one that has some."""
    told = "; ".join(conditions)
    return f"{verdict}, if {told}" if told and verdict == "verified" else verdict


@dataclass
class LiftVerdict(Shown):
    """The answer for all launches of a target, and against a reference where one was given.

    `against` is same, different, undecided, or empty where there is no reference; what is the same may be so only at
    sizes that are held to numbers, and under conditions on the inputs (that a root is taken of no negative number).
    """

    target: str
    kernels: list[KernelVerdict] = field(default_factory=list)
    reference: str = ""
    against: str = ""
    against_detail: str = ""
    against_counterexample: dict[str, Any] | None = None
    against_held: list[str] = field(default_factory=list)
    against_conditions: list[str] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        verdicts = {k.verdict for k in self.kernels}
        if "violated" in verdicts or self.against == "different":
            return "violated"
        whole = verdicts == {"verified"} and not self.unsupported and self.against in ("", "same")
        return "verified" if whole else "undecided"

    @property
    def headline(self) -> str:
        """The verdict, or that the reference differs from kernels that violate nothing; what it stands on is said of
        each kernel."""
        if self.against == "different" and all(k.verdict != "violated" for k in self.kernels):
            return self.against
        return conditional(self.verdict, ("all that is needed holds",) if self.needs else ())

    @property
    def against_headline(self) -> str:
        """The answer about the reference, with the sizes that are held and the conditions on inputs."""
        held = [f"at {', '.join(self.against_held)}"] if self.against_held else []
        conditions = self.against_conditions if self.against == "same" else []
        where = [f"where {', '.join(conditions)}"] if conditions else []
        told = " ".join((self.against, *held, *where))
        return f"{told}, if all that is needed holds" if self.against == "same" and self.needs else told

    @property
    def needs(self) -> bool:
        return any(k.preconditions for k in self.kernels)

    @property
    def exit_code(self) -> int:
        return EXIT[self.verdict]

    def to_json(self) -> dict[str, Any]:
        kernels = [k.to_json() for k in self.kernels]
        parts = ("formulas", "preconditions", "obligations", "numerics")
        joined = {part: [x for k in kernels for x in k[part]] for part in parts}
        return {
            "version": VERSION,
            "verdict": self.verdict,
            "headline": self.headline,
            "target": self.target,
            "name": ", ".join(dict.fromkeys(k.name for k in self.kernels if k.name)),
            **joined,
            "against": self.against,
            "reference": self.reference,
            "against_detail": self.against_detail,
            "against_counterexample": self.against_counterexample,
            "against_held": self.against_held,
            "against_conditions": self.against_conditions,
            "unsupported": [*self.unsupported, *(u for k in self.kernels for u in k.unsupported)],
            "notes": self.notes,
            "kernels": kernels,
        }


def power_text(value: int) -> str:
    exponent = value.bit_length() - 1
    if value == 1 << exponent:
        return f"2^{exponent}"
    below = (1 << value.bit_length()) - value
    return f"2^{value.bit_length()} − {below}" if below < 1 << 20 else str(value)


def widths(bits: Iterable[int]) -> str:
    """How long numbers are, in words; 32 bits where there is none."""
    *first, last = sorted({*bits}) or [32]
    return f"{', '.join(map(str, first))} or {last}-bit" if first else f"{last}-bit"
