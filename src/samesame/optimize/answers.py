"""What `optimize` found as an answer for other tools: a note at the program that has a faster equal, or why there is
none."""

from __future__ import annotations

from samesame.report.answers import NOTE, STATES, Answer, Finding, Rule, in_order, place_of_target
from samesame.report.optimized import FASTER, NOT_TIMED, NOTHING, Report, first_line, in_full

RULES = {
    FASTER: Rule("can-be-faster", NOTE, "Another program computes the same, and faster."),
    NOTHING: Rule("nothing-faster", NOTE, "No program was found that computes the same, and faster."),
    NOT_TIMED: Rule("not-timed", NOTE, "Another program computes the same; which is the faster one was not measured."),
}


def of_optimize(report: Report, target: str) -> Answer:
    """The answer about this target."""
    line = first_line(report)
    places = in_order([place_of_target(target)])
    finding = Finding(RULES[report.verdict], f"{report.verdict}: {report.headline}", places)
    return Answer("optimize", report.title, report.verdict, STATES[report.exit_code], line, in_full(report),
                  report.seconds, (finding,), report.evidence)
