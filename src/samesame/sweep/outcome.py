"""What came of a probe, and of a sweep.

Each probe ends as one of: `same`; `different`; `refused`, where one side says loudly that it does not take the config;
`unsupported`, where samesame cannot compare them or neither side takes it; `undecided`, where time ran out, a process
crashed, or neither a proof nor a difference was found. A difference that is known and intended is waived, with a
reason, and then decides nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from samesame.sweep.probe import Plan, Probe

OUTCOMES = ("different", "undecided", "unsupported", "refused", "same")
SAMESAME, NEITHER = "samesame", "neither"


@dataclass(frozen=True, slots=True)
class Place:
    """A line of one side at which the two part."""

    line: str = ""                          # file:line
    code: str = ""
    module: str = ""
    operator: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one probe.

    `by` is who refused: `left`, `right`, `samesame` or `neither` library took it. `moved` says for each side whether
    its logits are others than without the field, None where the weights are others too. `outputs` are those that
    differ. Errors are absolute differences of logits: `max_error`, `mean_error` as `check` found them, in float64,
    `direct_error` of one run in float32 of the two programs as they are. `config` holds what a script needs to build
    the model.
    """

    probe: Probe
    outcome: str
    by: str = ""
    message: str = ""
    evidence: str = ""
    moved: tuple[bool | None, bool | None] = (None, None)
    outputs: tuple[str, ...] = ()
    max_error: float | None = None
    mean_error: float | None = None
    max_log_prob_change: float | None = None
    argmax_changed: int | None = None
    argmax_total: int | None = None
    direct_error: float | None = None
    left: Place | None = None
    right: Place | None = None
    edits: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    seconds: float = 0.0
    waived: str = ""

    @property
    def moves_nothing(self) -> bool:
        """Neither side's logits depend on this field."""
        return self.moved == (False, False)

    @property
    def ignored_by(self) -> str:
        """The side whose logits stay as they were while the other's move; nothing where there is none."""
        if self.moved == (True, False):
            return "right"
        return "left" if self.moved == (False, True) else ""


def to_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome as JSON has it, the probe's field, value and fields among its keys."""
    found = asdict(outcome)
    probe = found.pop("probe")
    return {"field": probe["field"], "value": probe["value"], "fields": probe["fields"], **found,
            "ignored_by": outcome.ignored_by}


def from_json(found: Mapping[str, Any]) -> Outcome:
    """The outcome that `to_json` wrote. Raises KeyError, TypeError or ValueError where it is none."""
    rest = {name: value for name, value in found.items() if name not in ("field", "value", "fields", "ignored_by")}
    for side in ("left", "right"):
        rest[side] = None if rest[side] is None else Place(**rest[side])
    if rest["outcome"] not in OUTCOMES:
        raise ValueError(rest["outcome"])
    rest["moved"], rest["edits"] = tuple(rest["moved"]), tuple(rest["edits"])
    rest["outputs"] = tuple(rest["outputs"])
    return Outcome(Probe(found["field"], found["value"], found["fields"]), **rest)


@dataclass(slots=True)
class Sweep:
    """All outcomes of one sweep, in the order of its probes. `base` is that of the config as it was given; `attention`
    is Transformers' for the scripts of differences, empty where a script would not show what was compared; `goes_on`
    says how a sweep does that did not come to its end."""

    left: str
    right: str
    kind: str
    base: Outcome | None
    plan: Plan
    outcomes: list[Outcome] = field(default_factory=list)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seed: int = 0
    seconds: float = 0.0
    attention: str = ""
    interrupted: bool = False
    goes_on: str = ""

    @property
    def unreached(self) -> list[Probe]:
        """Probes that the sweep did not come to."""
        done = {outcome.probe.key for outcome in self.outcomes}
        return [probe for probe in self.plan.probes if probe.key not in done]

    @property
    def counts(self) -> dict[str, int]:
        """How many probes ended how; `waived` are not counted elsewhere, `moves nothing` are among the same."""
        found = Counter("waived" if outcome.waived else outcome.outcome for outcome in self.outcomes)
        quiet = sum(o.outcome == "same" and o.moves_nothing for o in self.outcomes)
        return {**{name: found[name] for name in (*OUTCOMES, "waived")}, "same, moving nothing": quiet,
                "not reached": len(self.unreached)}

    @property
    def exit_code(self) -> int:
        """1 where a probe differs, else 3 where one could not be decided, else 0. What is waived does not count, and
        neither does what a library refuses loudly."""
        every = [self.base, *self.outcomes] if self.base is not None else self.outcomes
        counted = [outcome for outcome in every if not outcome.waived]
        if any(outcome.outcome == "different" for outcome in counted):
            return 1
        open_ = any(o.outcome == "undecided" or (o.outcome == "unsupported" and o.by == SAMESAME) for o in counted)
        return 3 if open_ or self.unreached else 0


def waived(outcome: Outcome, reason: str) -> Outcome:
    return replace(outcome, waived=reason)
