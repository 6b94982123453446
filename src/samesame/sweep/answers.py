"""A sweep as answers for other tools: one for each probe, the config as it is first."""

from __future__ import annotations

from collections.abc import Iterator

from samesame.report.answers import (
    ASIDE,
    ERROR,
    FAILS,
    HOLDS,
    OPEN,
    WARNING,
    Answer,
    Finding,
    Rule,
    in_order,
    place_of_line,
    place_of_target,
)
from samesame.sweep.outcome import SAMESAME, Outcome, Sweep
from samesame.sweep.table import named

IGNORED = Rule("config-field-ignored", ERROR, "One library ignores a field of the config that the other computes with.")
DIFFERS = Rule("config-field-differs", ERROR, "The two libraries compute different things with a field of the config.")
NOT_DECIDED = Rule("config-field-undecided", WARNING, "Whether the two libraries agree on a field is undecided.")


def answers(sweep: Sweep) -> list[Answer]:
    """What became of each probe. What a library refuses loudly, and what is waived, is left aside."""
    base = [] if sweep.base is None else [_answer(sweep.base, "the config as it is", sweep)]
    return [*base, *(_answer(outcome, named(outcome), sweep) for outcome in sweep.outcomes)]


def _answer(outcome: Outcome, name: str, sweep: Sweep) -> Answer:
    open_ = outcome.outcome == "undecided" or (outcome.outcome == "unsupported" and outcome.by == SAMESAME)
    state = {"same": HOLDS, "different": FAILS}.get(outcome.outcome, OPEN if open_ else ASIDE)
    state = ASIDE if outcome.waived else state
    line = "   ".join(_words(outcome))
    findings = tuple(_finding(outcome, line, sweep)) if state in (FAILS, OPEN) else ()
    return Answer("sweep", f"{sweep.kind}: {name}", outcome.outcome, state, line, line, outcome.seconds, findings,
                  outcome.evidence)


def _words(outcome: Outcome) -> Iterator[str]:
    yield outcome.outcome
    yield from filter(None, (outcome.waived, outcome.message))
    if outcome.ignored_by:
        yield f"the {outcome.ignored_by} computes what it computes without it"
    if outcome.max_error is not None:
        yield f"the outputs differ by up to {outcome.max_error:.3g}"
    yield from (f"they agree again if {edit}" for edit in outcome.edits[:1])


def _finding(outcome: Outcome, line: str, sweep: Sweep) -> Iterator[Finding]:
    sides = [place_of_line(side.line, side.operator) for side in (outcome.right, outcome.left) if side is not None]
    rule = NOT_DECIDED if outcome.outcome != "different" else IGNORED if outcome.ignored_by else DIFFERS
    yield Finding(rule, line, in_order([*sides, place_of_target(sweep.left)]))
