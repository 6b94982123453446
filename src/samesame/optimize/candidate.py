"""A candidate: a program that may be faster, as the text of a Python file and what is to be said about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

SHOWN = 100                                          # letters of a formula in a step


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
