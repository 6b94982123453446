"""What fuzzing found as answers for other tools: one for each finding, at the script that shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from samesame.fuzz.campaign import Progress
from samesame.fuzz.corpus import Finding
from samesame.fuzz.finding import headline
from samesame.fuzz.single import WRONGLY, OwnResult
from samesame.report import answers
from samesame.report.answers import (
    ERROR,
    FAILS,
    HOLDS,
    OPEN,
    STATES,
    Answer,
    Place,
    Rule,
    in_order,
    kind,
    place_of_target,
)

MEANING = "A compiler keeps two equal programs apart: {}."
OWN = Rule("compiled-wrongly", ERROR, "A compiler does something else than eager torch with this program.")


def of_findings(findings: Iterable[Finding], folder: Path) -> list[Answer]:
    """An answer for each finding of a campaign."""
    return [_of_finding(finding, folder / f"{finding.number:04d}" / "script.py") for finding in findings]


def _of_finding(finding: Finding, script: Path) -> Answer:
    rule = kind("compiled", finding.kind, ERROR, MEANING.format(finding.kind))
    line = headline(finding)
    found = answers.Finding(rule, line, (Place(str(script), words="a script that shows it"),))
    return Answer("fuzz", f"{finding.number:04d} {finding.backend}", "found", FAILS, line, finding.text,
                  findings=(found,))


def of_replay(finding: Finding, folder: Path, shows: bool, text: str) -> Answer:
    """The answer of a finding that was run again."""
    answer = replace(_of_finding(finding, folder / "script.py"), report=text)
    if shows:
        return answer
    line = f"it does not show here: {answer.headline}"
    return replace(answer, verdict="gone", state=HOLDS, headline=line, findings=())


def of_campaign(progress: Progress) -> list[Answer]:
    """An answer for the campaign, and one for each of its findings."""
    state = FAILS if progress.findings else HOLDS if progress.decided else OPEN
    word = {FAILS: "found", HOLDS: "nothing found", OPEN: "nothing decided"}[state]
    whole = Answer("fuzz", str(progress.folder), word, state, f"{word}   {progress.line}", seconds=progress.seconds)
    return [whole, *of_findings(progress.findings, progress.folder)]


def of_own(found: OwnResult) -> Answer:
    """The answer about a program of one's own."""
    state = STATES[found.exit_code]
    rule = OWN if found.verdict == WRONGLY else answers.NOT_DECIDED
    findings = (answers.Finding(rule, f"{found.backend}: {found.why}", in_order([place_of_target(found.target)])),)
    line = f"{found.verdict}   {found.why}".rstrip()
    return Answer("fuzz", f"{found.target}, {found.backend}", found.verdict, state, line, found.text or line,
                  found.seconds, findings if found.exit_code else ())
