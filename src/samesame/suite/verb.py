"""The run of a suite: what is kept and unchanged is free, the rest is asked, and each answer is judged.

Entries are asked in forks of this process. On a Ray cluster only checks are, since what is the same has to come with a
certificate there; what comes without one is asked once more, here.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
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
    not_accepted,
    to_form,
    unusable,
)
from samesame.report.html.beside import page_of, write_arrived, write_beside
from samesame.store import Store
from samesame.suite.asking import limit_of, load
from samesame.suite.entries import AT_LEAST, Entry, read_suite
from samesame.suite.kept import InStore, Kept, key_of, read_alike
from samesame.supervised import without_answer
from samesame.work.cluster import Cluster
from samesame.work.crew import Crew, Workplace
from samesame.work.local import Local
from samesame.work.progress import Progress, Told, goes_on
from samesame.work.record import open_record
from samesame.work.tasks import Done, Lost, Task

UNEXPECTED = Rule("unexpected", ERROR, "An entry of the suite has another verdict than is expected.")
WEAKER = Rule("weaker-evidence", ERROR, "An entry of the suite stands on weaker evidence than is asked.")
RUNG = {words: rung for rung, words in LADDER.items()}

ASKER, FORKING = "samesame.suite.asking:asker", "samesame.suite.asking:forking"
ELSEWHERE, CHECKED = "on the cluster", "on the cluster, its certificate checked here"


@dataclass(frozen=True, slots=True)
class Row:
    """An entry and its answer: the state is that of what was expected, and `why` says what is not as expected;
    `unchanged`: kept from an earlier run; `not_kept`: why the next run has to ask again; `told`: where it was found, if
    not here."""

    entry: Entry
    answer: Answer
    state: str
    why: str = ""
    unchanged: bool = False
    not_kept: str = ""
    told: str = ""


@dataclass(slots=True)
class Suite:
    """The rows in the order of the file, as far as they were reached; `goes_on` says how a run does that was
    interrupted."""

    path: Path
    entries: list[Entry]
    rows: list[Row] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False
    goes_on: str = ""

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
    jobs: int | None = 1,
    ray: str = "",
    store: Store | None = None,
    resume: Path | None = None,
    only: Sequence[str] = (),
    anew: bool = False,
    pages: Path | None = None,
    progress: Told | None = None,
) -> Suite:
    """Ask every entry of the file, `jobs` at a time, here or on the Ray cluster at the address `ray` (None: as many as
    it has processors).

    What an earlier run decided is taken from the `store` where nothing that it hangs on has changed, unless all is
    to be asked `anew`; the file `resume` keeps everything, for a run that goes on. `only` are parts of names.
    Reports are drawn where an entry is asked, and kept as `pages` of this folder. `progress` is called as it goes, at
    least once a second. Ctrl-C ends the run and keeps what is done. Raises SamesameError for a file that is no suite,
    and for a cluster that does not answer.
    """
    started = time.monotonic()
    here = min(jobs or 1, os.cpu_count() or 1) if ray else jobs or 1
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // here)))
    began, environment = time.time(), dict(os.environ)
    entries = [e for e in read_suite(path) if not only or any(part in e.name for part in only)]
    if not entries:
        raise SamesameError(f"{path} has no entry whose name has {' or '.join(map(repr, only))} in it")
    folder = str(path.resolve().parent)
    found = Suite(path, entries)
    record = open_record(resume, {"record": "suite"}, dict)
    kept = Kept(InStore(store) if store else None, record if resume else None)
    keys = {entry.name: key_of(entry, Path(folder)) for entry in entries}
    asking = _Asking(found, kept, keys, bool(ray), pages)
    try:
        for entry in entries if not anew else ():
            if (answer := kept.get(keys[entry.name])) is not None:
                asking.rows[entry.name] = judged(entry, replace(answer, name=entry.name), unchanged=True)
        waiting = [entry for entry in entries if entry.name not in asking.rows]
        verbs = sorted({entry.verb for entry in waiting})
        rules = str(store.path) if store and store.path else None
        places: list[Workplace] = []
        if not ray:
            load(verbs)                                         # once, before the first fork
            places = [Local(ASKER, (folder, rules, environment, began, False), here, forks=True, tasks_each=1)]
        elif waiting:
            places = [Cluster(ray, jobs, FORKING, (folder, verbs, None, True), environment={"OMP_NUM_THREADS": "1"}),
                      Local(FORKING, (folder, verbs, rules, False), here)]
        with Crew(places, tries=1) as crew:
            asking.all(crew, waiting, progress)
    except KeyboardInterrupt:
        found.interrupted = True
    finally:
        record.close()
    found.rows = [asking.rows[entry.name] for entry in entries if entry.name in asking.rows]
    found.seconds = time.monotonic() - started
    known = str(resume or (store.path if store else None) or "")
    found.goes_on = goes_on(len(found.rows), len(entries), "entries", known)
    return found


@dataclass(slots=True)
class _Asking:
    """The entries that are to be asked, and the rows that come of them."""

    suite: Suite
    kept: Kept
    keys: dict[str, str]
    afar: bool
    pages: Path | None = None
    rows: dict[str, Row] = field(default_factory=dict)
    drawn_there: dict[str, str] = field(default_factory=dict)   # pages of answers that are not accepted yet

    def all(self, crew: Crew, waiting: Sequence[Entry], progress: Told | None) -> None:
        """Ask each of them, and whatever an answer makes necessary."""
        by_name = {entry.name: entry for entry in waiting}
        far = Progress("entries", len(self.suite.entries), len(self.rows), len(self.rows))

        def tell() -> None:
            far.done = len(self.rows)
            far.under_way = [(task.name, seconds) for task, seconds in crew.under_way]
            if progress is not None:
                progress(far)

        crew.watch = tell
        for done in crew.results(self.task(entry) for entry in waiting):
            crew.add(*self.answered(by_name[done.task.key], done))
            tell()

    def task(self, entry: Entry, **more: Any) -> Task:
        """The entry as a task; with more to it, or where it has no certificates, for this machine alone."""
        here = bool(more) or not self.afar or entry.verb != "check"
        content = {"entry": asdict(entry), "drawn": self.pages is not None, **more}
        return Task(entry.name, content, entry.name, limit_of(entry), here)

    def answered(self, entry: Entry, done: Done) -> Iterator[Task]:
        """Make the entry's row of a result; or what is still to be done about it."""
        result, key = done.result, self.keys[entry.name]
        if isinstance(result, Lost):
            why = result.why if result.code is None else without_answer(result.code)
            answer = replace(unusable(entry.verb, entry.name, why, done.seconds), report=result.printed)
            self.rows[entry.name] = judged(entry, answer)
            return
        if "refused" in result:
            answer = from_form(done.task.content["arrived"]["answer"])
            self.rows[entry.name] = replace(judged(entry, not_accepted(answer, result["refused"])), told=ELSEWHERE)
            return
        answer, certificate, page = from_form(result["answer"]), result.pop("certificate"), result.pop("page")
        if not done.here and answer.verdict == "same":
            arrived = {"answer": result["answer"], "certificate": certificate}
            if certificate and page is not None:
                self.drawn_there[entry.name] = page
            yield self.task(entry, **({"arrived": arrived} if certificate else {"again": True}))
        elif not done.here and not read_alike(result["reads"]):
            answer = not_accepted(answer, "it read other files there than lie here")
            self.rows[entry.name] = replace(judged(entry, answer), told=ELSEWHERE)
        else:
            told = CHECKED if "arrived" in done.task.content else "" if done.here else ELSEWHERE
            not_kept = self.kept.keep(key, answer, result)
            self.draw(entry, answer, page, done.here)
            self.rows[entry.name] = replace(judged(entry, answer), not_kept=not_kept, told=told)


    def draw(self, entry: Entry, answer: Answer, page: str | None, here: bool) -> None:
        """Write the page of an answer where it is to lie."""
        if self.pages is None:
            return
        if page is not None and here:
            write_beside(page, page_of_answer(answer, self.pages))
        elif (arrived := page or self.drawn_there.pop(entry.name, None)) is not None:
            write_arrived(arrived, page_of_answer(answer, self.pages))


def page_of_answer(answer: Answer, folder: Path) -> Path:
    """Where the page of an answer lies, whatever its entry is called."""
    return page_of(answer.name, to_form(replace(answer, name="")), folder)


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
