"""Evidence: why a verdict may be believed, as data.

Every equality in a report carries a rung of one ladder, and a verdict carries the lowest rung it stands on. Proofs
are over the real numbers: a cast is the identity in a proof, and floating-point error is measured beside it, never
proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from samesame.formula.assumptions import Assumption
from samesame.formula.region import Region, listed
from samesame.formula.sizes import size_text, symbols, value_at
from samesame.formula.tensor import Dim, Tensor
from samesame.graph import NOWHERE, Origin, Setting
from samesame.graph.interface import Difference


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
    values, shape (the two have none in common). `proof` names the rule or proof by its id, so that the report can say
    which equalities share one. `conditions` are what was taken for granted, such as `x[i] ≠ 0` or
    `-3.4e38 read as −∞`: as data, of which `str` makes a sentence.
    """

    rung: Rung
    method: str
    proof: str = ""
    detail: str = ""
    conditions: tuple[Assumption, ...] = ()
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
class Drawn:
    """One operator of a program as a picture shows it: what it reads, by name, and the type of its result as text."""

    name: str
    operator: str
    inputs: tuple[str, ...]
    type: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Stands:
    """The tensors that a variable of a claim stands for: the left one and the right one by name, empty where none."""

    variable: str
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What was decided to be equal: the formulas of both sides over the claim's variables, None where an operator has
    none, and the operators of both sides down to these variables, as text. `normal` has the normal forms of the two,
    one where they are the same; `questions` those that the solver answered in its proof, as SMT-LIB."""

    left: Tensor | None
    right: Tensor | None
    block: str
    normal: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Because:
    """A step of why congruence holds: two terms as text, equal for a reason, which is "congruence", "one term" (both
    apply one operator to the same), "identity" (a cast, a copy), "constant" or the id of a proof. It `rests` on the
    relations of these right tensors, and on earlier steps (`since`, from 1)."""

    left: str
    right: str
    reason: str
    rests: tuple[str, ...] = ()
    since: tuple[int, ...] = ()


@dataclass(slots=True)
class Picture:
    """What a drawing of two programs needs beside the verdict. `decided` has, for each right tensor that took a proof,
    the key of its claim among `claims`, which layers share, and what the variables stand for there; `because` has, for
    each that congruence related, the steps down to other relations. `errors` are those
    of each operator of the left and the right in its own precision against float64, on the first draw, relative to the
    largest value; `apart` counts, for each output, elements by how far the sides are apart in their own precision
    relative to its largest value: by the power of ten above, None for those that are equal."""

    left: tuple[Drawn, ...]
    right: tuple[Drawn, ...]
    claims: dict[str, Claim] = field(default_factory=dict)
    decided: dict[str, tuple[str, tuple[Stands, ...]]] = field(default_factory=dict)
    because: dict[str, tuple[Because, ...]] = field(default_factory=dict)
    errors: tuple[dict[str, float], dict[str, float]] = field(default_factory=lambda: ({}, {}))
    apart: dict[str, dict[int | None, int]] = field(default_factory=dict)


SHOWN = 3                                                  # sizes that stayed numbers, in one line
Shapes = Mapping[str, tuple[int, ...]]                     # of inputs, by name


@dataclass(frozen=True, slots=True)
class Case:
    """One of several regions that were proved apart: the conditions that bound it, each with the line that asks, and
    the assumptions of its proofs."""

    region: Region
    bounds: tuple[str, ...] = ()
    conditions: tuple[Assumption, ...] = ()


@dataclass(frozen=True, slots=True)
class Sizes:
    """For which sizes of the inputs something was proved.

    In words: sizes that vary, such as `B = x.shape[0] ≥ 2`; those that stayed numbers, each with the reason; the sizes
    at which the programs ran to tell; conditions that bound the region, each with the line that asks; and where a size
    could not be followed. As data: the example's `shapes`; what each dimension that varies is in the symbols of the
    `region`; and the values of the symbols in each run. Where the region is covered by several `cases`, they are named.
    `apart` are sizes at which the two programs differ, with the output. `lost` are places that could not be followed,
    `by_files` sizes that a file fixes and the program beside it does not.
    """

    varying: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    shapes: Shapes = field(default_factory=dict)
    places: Mapping[tuple[str, int], Dim] = field(default_factory=dict)
    region: Region = field(default_factory=Region)
    points: tuple[Mapping[str, int], ...] = ()
    bounds: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    apart: str = ""
    cases: tuple[Case, ...] = ()
    by_files: tuple[str, ...] = ()

    def symbols_at(self, shapes: Shapes) -> dict[str, int] | None:
        """The values of the region's symbols for inputs of these shapes; None where no values give them."""
        if {name: len(shape) for name, shape in shapes.items()} != {n: len(shape) for n, shape in self.shapes.items()}:
            return None
        found: dict[str, int] = {}
        for name, shape in self.shapes.items():
            for d, own in enumerate(shape):
                size, n = self.places.get((name, d)), shapes[name][d]
                if size is None:
                    if n != own:
                        return None
                    continue
                (symbol,) = symbols(size)
                value, rest = divmod(n, value_at(size, {symbol.name: 1}))
                if rest or found.setdefault(symbol.name, value) != value:
                    return None
        return found

    def covered(self, shapes: Shapes, rung: Rung) -> bool:
        """Whether a proof on this rung says something about inputs of these shapes."""
        values = self.symbols_at(shapes)
        if values is None or rung < Rung.PROVED_HERE:
            return False
        if rung is Rung.PROVED_ALIKE:
            return values in self.points
        return self.region.holds(values) if self.places else rung is not Rung.ROUNDED

    def held(self) -> tuple[str, ...]:
        """The sizes of 2 or more that stayed numbers, as text."""
        places = [(name, d, n) for name, shape in self.shapes.items() for d, n in enumerate(shape) if n >= 2]
        return tuple(f"{name}.shape[{d}] = {n}" for name, d, n in places if (name, d) not in self.places)

    def spoken(self) -> str:
        """The region in the user's names, and what is held in it: `B ≥ 2 and 2 ≤ T ≤ 64, with x.shape[2] = 6`; and of
        how many cases it is made."""
        more = " and others" if len(self.held()) > SHOWN else ""
        shown = self.bounded(self.region, self.held()[:SHOWN])
        cases = f"; {len(self.cases)} case{'s' * (len(self.cases) != 1)}" if self.cases else ""
        return f"{shown}{more}{cases}"

    def bounded(self, region: Region, held: Sequence[str] = ()) -> str:
        """A region over the same symbols, in the user's names."""
        shown = [self._bounded(name, low, high) for name, (low, high) in region.bounds.items()]
        conditions = [*map(str, region.conditions), *held]
        return listed(shown) + (f", with {listed(conditions)}" if conditions else "")

    def _bounded(self, name: str, low: int, high: int | None) -> str:
        """The bounds of what varies, which is a multiple of its symbol."""
        size = next(size for size in self.places.values() if name in {symbol.name for symbol in symbols(size)})
        step = value_at(size, {name: 1})
        text = size_text(size)
        return f"{text} ≥ {step * low}" if high is None else f"{step * low} ≤ {text} ≤ {step * high}"

    def run_at(self) -> str:
        """The values of each symbol in the runs: `B ∈ {2, 5, 11}`, or `B = 2 … 5` where none is left out."""
        names = list(self.points[0]) if self.points else []
        ran = {name: sorted({point[name] for point in self.points}) for name in names}
        return ", ".join(f"{name} = {values[0]}" if len(values) == 1 else
                         f"{name} = {values[0]} … {values[-1]}" if values[-1] - values[0] == len(values) - 1 else
                         f"{name} ∈ {{{', '.join(map(str, values))}}}" for name, values in ran.items())


@dataclass(frozen=True, slots=True)
class Reading:
    """A stored tensor that is read as the formula that it is a rounding of. `worst` is how far an element lies from the
    formula, `allowed` how far rounding may carry it, both in units in the last place of `dtype`, of the element for
    which this is the tightest; `most` is the most that is allowed of any. `roundings` is the number of operators that
    round before the result is stored."""

    side: str
    name: str
    formula: str
    dtype: str
    worst: float
    allowed: float
    most: float
    roundings: int = 0

    def __str__(self) -> str:
        several = f"{self.roundings} operators that round" if self.roundings > 1 else "an operator that rounds"
        through = f", through {several}" if self.roundings else ""
        return (f"{self.name} of the {self.side} read as {self.formula}: off by at most {self.worst:.2g} units in the "
                f"last place of {self.dtype}, where rounding allows {self.allowed:.2g}{through}")


class Shown:
    """What a notebook shows of a verb's result. It asks the object itself, and the package's exports say how: data
    knows no reports."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from samesame import as_html

        return as_html(self)                                                  # type: ignore[arg-type]

    def _repr_markdown_(self) -> str:
        from samesame import as_markdown

        return as_markdown(self)                                              # type: ignore[arg-type]


@dataclass(slots=True)
class Verdict(Shown):
    """The answer of `check`: `same`, `different` or `undecided`, and everything it stands on. `weights` are those it
    holds for: "random" ones, that is all, or "as-given"; `because` says why they agree for the given ones only, and
    `only` to what "same" is limited besides. `differences` are those beside numbers (how results are put together,
    dtypes, shared memory, state), `ignored` those that were to be ignored; `scope` says for how many calls the answer
    holds, and is empty where it holds for all. A `picture` is there where it was asked for."""

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
    advice: str = ""                # what to do about weights without a partner
    differences: list[Difference] = field(default_factory=list)
    ignored: list[Difference] = field(default_factory=list)
    scope: str = ""
    notes: list[str] = field(default_factory=list)
    timing: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seed: int = 0
    readings: list[Reading] = field(default_factory=list)
    certificate: dict[str, Any] | None = None
    picture: Picture | None = None
    settings: tuple[Setting, Setting] | None = None         # the state that each side was captured in
    weights: str = "random"
    because: str = ""
    only: list[str] = field(default_factory=list)
    left: str = "left"
    right: str = "right"

    @property
    def exit_code(self) -> int:
        return {"same": 0, "different": 1, "undecided": 3}[self.verdict]

    @property
    def is_of_constants(self) -> bool:
        """Whether it is proved but for the rounding of constants that the programs work out: nothing stored is read."""
        return self.evidence is Rung.ROUNDED and not self.readings

    def covers(self, inputs: Any) -> bool:
        """Whether what was proved holds for inputs of these sizes: True where the two programs are proved to compute
        the same there, False where nothing was proved there, or where they differ.

        `inputs` are example inputs as `check` takes them (a tuple or a dict of tensors, nested or not), or the shape of
        each input by its name, such as `{"x": (2, 64)}`. Raises SamesameError where the names are not the inputs'.
        """
        shapes = _shapes_of(inputs, tuple(self.sizes.shapes))
        return (self.verdict == "same" or bool(self.sizes.apart)) and self.sizes.covered(shapes, self.proved)

    @property
    def proved(self) -> Rung:
        """The lowest rung of the outputs: what was shown where it was, though they may differ at other sizes."""
        return min((root.evidence.rung for root in self.roots), default=self.evidence)


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
    have waited for; `provided` what the answer takes for granted beside sizes, each the end of a sentence with `if`;
    `tried` what was run on values beside the proofs, and agreed."""

    world_size: int = 0
    outputs: list[Output] = field(default_factory=list)
    input_relation: list[Relation] = field(default_factory=list)
    collectives: list[Collective] = field(default_factory=list)
    loss: Loss | None = None
    stuck: str = ""
    provided: list[str] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        return {"refines": 0, "does not refine": 1, "undecided": 3}[self.verdict]


def _shapes_of(inputs: Any, names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """The shape of each input by name."""
    if isinstance(inputs, Mapping) and all(isinstance(shape, tuple | list) for shape in inputs.values()) and all(
        isinstance(n, int) for shape in inputs.values() for n in shape
    ):
        found = {str(name): tuple(shape) for name, shape in inputs.items()}
    else:
        shapes = list(_shapes_in(inputs))
        found = dict(zip(names, shapes, strict=False)) if len(shapes) == len(names) else {}
    if set(found) != set(names):
        raise SamesameError(f"the inputs are {', '.join(names)}; give tensors for these, or a shape by each name")
    return {name: found[name] for name in names}


def _shapes_in(inputs: Any) -> Iterator[tuple[int, ...]]:
    if hasattr(inputs, "shape"):
        yield tuple(inputs.shape)
    elif isinstance(inputs, Mapping | list | tuple):
        for part in inputs.values() if isinstance(inputs, Mapping) else inputs:
            yield from _shapes_in(part)


class SamesameError(Exception):
    """Base of what samesame raises for unusable input: one clear sentence, shown without a traceback, exit code 2."""


class Refused(SamesameError):
    """A program that cannot be captured or compared: the message names the place and says what to do about it."""
