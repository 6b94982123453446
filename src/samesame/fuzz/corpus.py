"""The corpus of a campaign: every case and every finding, in one SQLite file in the campaign's folder.

A case is written when it is done, so that a campaign that is interrupted or killed goes on where it was. One campaign
at a time works in a folder: the system holds the lock, and lets go of it when its holder dies.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from samesame.evidence import SamesameError

FORMAT = 1
FILE = "campaign.sqlite"
TABLES = (
    "CREATE TABLE about (format INTEGER NOT NULL, settings TEXT NOT NULL)",
    """CREATE TABLE cases (number INTEGER PRIMARY KEY, generator TEXT NOT NULL, backend TEXT NOT NULL,
    status TEXT NOT NULL, kind TEXT NOT NULL, finding INTEGER, seconds REAL NOT NULL, rewrites INTEGER NOT NULL)""",
    "CREATE TABLE findings (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, data TEXT NOT NULL)",
)


@dataclass
class Finding:
    """One distinct finding: its reduced program, what is wrong with it, and who is guilty."""

    number: int
    backend: str
    kind: str
    where: str
    detail: str
    program: dict[str, Any]
    text: str
    guilty: dict[str, str] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    dynamic: bool = False
    vector: str = ""  # vector or scalar code, where telling them apart was possible
    agrees_under: list[str] = field(default_factory=list)
    found_by: str = ""  # the generator
    stage: str = ""
    times: int = 1
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What makes two findings one: back end, kind of fault, guilty pass or the operators, class of dtype."""
        who = self.guilty.get("place") or self.guilty.get("subsystem") or self.guilty.get("backend") or ""
        return json.dumps([self.backend, self.kind, who, sorted(set(self.calls)), self.dtypes])


class Corpus:
    """An open campaign folder. Raises SamesameError where it cannot be used."""

    def __init__(self, folder: Path, settings: dict[str, Any], resume: bool) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.lock: IO[str] = (folder / ".lock").open("w")
        except OSError as error:
            raise SamesameError(f"{folder} cannot be used: {error.strerror}; name another folder with --out") from None
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SamesameError(f"another campaign is at work in {folder}; name another folder with --out") from None
        existed = (folder / FILE).exists()
        if existed and not resume:
            raise SamesameError(f"{folder} holds a campaign; go on with --resume, or name another folder with --out")
        self.database = sqlite3.connect(folder / FILE, isolation_level=None, check_same_thread=False)
        try:
            if existed:
                self._demand_same(settings)
            else:
                self._begin(settings)
        except sqlite3.Error as error:
            raise SamesameError(f"{folder / FILE} cannot be used: {error}") from None

    def _begin(self, settings: dict[str, Any]) -> None:
        with closing(self.database.cursor()) as cursor:
            cursor.execute("BEGIN")
            for table in TABLES:
                cursor.execute(table)
            cursor.execute("INSERT INTO about VALUES (?, ?)", (FORMAT, json.dumps(settings, sort_keys=True)))
            cursor.execute("COMMIT")

    def _demand_same(self, settings: dict[str, Any]) -> None:
        format_, kept = self.database.execute("SELECT format, settings FROM about").fetchone()
        if format_ != FORMAT:
            raise SamesameError(f"{self.folder} was written by another version (format {format_}); begin a new folder")
        before = json.loads(kept)
        for name, value in settings.items():
            if before.get(name) != value:
                raise SamesameError(
                    f"the campaign in {self.folder} has {name} {before.get(name)}, not {value}; give the same options "
                    "to go on with it"
                )

    def close(self) -> None:
        self.database.close()
        self.lock.close()

    def next_number(self) -> int:
        (last,) = self.database.execute("SELECT max(number) FROM cases").fetchone()
        return 0 if last is None else last + 1

    def add(self, number: int, case: dict[str, Any], result: dict[str, Any], finding: int | None) -> None:
        """Write one case. Raises SamesameError where the disk is full."""
        row = (
            number,
            case["generator"],
            case["backend"],
            result["status"],
            result.get("kind", ""),
            finding,
            result.get("seconds", 0.0),
            len(result.get("rewrites", ())),
        )
        self._write("INSERT OR REPLACE INTO cases VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def keep(self, finding: Finding) -> None:
        self._write(
            "INSERT OR REPLACE INTO findings VALUES (?, ?, ?)",
            (finding.number, finding.key, json.dumps(asdict(finding))),
        )

    def _write(self, statement: str, row: tuple[Any, ...]) -> None:
        try:
            self.database.execute(statement, row)
        except sqlite3.OperationalError as error:
            raise SamesameError(
                f"{self.folder / FILE} cannot be written ({error}): what was found so far is kept; make room, then "
                "--resume"
            ) from None

    def findings(self) -> list[Finding]:
        rows = self.database.execute("SELECT data FROM findings ORDER BY number")
        return [Finding(**json.loads(data)) for (data,) in rows]

    def statuses(self) -> Counter[str]:
        return Counter(dict(self.database.execute("SELECT status, count(*) FROM cases GROUP BY status")))

    def by_generator(self) -> Iterator[tuple[str, str, int]]:
        yield from self.database.execute("SELECT generator, status, count(*) FROM cases GROUP BY generator, status")


def read_findings(folder: Path) -> list[Finding]:
    """The findings of a campaign's folder. Raises SamesameError where it holds none."""
    file = folder / FILE
    if not file.exists():
        raise SamesameError(f"{folder} holds no campaign; name the folder that was given as --out")
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            (format_,) = database.execute("SELECT format FROM about").fetchone()
            if format_ != FORMAT:
                raise SamesameError(f"{folder} was written by another version (format {format_}); use that version")
            rows = database.execute("SELECT data FROM findings ORDER BY number").fetchall()
    except sqlite3.Error as error:
        raise SamesameError(f"{file} cannot be read: {error}") from None
    return [Finding(**json.loads(data)) for (data,) in rows]
