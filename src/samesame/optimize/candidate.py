"""A candidate: a program that may be faster, as the text of a Python file and what is to be said about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from samesame.evidence import Verdict
from samesame.report.optimized import Formula, Report, Step


@dataclass(frozen=True)
class Candidate:
    """`source` defines `Fast(weights)`, a module over the tensors among the inputs, in their order, that returns a
    tuple of the outputs; `weights` are by the names that it asks for. `native` are files beside it, by name.

    `changed` says what is different, in words and formulas; `formulas` has each output's, drawn; `steps` how it came
    about, rule by rule. A candidate that
    is `complete` runs as it is: nothing is gained by compiling it once more. Where `whole`, `Fast` takes the original
    instead of weights, and returns what that returns. Where `native` code computes, `reference` is the same program in
    torch's operators, of which its kernels are proved to be parts, under
    `conditions`; `faithful` if the form that they are of is proved to be what the program means, which takes a while
    and is asked of what is taken (`meant`). `lifted` is what is said of kernels whose code, and not only whose loop
    nests, is proved.
    """

    name: str
    source: str
    weights: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    formulas: tuple[Formula, ...] = ()
    steps: tuple[Step, ...] = ()
    native: Mapping[str, str] = field(default_factory=dict)
    complete: bool = False
    whole: bool = False
    reference: Candidate | None = None
    conditions: tuple[str, ...] = ()
    faithful: bool = False
    lifted: tuple[str, ...] = ()
    meant: Callable[[], tuple[str, ...] | None] | None = None      # the conditions under which it is; None: unsettled

    def settled(self) -> Candidate:
        """The same, and whether it is faithful."""
        conditions = self.meant() if self.meant else None
        if conditions is None:
            return self
        return replace(self, faithful=True, conditions=(*self.conditions, *conditions), meant=None)

    def told(self, report: Report, verdict: Verdict) -> None:
        """Say in a report what this is, and what the proof of it stands on."""
        report.changed, report.formulas, report.steps = self.changed, self.formulas, self.steps
        report.prove(verdict, self.conditions)
        if self.native:
            report.say_kernels(self.faithful, self.lifted)
