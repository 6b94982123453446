"""The corpus of a campaign: every case and every finding, in one SQLite file in the campaign's folder.

A case is written when it is done, so that a campaign that is interrupted or killed goes on where it was. One campaign
at a time works in a folder: the system holds the lock, and lets go of it when its holder dies.
"""

from __future__ import annotations

import fcntl
import json
import re
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from samesame.evidence import SamesameError

FORMAT = 2
FILE = "campaign.sqlite"
TABLES = (
    "CREATE TABLE about (format INTEGER NOT NULL, settings TEXT NOT NULL)",
    """CREATE TABLE cases (number INTEGER PRIMARY KEY, generator TEXT NOT NULL, backend TEXT NOT NULL,
    status TEXT NOT NULL, seconds REAL NOT NULL, rewrites INTEGER NOT NULL, finding INTEGER, told TEXT NOT NULL)""",
    "CREATE TABLE findings (number INTEGER PRIMARY KEY, data TEXT NOT NULL)",
)
TOLD = ("failed", "wrong twin", "hung", "crashed", "out of memory")     # of these all is kept that the worker said


@dataclass
class Finding:
    """One distinct finding: its reduced program, what is wrong with it, and who is guilty."""

    number: int
    backend: str
    kind: str
    where: str
    detail: str
    program: str  # as data; "" where it is a module that was written as text
    text: str
    guilty: dict[str, str] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    found_by: str = ""  # the generator
    stage: str = ""  # program, or twin where only a rewritten program showed it
    first: str = ""  # the line after which eager and compiled part
    twin: str = ""  # an equal program that is compiled rightly
    times: int = 1
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, ...]:
        """What makes two findings one: back end (which says whether it is dynamic, or scalar), kind of fault,
        operators, class of dtype."""
        return self.backend, self.kind, *sorted(set(self.calls)), *self.dtypes

    @property
    def group(self) -> tuple[str, ...]:
        """What findings have in common that may well be one fault: back end, kind, and what an error says or else the
        guilty pass or, where none is known, the operator of the last line."""
        if self.kind in ("crash", "refusal"):
            return self.backend, self.kind, re.sub("0x[0-9a-f]+|[0-9]+", "", self.detail)
        who = self.guilty.get("place") or self.guilty.get("subsystem") or (self.calls[-1] if self.calls else "")
        return self.backend, self.kind, who


class Corpus:
    """An open campaign folder. Raises SamesameError where it cannot be used."""

    def __init__(self, folder: Path, settings: dict[str, Any], resume: bool) -> None:
        self.folder = folder
        existed = (folder / FILE).exists()
        if existed and not resume:
            raise SamesameError(f"{folder} holds a campaign; go on with --resume, or name another folder with --out")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.lock: IO[str] = (folder / ".lock").open("w")
        except OSError as error:
            raise SamesameError(f"{folder} cannot be used: {error.strerror}; name another folder with --out") from None
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SamesameError(f"another campaign is at work in {folder}; name another folder with --out") from None
        try:
            self.database = sqlite3.connect(folder / FILE, isolation_level=None, check_same_thread=False)
            if existed:
                self._demand_same(settings)
            else:
                self._begin(settings)
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise SamesameError(f"{folder / FILE} cannot be used ({error}); name another folder with --out") from None

    def _begin(self, settings: dict[str, Any]) -> None:
        self.database.execute("BEGIN")
        for table in TABLES:
            self.database.execute(table)
        self.database.execute("INSERT INTO about VALUES (?, ?)", (FORMAT, json.dumps(settings, sort_keys=True)))
        self.database.execute("COMMIT")

    def _demand_same(self, settings: dict[str, Any]) -> None:
        _demand_format(self.database, self.folder)
        before = json.loads(*self.database.execute("SELECT settings FROM about").fetchone())
        for name, value in settings.items():
            if before.get(name) != value:
                told = f"the campaign in {self.folder} has {name} {before.get(name)}, not {value}"
                raise SamesameError(f"{told}; give the same options to go on with it")

    def close(self) -> None:
        self.database.close()
        self.lock.close()

    def done(self) -> frozenset[int]:
        """The numbers of the cases that are done; one that a kill cut off is not among them."""
        return frozenset(number for (number,) in self.database.execute("SELECT number FROM cases"))

    def add(self, case: dict[str, Any], result: dict[str, Any], finding: int | None) -> None:
        """Write one case. Raises SamesameError where the disk is full."""
        told = json.dumps(result) if result["status"] in TOLD else ""
        what = case["number"], case["generator"], case["backend"], result["status"]
        row = (*what, result.get("seconds", 0.0), len(result.get("rewrites", ())), finding, told)
        self._write("INSERT OR REPLACE INTO cases VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def keep(self, finding: Finding) -> None:
        row = finding.number, json.dumps(asdict(finding))
        self._write("INSERT OR REPLACE INTO findings VALUES (?, ?)", row)

    def _write(self, statement: str, row: tuple[Any, ...]) -> None:
        try:
            self.database.execute(statement, row)
        except sqlite3.OperationalError as error:
            told = f"{self.folder / FILE} cannot be written ({error})"
            raise SamesameError(f"{told}; what was found so far is kept: make room, then --resume") from None

    def findings(self) -> list[Finding]:
        return _findings(self.database)


def _findings(database: sqlite3.Connection) -> list[Finding]:
    rows = database.execute("SELECT data FROM findings ORDER BY number")
    return [Finding(**json.loads(data)) for (data,) in rows]


def _demand_format(database: sqlite3.Connection, folder: Path) -> None:
    (found,) = database.execute("SELECT format FROM about").fetchone()
    if found != FORMAT:
        raise SamesameError(f"{folder} was written by another version (format {found}, not {FORMAT}); use that version")


@dataclass(frozen=True)
class Kept:
    """What a campaign's folder holds: its settings, the number of cases by how they ended, and its findings."""

    settings: dict[str, Any]
    statuses: Counter[str]
    findings: list[Finding]


def read_campaign(folder: Path) -> Kept:
    """All of it, over every time that the campaign went on. Raises SamesameError where the folder holds none."""
    file = folder / FILE
    if not file.exists():
        raise SamesameError(f"{folder} holds no campaign; name the folder that was given as --out")
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            _demand_format(database, folder)
            (settings,) = database.execute("SELECT settings FROM about").fetchone()
            statuses = database.execute("SELECT status, COUNT(*) FROM cases GROUP BY status")
            return Kept(json.loads(settings), Counter(dict(statuses)), _findings(database))
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise SamesameError(f"{file} cannot be read: {error}") from None
