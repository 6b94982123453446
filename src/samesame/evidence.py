"""Evidence: why a verdict may be believed, as data.

Every equality in a report carries a rung of one ladder, and a verdict carries the lowest rung it stands on. Proofs
are over the real numbers: a cast is the identity in a proof, and floating-point error is measured beside it, never
proved.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from samesame.graph import NOWHERE, Origin


class Rung(IntEnum):
    """How strongly something is established; larger is stronger."""

    REFUTED = 0
    UNDECIDED = 1
    TESTED = 2
    ROUNDED = 3
    PROVED_HERE = 4
    PROVED_ALIKE = 5
    PROVED = 6

    def __str__(self) -> str:
        return LADDER[self]


LADDER = {
    Rung.PROVED: "proved for all sizes",
    Rung.PROVED_ALIKE: "proved for sizes like those run",
    Rung.PROVED_HERE: "proved at these sizes",
    Rung.ROUNDED: "same up to the rounding of stored numbers",
    Rung.TESTED: "tested",
    Rung.UNDECIDED: "undecided",
    Rung.REFUTED: "refuted",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What establishes (or refutes) one equality.

    `method` is one of: input (given by the input relation), congruence, rule, normal form, smt, constant, test,
    values. `proof` names the rule or proof by its id, so that the report can say which equalities share one.
    `conditions` are the assumptions used, each a sentence such as `x[i] ≠ 0` or `-3.4e38 read as −∞`.
    """

    rung: Rung
    method: str
    proof: str = ""
    detail: str = ""
    conditions: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Relation:
    """right tensor = layout over left tensors, e.g. `concat(q_proj.weight, k_proj.weight, v_proj.weight; 0)`."""

    left: tuple[str, ...]
    right: str
    layout: str
    evidence: Evidence
    left_origin: Origin = NOWHERE
    right_origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Root:
    """One output, compared pairwise with its counterpart on the other side. Errors are absolute, in float64."""

    name: str
    left: str
    right: str
    evidence: Evidence
    max_error: float = 0.0
    mean_error: float = 0.0


@dataclass(frozen=True, slots=True)
class Site:
    """One operator of one side: where the programs part, or where an edit applies."""

    side: str
    node: str
    operator: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place where the programs part: the operator on each side, and the inputs that still agree."""

    left: Site | None
    right: Site | None
    agreeing_inputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Effect:
    """How much the outputs differ: absolute errors; for logits also log-probability change and changed argmax
    count."""

    max_error: float
    mean_error: float
    max_log_prob_change: float | None = None
    argmax_changed: int | None = None
    argmax_total: int | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """A change to one side that makes the two agree again. `verified` says how: proved or values."""

    description: str
    site: Site
    verified: str
    counterpart: Site | None = None
    effect: Effect | None = None


@dataclass(frozen=True, slots=True)
class Numeric:
    """Floating-point error of each side against the float64 oracle on the same rounded inputs, for one root.

    Absolute maximum over elements, relative to the largest magnitude of the oracle; worst over `draws` draws.
    """

    root: str
    left_error: float
    right_error: float
    dtype: str
    draws: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """What "for all sizes" ranges over: sizes that vary, such as `B = x.shape[0] ≥ 2`; those that stayed numbers, each
    with the reason; and the sizes at which the programs ran to tell."""

    varying: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()


@dataclass(slots=True)
class Verdict:
    """The answer of `check`: `same`, `different` or `undecided`, and everything it stands on. `weights` are those it
    holds for: "random" ones, that is all, or "as-given"; `because` says why they agree for the given ones only, and
    `only` to what "same" is limited besides."""

    verdict: str
    evidence: Rung
    roots: list[Root] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    divergence: Divergence | None = None
    diagnosis: list[Edit] = field(default_factory=list)
    effect: Effect | None = None
    numeric: list[Numeric] = field(default_factory=list)
    sizes: Sizes = field(default_factory=Sizes)
    unpaired: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    timing: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seed: int = 0
    certificate: dict[str, Any] | None = None
    weights: str = "random"
    because: str = ""
    only: list[str] = field(default_factory=list)
    left: str = "left"
    right: str = "right"

    @property
    def exit_code(self) -> int:
        return {"same": 0, "different": 1, "undecided": 3}[self.verdict]


@dataclass(frozen=True, slots=True)
class Output:
    """How one output of a sequential program lies on the ranks: `kind` is replicated, sharded, strided, partial (a sum
    over ranks that nobody took), scaled (a multiple), or none of these; `words` say it in full; `expected` is what the
    caller declared, if anything, and `holds` whether the kind is what it may be. `declare` is what a job would declare
    of an output that does not hold, if that is how it is meant to lie.
    """

    name: str
    kind: str
    words: str
    expected: str | None
    holds: bool
    evidence: Evidence
    declare: str = ""


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective as the ranks of a group run it: its kind (all_reduce sum, …), the group, the line of one rank."""

    kind: str
    group: tuple[int, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Loss:
    """Where a distributed program loses the sequential one: the first sequential operator that has no relation to what
    the ranks hold; what its inputs are on the ranks; and what the ranks hold instead."""

    operator: Site
    inputs: tuple[str, ...]
    instead: tuple[str, ...]


@dataclass(slots=True)
class Refinement(Verdict):
    """The answer of `refine`: `refines`, `does not refine` or `undecided`. The left side is the sequential program, the
    right side all ranks in one graph. `stuck` says where ranks wait for each other in vain, or touch what they should
    have waited for; `provided` what the answer takes for granted beside sizes, each the end of a sentence with `if`."""

    world_size: int = 0
    outputs: list[Output] = field(default_factory=list)
    input_relation: list[Relation] = field(default_factory=list)
    collectives: list[Collective] = field(default_factory=list)
    loss: Loss | None = None
    stuck: str = ""
    provided: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        return {"refines": 0, "does not refine": 1, "undecided": 3}[self.verdict]


class SamesameError(Exception):
    """Base of what samesame raises for unusable input: one clear sentence, shown without a traceback, exit code 2."""


class Refused(SamesameError):
    """A program that cannot be captured or compared: the message names the place and says what to do about it."""
