"""Answers: what a verb found, in the form that other tools read; `junit`, `sarif` and `markdown` write it.

An answer is one thing that was asked (a pair, a job, a kernel, a probe) and what came of it. Its findings are what a
person should look at, each with a rule, which says what kind of thing it is, and the places it concerns: the line that
an annotation belongs to comes first. Every verb says its result as answers, and no writer knows a verb.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from samesame.evidence import Refinement, Rung, Site, Verdict
from samesame.graph import Origin
from samesame.graph.interface import KINDS
from samesame.kernels.verdict import KernelVerdict, LiftVerdict
from samesame.report import refinement, terminal
from samesame.report.lifted import in_words, lines
from samesame.report.words import code_in_words, counted

HOLDS, FAILS, OPEN, UNUSABLE, ASIDE = "holds", "fails", "open", "unusable", "left aside"
STATES = {0: HOLDS, 1: FAILS, 2: UNUSABLE, 3: OPEN}                # by the exit code of a verb
ERROR, WARNING, NOTE = "error", "warning", "note"
NOT_ACCEPTED = "not accepted"
LINE = re.compile(r"(?P<file>.+?):(?P<line>\d+)\b")


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a program, its text, and what is to be said of it."""

    file: str
    line: int = 1
    code: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of finding: its name, how grave it is, and what it means."""

    id: str
    level: str
    words: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to look at. The first of the places is where; the others belong to it."""

    rule: Rule
    message: str
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked, and what came of it: the verb's own word, its state, one line, and the whole report as text."""

    verb: str
    name: str
    verdict: str
    state: str
    headline: str
    report: str = ""
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    evidence: str = ""
    formulas: tuple[str, ...] = field(default=(), compare=False)      # in LaTeX


def to_form(answer: Answer) -> dict[str, Any]:
    """The answer as JSON has it."""
    return asdict(answer)


def from_form(form: dict[str, Any]) -> Answer:
    """The answer that `to_form` wrote. Raises KeyError or TypeError where it is none."""
    found = tuple(
        Finding(Rule(**f["rule"]), f["message"], tuple(Place(**place) for place in f["places"]))
        for f in form["findings"]
    )
    return Answer(**{**form, "findings": found, "formulas": tuple(form["formulas"])})


def not_accepted(answer: Answer, why: str) -> Answer:
    """The answer of another machine that counts for nothing here."""
    found = ", ".join(filter(None, (answer.verdict, answer.evidence)))
    line = f"{found}, says a machine of the cluster, but {why}"
    return replace(answer, verdict=NOT_ACCEPTED, state=OPEN, headline=line, evidence="undecided")


# ----------------------------------------------------------------------------------------------------- where it is said


def place_of(origin: Origin, words: str = "") -> Place | None:
    """The place of a node; None where none is known."""
    return Place(origin.file, max(1, origin.line), code_in_words(origin), words) if origin.file else None


def place_of_site(site: Site | None) -> Place | None:
    if site is None:
        return None
    does = "compute" if site.side == "ranks" else "computes"
    return place_of(site.origin, f"{site.side} {does} {site.operator}" if site.side else site.operator)


def place_of_line(text: str, words: str = "") -> Place | None:
    """`file.py:12`, as reports name it."""
    found = LINE.match(text)
    return Place(found["file"], max(1, int(found["line"])), words=words) if found else None


def place_of_target(target: str) -> Place | None:
    """Where a target is defined: the line of `name` in `file.py:name`, or a file or folder by itself."""
    source, _, name = target.rpartition(":")
    if source.endswith(".py"):
        if not Path(source).is_file():
            return None
        return Place(source, _line_of(source, name.split(".")[0]), words=target)
    bare = target.partition("?")[0].removeprefix("hf:").removeprefix("vllm:").removeprefix("gguf:")
    file = Path(bare) / "config.json" if Path(bare).is_dir() else Path(bare)
    return Place(str(file), words=target) if file.is_file() else None


def _line_of(file: str, name: str) -> int:
    """The line at which a file defines a name; its first where that cannot be told."""
    try:
        tree = ast.parse(Path(file).read_text())
    except (OSError, SyntaxError, ValueError):
        return 1
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = {getattr(node, "name", None)} | {n.id for t in targets if t for n in ast.walk(t)
                                                 if isinstance(n, ast.Name)}
        if name in names:
            return node.lineno
    return 1


def in_order(places: Iterable[Place | None]) -> tuple[Place, ...]:
    """The places that there are, each once, those in the user's own files first: an annotation on a library's line
    reaches nobody."""
    found: dict[tuple[str, int], Place] = {}
    for place in places:
        if place is not None:
            found.setdefault((place.file, place.line), place)
    return tuple(sorted(found.values(), key=lambda place: inside(place.file) is None))


@lru_cache(maxsize=8)
def root_of(here: Path) -> Path:
    """The folder that paths are told from: of the repository around a folder, or that itself."""
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def inside(file: str) -> str | None:
    """A file's path from the root of the repository, with slashes; None for one outside it, such as a library's."""
    path, root = Path(os.path.abspath(file)), root_of(Path.cwd())
    if not path.is_relative_to(root) or not path.exists() or "site-packages" in path.parts:
        return None
    return path.relative_to(root).as_posix()


# ------------------------------------------------------------------------------------------------------- what was found

NUMBERS = Rule("different-numbers", ERROR, "The two programs compute different numbers.")
BESIDES = {kind: Rule(f"different-{kind}", ERROR, f"The two programs differ in {words}.")
           for kind, words in KINDS.items()}
SIZES = Rule("different-sizes", ERROR, "The two programs are the same at some sizes and differ at others.")
NOT_DECIDED = Rule("undecided", WARNING, "Nothing told the two apart, and not everything could be established.")
ONLY_TESTED = Rule("only-tested", NOTE, "The two agree on every draw; an opaque operator is tested, not proved.")
LOST = Rule("lost-on-ranks", ERROR, "The ranks lose what the sequential program computes.")
STUCK = Rule("ranks-wait", ERROR, "Ranks wait for each other in vain, or touch memory that a collective works on.")
UNSAFE = "What a kernel must keep, its {} here, is violated."
OTHER_KERNEL = Rule("kernel-differs", ERROR, "The kernel does not compute what its reference computes.")
KERNEL_OPEN = Rule("kernel-undecided", WARNING, "What a kernel must keep was neither proved nor violated.")
UNUSABLE_INPUT = Rule("unusable", ERROR, "What was asked could not be looked at.")


def unusable(verb: str, name: str, sentence: str, seconds: float = 0.0, places: Iterable[Place | None] = ()) -> Answer:
    """The answer where there is none: a sentence that says why."""
    finding = Finding(UNUSABLE_INPUT, sentence, in_order(places))
    return Answer(verb, name, UNUSABLE, UNUSABLE, sentence, "", seconds, (finding,))


def of_check(verdict: Verdict) -> Answer:
    line = terminal.headline(verdict).plain
    name = f"{verdict.left} and {verdict.right}"
    return Answer("check", name, verdict.verdict, STATES[verdict.exit_code], line, terminal.plain_text(verdict),
                  terminal.seconds_of(verdict), tuple(_of_pair(verdict, _sentence(line))), str(verdict.evidence))


def _of_pair(verdict: Verdict, line: str) -> Iterator[Finding]:
    """A line of the right side comes before its counterpart: the left is the reference."""
    found, edits = verdict.divergence, verdict.diagnosis
    sites = [found.right, found.left] if found else []
    sites += [site for edit in edits for site in (edit.site, edit.counterpart)]
    places = in_order([*map(place_of_site, sites), *map(place_of_target, (verdict.right, verdict.left))])
    mend = f"; they agree again if {_edit(edits[0].site.side, edits[0].description)}" if edits else ""
    if verdict.verdict == "undecided":
        yield Finding(NOT_DECIDED, line, places)
    elif verdict.verdict == "same" and verdict.evidence is Rung.TESTED:
        yield Finding(ONLY_TESTED, line, places)
    elif verdict.sizes.apart:
        yield Finding(SIZES, line, places)
    elif verdict.verdict == "different":
        if any(root.evidence.rung is Rung.REFUTED for root in verdict.roots) or not verdict.differences:
            yield Finding(NUMBERS, f"{line}{mend}", places)
        yield from (Finding(BESIDES[d.kind], d.text, places) for d in verdict.differences)


def _sentence(headline: str) -> str:
    """`different   output 0 differs` as running text."""
    return re.sub(r" {2,}", ": ", headline)


def _edit(side: str, description: str) -> str:
    return description if description.startswith(side) else f"{side} {description}"


def of_refine(verdict: Refinement) -> Answer:
    line = refinement.headline(verdict).plain
    return Answer("refine", f"{verdict.left} on {counted(verdict.world_size, 'rank')}", verdict.verdict,
                  STATES[verdict.exit_code], line, refinement.plain_text(verdict), terminal.seconds_of(verdict),
                  tuple(_of_ranks(verdict, _sentence(line))), str(verdict.evidence))


def _of_ranks(verdict: Refinement, line: str) -> Iterator[Finding]:
    own = [place_of_target(verdict.left)]
    if verdict.verdict == "undecided":
        yield Finding(NOT_DECIDED, line, in_order(own))
    elif verdict.verdict != "refines":
        lost = [place_of_site(verdict.loss.operator)] if verdict.loss else []
        mends = [place_of_site(edit.site) for edit in verdict.diagnosis]
        stuck = [place_of_line(word) for word in verdict.stuck.split() if LINE.match(word)]
        mend = f"; it refines if {verdict.diagnosis[0].description}" if verdict.diagnosis else ""
        rule = STUCK if verdict.stuck else LOST
        yield Finding(rule, f"{line}{mend}", in_order([*mends, *stuck, *lost, *own]))


def of_lift(verdict: LiftVerdict) -> list[Answer]:
    """An answer for each kernel, and one for the reference where there is one."""
    found = [_of_kernel(kernel, verdict) for kernel in verdict.kernels]
    report = "\n".join(lines(verdict))
    target = place_of_target(verdict.target)
    if verdict.unsupported:
        found.append(replace(
            unusable("lift", verdict.target, "; ".join(verdict.unsupported), places=[target]),
            verdict="undecided", state=OPEN, report=report,
        ))
    if verdict.against:
        state = {"same": HOLDS, "different": FAILS}.get(verdict.against, OPEN)
        line = f"{verdict.against_headline}: {verdict.against_detail}"
        places = in_order([target, place_of_target(verdict.reference)])
        rule = OTHER_KERNEL if state is FAILS else KERNEL_OPEN
        case = in_words(verdict.against_counterexample) if verdict.against_counterexample else ""
        findings = () if state is HOLDS else (Finding(rule, " at ".join(filter(None, (line, case))), places),)
        name = f"{verdict.target} against {verdict.reference}"
        found.append(Answer("lift", name, verdict.against, state, line, report, findings=findings))
    return found


def _of_kernel(kernel: KernelVerdict, verdict: LiftVerdict) -> Answer:
    own = [place_of_line(kernel.place), place_of_target(verdict.target)]
    findings = []
    for obligation in kernel.obligations:
        if obligation.state == "proved":
            continue
        violated = obligation.state == "violated"
        rule = kind("kernel", obligation.name, ERROR, UNSAFE.format(obligation.name)) if violated else KERNEL_OPEN
        case = f" at {in_words(obligation.counterexample)}" if obligation.counterexample else ""
        message = f"{obligation.name} {obligation.state}: {obligation.detail}{case}"
        findings.append(Finding(rule, message, in_order([place_of_line(obligation.place), *own])))
    findings += [Finding(KERNEL_OPEN, sentence, in_order([place_of_line(sentence), *own]))
                 for sentence in kernel.unsupported]
    findings.sort(key=lambda finding: finding.rule is KERNEL_OPEN)              # what is violated comes first
    state = {"verified": HOLDS, "violated": FAILS}.get(kernel.verdict, OPEN)
    configuration = f" ({kernel.configuration})" if kernel.configuration else ""
    report = "\n".join(lines(LiftVerdict(verdict.target, [kernel], notes=verdict.notes)))
    return Answer("lift", f"{kernel.kernel}{configuration}", kernel.verdict, state, kernel.headline, report,
                  kernel.seconds, tuple(findings), formulas=tuple(f.latex for f in kernel.formulas if f.latex))


def _id(words: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def kind(prefix: str, words: str, level: str, meaning: str) -> Rule:
    """A rule for a kind that a verb names itself, such as `compiled-wrong-value`."""
    return Rule(f"{prefix}-{_id(words)}", level, meaning)
