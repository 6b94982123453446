"""What fuzzing found as a page: each fault with the script that shows it, the line after which eager and compiled
part, the equal program that is compiled rightly, and who is guilty; and what the campaign did besides, or, where one
finding was run again, what each back end does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from samesame.fuzz.campaign import SAYS_NOTHING, summary, table, told
from samesame.fuzz.corpus import Finding, Kept
from samesame.fuzz.finding import files_of, headline
from samesame.fuzz.single import OwnResult
from samesame.report.html.page import choices, page, write_page
from samesame.report.html.plots import Bar, bars
from samesame.report.words import counted

WORDS = {0: "nothing found", 1: "found", 3: "nothing decided"}            # by exit code
AGAIN = {True: "it still shows", False: "it does not show here"}
STATUSES = {
    "agrees": "eager and compiled agree",
    "found": "the compiler does something else",
    "hung": "did not come back",
    "crashed": "ended its process",
    "out of memory": "took all memory",
    "invalid": "eager torch refuses it",
    "undefined": "torch leaves the result open",
    "unsteady": "other roundings, or another run, change the result",
    "not given": "the back end cannot take it",
    "wrong twin": "the rewrite was wrong; nobody is accused",
    "slow": "the machine was too busy to tell",
    "failed": "samesame itself failed",
}
COLOURS = {"agrees": "all", "found": "refuted"}
GUILTY = ("backend", "subsystem", "place")
NOTHING: dict[str, Any] = {"faults": [], "states": [], "own": None, "stages": [], "plots": []}
SIGNS = {"+": "added", "-": "removed", "@": "place"}         # of the lines of a diff


def campaign_html(kept: Kept, folder: Path) -> str:
    """The page of a campaign's folder."""
    groups = table(kept.findings)
    decided = any(status not in SAYS_NOTHING for status in kept.statuses)
    code = 1 if groups else 0 if decided or not kept.statuses else 3
    kinds = choices((finding.kind, "refuted") for group in groups for finding in group)
    settings = kept.settings
    generators = ", ".join(f"{name} {share:g}" for name, share in settings["generators"].items())
    return _page(
        folder,
        code=code,
        word=WORDS[code],
        headline=summary(kept.findings) if groups else "",
        sides=[("folder", folder), ("back ends", ", ".join(settings["backends"])), ("generators", generators)],
        faults=[{**_fault(number, [(finding, folder / f"{finding.number:04d}") for finding in group]),
                 "states": kinds[group[0].kind]["key"]} for number, group in enumerate(groups, 1)],
        states=kinds.values(),
        plots=[plot] if (plot := _cases(kept)) else [],
        footer=f"seed {settings['seed']}",
    )


def own_html(found: OwnResult) -> str:
    """The page of a program of one's own."""
    return _page(
        found.target,
        code=found.exit_code,
        word=found.verdict,
        headline=found.why,
        sides=[("program", found.target), ("back end", found.backend)],
        own={"twins": counted(found.twins, "equal twin"), "silent": found.silent, "rewrites": found.rewrites,
             "wrong": _numbered(found.text)},
        footer=f"{found.seconds:.0f} s",
    )


def write_own(found: OwnResult, path: Path) -> None:
    """Write that page to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_page(own_html(found), path)


def replayed_html(finding: Finding, folder: Path, shows: bool, stages: Mapping[str, dict[str, Any]]) -> str:
    """The page of a finding that was run again: what each back end does with it now."""
    return _page(
        folder,
        code=int(shows),
        word=AGAIN[shows],
        headline=headline(finding),
        sides=[("finding", folder), ("back end", finding.backend)],
        faults=[{**_fault(1, [(finding, folder)]), "states": ""}],
        stages=[{"name": name, "kind": COLOURS.get(result["status"], "undecided"), "words": told(result)}
                for name, result in stages.items()],
    )


def _page(about: object, *, word: str, **given: Any) -> str:
    return page("fuzz.html", title=f"{word}: {about}", word=word, **{**NOTHING, **given})


def _fault(number: int, group: Sequence[tuple[Finding, Path]]) -> dict[str, Any]:
    """Findings that may well be one fault, the shortest first, each with the folder that it lies in."""
    first, _ = group[0]
    times = sum(finding.times for finding, _ in group)
    findings = [_finding(finding, folder) for finding, folder in group]
    return {
        "id": f"fault-{number}",
        "number": number,
        "title": f"{first.backend}: {first.kind}",
        "times": f"seen {times} times" if times > 1 else "",
        "findings": findings,
        "search": " ".join(finding["search"] for finding in findings),
    }


def _finding(finding: Finding, folder: Path) -> dict[str, Any]:
    files = files_of(finding)
    facts = [("what", f"{finding.kind}{f' in {finding.where}' if finding.where else ''}"), ("how", finding.detail),
            ("operators", " · ".join(finding.calls)), ("dtypes", ", ".join(finding.dtypes)),
            ("found by", " as a ".join(filter(None, (finding.found_by, "twin" if finding.stage == "twin" else "")))),
            ("they part at", finding.first),
            ("guilty", " / ".join(filter(None, map(finding.guilty.get, GUILTY))))]
    return {
        "id": f"finding-{finding.number}",
        "headline": headline(finding),
        "kind": finding.kind,
        "folder": folder,
        "facts": [(name, words) for name, words in facts if words],
        "parts": bool(finding.first),
        "script": _numbered(files["script.py"], finding.first),
        "diff": [(SIGNS.get(line[:1], ""), line) for line in files.get("twin.diff", "").splitlines()],
        "test": _numbered(files.get("test_regression.py", "")),
        "versions": list(finding.versions.items()),
        "search": " ".join([headline(finding), *finding.calls, finding.found_by])[:2000],
    }


def _numbered(text: str, meant: str = "") -> list[tuple[int, str, bool | None]]:
    """The lines of a program, and whether each is the one that is meant; None where no line is."""
    lines = text.splitlines()
    met = [line.strip() == meant for line in lines] if meant else []
    return [(number, line, met[number - 1] if any(met) else None) for number, line in enumerate(lines, 1)]


def _cases(kept: Kept) -> Any:
    """How the programs ended."""
    total = kept.statuses.total()
    order = [status for status in (*STATUSES, *kept.statuses) if kept.statuses[status]]
    shown = [(STATUSES.get(status, status), kept.statuses[status], COLOURS.get(status, "undecided"))
             for status in dict.fromkeys(order)]
    return bars(
        f"how {counted(total, 'program')} ended",
        [Bar(words, n, f"{n}, {100 * n / total:.0f} %", kind=kind) for words, n, kind in shown],
        ("programs that", "number"), [(words, str(n)) for words, n, _ in shown],
    )
