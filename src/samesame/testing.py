"""For test suites: `assert_same` fails a test, with the report as its message, when two programs are not the same;
`assert_refines` when a distributed program does not compute what the sequential one does; `assert_lifts` when a Triton
kernel is unsafe or does not compute what its reference does; `assert_compiles` when a compiler does something else than
eager torch.

    def test_port():
        assert_same(LlamaForCausalLM(config), FusedLlama(config), inputs)

    def test_plan():
        assert_refines(Block, BlockOfRank, inputs, world_size=4)

    def test_kernel():
        assert_lifts(launch, reference)

    def test_compiler():
        assert_compiles(model.eval(), inputs)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from samesame.check import check
from samesame.evidence import Refinement, Rung, Verdict
from samesame.refine import refine
from samesame.report import plain_text, refinement
from samesame.report.lifted import lines

if TYPE_CHECKING:
    from samesame.fuzz.single import OwnResult
    from samesame.lift import LiftVerdict


class NotShown(AssertionError):
    """What was to be asserted does not hold, or nothing shows that it does; its text is the report of the verdict."""

    def __init__(self, text: str, verdict: Any = None) -> None:
        super().__init__(text)
        self.verdict = verdict


LEAST = {"proved for all sizes": Rung.PROVED, "proved": Rung.PROVED_HERE, "rounded": Rung.ROUNDED,
         "tested": Rung.TESTED}


def assert_same(
    left: Any, right: Any, inputs: Any, *, seed: int = 0, at_least: str = "proved", **options: Any
) -> Verdict:
    """Check that `left` and `right` compute the same function of `inputs`; the arguments are those of `check`.

    `at_least` is the weakest evidence accepted: "proved for all sizes", "proved" (at these sizes or for all),
    "rounded", which also accepts stored numbers that are read as what they are roundings of (a folded batch norm), or
    "tested", which also accepts opaque kernels that agreed on every draw. Returns the verdict. Raises AssertionError
    with the report when the two differ, when nothing decides, or when the evidence is weaker than asked; SamesameError
    for input that cannot be checked; ValueError for another `at_least`.
    """
    __tracebackhide__ = True
    if at_least not in LEAST:
        raise ValueError(f"at_least is {at_least!r}; give one of {', '.join(map(repr, LEAST))}")
    verdict = check(left, right, inputs, seed=seed, **options)
    if failure := _failure(verdict, at_least):
        raise NotShown(f"{failure}\n\n{plain_text(verdict)}", verdict)
    return verdict


def _failure(verdict: Verdict, at_least: str) -> str:
    """Why the verdict does not pass, or nothing."""
    if verdict.verdict == "different":
        return "the two programs differ"
    if verdict.verdict == "undecided":
        return "undecided, which is no evidence that the two are the same"
    if verdict.evidence < LEAST[at_least]:
        return f"the same, but only {verdict.evidence} where {at_least} was asked"
    return ""


def assert_refines(sequential: Any, distributed: Any, inputs: Any, **options: Any) -> Refinement:
    """Check that a distributed program computes what the sequential one does; the arguments are those of `refine`.

    Returns the verdict. Raises AssertionError with the report where it does not refine or nothing decides;
    SamesameError for input that cannot be compared.
    """
    __tracebackhide__ = True
    verdict = refine(sequential, distributed, inputs, **options)
    if verdict.verdict != "refines":
        raise NotShown(f"{verdict.verdict}\n\n{refinement.plain_text(verdict)}", verdict)
    return verdict


def assert_lifts(
    target: Any, against: Any = None, *, inputs: Any = None, assume: Sequence[str] = (), timeout: float = 10.0
) -> LiftVerdict:
    """Check that the kernels of a launch function are safe and compute what a PyTorch function does, if one is given;
    the arguments are those of `lift`, `timeout` in seconds for each kernel.

    Returns the verdict. Raises AssertionError with the report where one is violated or undecided, SamesameError for a
    target that cannot be lifted.
    """
    __tracebackhide__ = True
    from samesame.lift import Settings, lift

    verdict = lift(target, against, Settings(seconds=timeout), inputs=inputs, assume=assume)
    if verdict.verdict != "verified":
        raise NotShown("\n".join((verdict.verdict, "", *lines(verdict))), verdict)
    return verdict


def assert_compiles(module: Any, inputs: Any, backend: str = "inductor", *, twins: int = 4, seed: int = 0) -> OwnResult:
    """Check that a compiler does what eager torch does with `module` on `inputs`, and with so many equal spellings.

    Returns what was found. Raises AssertionError where something differs or nothing can be said (two eager runs differ,
    say); SamesameError for a back end that is not there and for inputs on which the module does not run.
    """
    __tracebackhide__ = True
    from samesame.fuzz.campaign import Settings
    from samesame.fuzz.single import RIGHTLY, compiles

    found = compiles(module, inputs, Settings(backends=(backend,), seed=seed), twins)
    if found.verdict != RIGHTLY:
        raise NotShown("\n\n".join(filter(None, (f"{found.verdict} by {backend}: {found.why}", found.text))), found)
    return found
