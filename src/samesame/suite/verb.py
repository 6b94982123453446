"""The run of a suite: what is kept and unchanged is free, the rest is asked in forks, and each answer is judged."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from samesame.evidence import LADDER, SamesameError
from samesame.report.answers import (
    ERROR,
    FAILS,
    HOLDS,
    OPEN,
    UNUSABLE,
    Answer,
    Finding,
    Place,
    Rule,
    from_form,
    in_order,
    unusable,
)
from samesame.store import Store
from samesame.suite.asking import asked, limit_of
from samesame.suite.entries import AT_LEAST, Entry, read_suite
from samesame.suite.forks import Lost, in_forks
from samesame.suite.kept import InRecord, InStore, Kept, key_of
from samesame.suite.reads import Reads

UNEXPECTED = Rule("unexpected", ERROR, "An entry of the suite has another verdict than is expected.")
WEAKER = Rule("weaker-evidence", ERROR, "An entry of the suite stands on weaker evidence than is asked.")
RUNG = {words: rung for rung, words in LADDER.items()}

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Row:
    """An entry and its answer: the state is that of what was expected, and `why` says what is not as expected;
    `unchanged`: kept from an earlier run; `not_kept`: why the next run has to ask again."""

    entry: Entry
    answer: Answer
    state: str
    why: str = ""
    unchanged: bool = False
    not_kept: str = ""


@dataclass(slots=True)
class Suite:
    """The rows in the order of the file, as far as they were reached."""

    path: Path
    entries: list[Entry]
    rows: list[Row] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def counts(self) -> Counter[str]:
        return Counter(row.state for row in self.rows)

    @property
    def exit_code(self) -> int:
        """1 where a verdict is not as expected, else 2 where an entry could not be looked at, else 3 where one is
        undecided or was not reached."""
        counts = self.counts
        if counts[FAILS]:
            return 1
        return 2 if counts[UNUSABLE] else 3 if counts[OPEN] or len(self.rows) < len(self.entries) else 0

    @property
    def answers(self) -> list[Answer]:
        """For other tools: what is as expected has no findings."""
        return [told(row, self.path) for row in self.rows]


def suite(
    path: Path,
    *,
    jobs: int = 1,
    store: Store | None = None,
    resume: Path | None = None,
    only: Sequence[str] = (),
    anew: bool = False,
    progress: Progress | None = None,
) -> Suite:
    """Ask every entry of the file, `jobs` at a time.

    What an earlier run decided is taken from the `store` where nothing that it hangs on has changed, unless all is to
    be asked `anew`; the file `resume` keeps everything, for a run that goes on. `only` are parts of names. Ctrl-C ends
    the run and keeps what is done. Raises SamesameError for a file that is no suite.
    """
    started = time.monotonic()
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // jobs)))
    reads = Reads(time.time(), dict(os.environ))
    entries = [e for e in read_suite(path) if not only or any(part in e.name for part in only)]
    if not entries:
        raise SamesameError(f"{path} has no entry whose name has {' or '.join(map(repr, only))} in it")
    folder = path.resolve().parent
    found = Suite(path, entries)
    kept = Kept(InStore(store) if store else None, InRecord.open(resume) if resume else None)
    rows: dict[str, Row] = {}
    keys = {entry.name: key_of(entry, folder) for entry in entries}
    try:
        for entry in entries:
            if not anew and (answer := kept.get(keys[entry.name])) is not None:
                rows[entry.name] = judged(entry, replace(answer, name=entry.name), unchanged=True)
        waiting = [entry for entry in entries if entry.name not in rows]
        for name in {f"samesame.{entry.verb}" for entry in waiting}:
            import_module(name)                                 # what every fork needs is loaded once, before the first
        tasks = [(entry, limit_of(entry)) for entry in waiting]
        for entry, result, seconds in in_forks(lambda entry: asked(entry, folder, reads, store), tasks, jobs):
            rows[entry.name] = _row(entry, result, seconds, kept, keys[entry.name])
            if progress is not None:
                progress(len(rows), len(entries), entry.name)
    except KeyboardInterrupt:
        found.interrupted = True
    finally:
        kept.close()
    found.rows = [rows[entry.name] for entry in entries if entry.name in rows]
    found.seconds = time.monotonic() - started
    return found


def _row(entry: Entry, result: Any, seconds: float, kept: Kept, key: str) -> Row:
    if isinstance(result, Lost):
        answer = replace(unusable(entry.verb, entry.name, result.why, seconds), report=result.printed)
        return judged(entry, answer)
    answer = from_form(result["answer"])
    return replace(judged(entry, answer), not_kept=kept.keep(key, answer, result))


def judged(entry: Entry, answer: Answer, *, unchanged: bool = False) -> Row:
    """The answer against what is expected of it."""
    state, why = HOLDS, ""
    if answer.state == UNUSABLE:
        state, why = UNUSABLE, answer.headline
    elif answer.verdict != entry.expect:
        state, why = OPEN if answer.state == OPEN else FAILS, f"{answer.verdict}, expected {entry.expect}"
    elif entry.at_least and RUNG[answer.evidence] < AT_LEAST[entry.at_least]:
        state, why = FAILS, f"{answer.verdict}, but only {answer.evidence} where {entry.at_least} is asked"
    return Row(entry, answer, state, why, unchanged)


def told(row: Row, path: Path) -> Answer:
    """The row's answer, whose findings are those that nobody expected."""
    entry, answer = row.entry, row.answer
    if row.state == HOLDS:
        return replace(answer, state=HOLDS, findings=())
    own = answer.findings if answer.verdict != entry.expect else ()
    line = Place(str(path), entry.line, words="the entry of the suite")
    rule = UNEXPECTED if answer.verdict != entry.expect else WEAKER
    if not own:
        return replace(answer, state=row.state, findings=(Finding(rule, row.why, (line,)),))
    found = tuple(replace(finding, places=in_order([*finding.places, line])) for finding in own)
    return replace(answer, state=row.state, findings=found)
