"""The rule store: what has been proved once is kept for the next run, in one SQLite file in the user's cache folder.

Many processes may use it at once and any of them may be killed at any time: a rule is either kept whole or not at
all. A file that turns out damaged is set aside as NAME.damaged-DATE, what can still be read of it goes into a new one,
and a notice says so. Where no file can be opened at all, `open_or_go_without` gives a store in memory, so that
nothing but the memory of this run depends on it. Nothing in a store is trusted for standing there: the caller decides
what a rule's evidence is worth, and a rule of another version comes back marked stale.

All writing happens under a lock beside the file (NAME.lock), which the system lets go of when its holder dies. Whoever
holds it may put another file in the place of NAME; the others see that the file is another and open it again.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TypeVar

from samesame.store.entry import COLUMNS, Entry, Row, StoreError, from_row, to_row
from samesame.store.exchange import read_entries, write_entries
from samesame.store.pages import PAGE, salvage

__all__ = ["Entry", "Imported", "Store", "StoreError", "default_path"]

SCHEMA = 1
TABLES = (
    f"CREATE TABLE rules ({', '.join(f'{column} TEXT NOT NULL' for column in COLUMNS)}, "
    "UNIQUE (key, prover, semantics))",
    "CREATE INDEX rules_by_skeleton ON rules (skeleton)",
)
SELECT = f"SELECT rowid, {', '.join(COLUMNS)} FROM rules"
INSERT = f"INSERT OR REPLACE INTO rules ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
WAIT = 20.0                                 # seconds for other processes to finish their writing
CHECKED_WHEN_OPENED = 32 << 20              # bytes; a larger file is checked by `all`, not at the start of every run
NAMES = (".sqlite", ".sqlite3", ".db")      # what a store may be called, whatever is in it
DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

T = TypeVar("T")
Notice = Callable[[str], None]


def default_path() -> Path:
    """`SAMESAME_STORE`, or rules.sqlite in the folder where this platform keeps caches. Raises StoreError."""
    named = os.environ.get("SAMESAME_STORE")
    if named:
        return Path(named)
    try:
        return _cache_folder() / "samesame" / "rules.sqlite"
    except RuntimeError:
        raise StoreError("there is no home folder to keep rules in; name a file with --store") from None


def _cache_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return folder if folder.is_absolute() else Path.home() / ".cache"


def to_stderr(message: str) -> None:
    print(f"samesame: {message}", file=sys.stderr)


@dataclass(frozen=True, slots=True)
class Imported:
    """How many rules an import kept, and a sentence for each that it refused."""

    kept: int
    refused: list[str]


class _Damaged(Exception):
    """The file is not what a store wrote; the message says how it shows."""


class _Foreign(_Damaged):
    """The file may be a database of another program."""


@dataclass(slots=True)
class Store:
    """Learnt rules in a file, or in memory if `path` is None. Use `open`; a context manager. For one thread.

    `prover` and `semantics` are the versions of the caller: other rules come back stale. `notice` is called with one
    sentence for everything that the user should know about and that does not stop the run.
    """

    path: Path | None
    prover: str
    semantics: str
    notice: Notice
    writable: bool = field(default=True, init=False)
    _connection: sqlite3.Connection | None = field(default=None, init=False)
    _inode: int | None = field(default=None, init=False)
    _process: int = field(default_factory=os.getpid, init=False)
    _locks: int = field(default=0, init=False)

    # -------------------------------------------------------------------------------------------------- open and close

    @classmethod
    def open(
        cls, path: str | Path | None = None, *, prover: str, semantics: str, notice: Notice = to_stderr
    ) -> Store:
        """The store in the file `path` (None: `default_path()`), made if there is none. A damaged file is mended.

        Raises StoreError where that cannot be done: a folder, no permission, another program's file, a newer form.
        """
        file = Path(path) if path is not None else default_path()
        try:
            store = cls(file.resolve(), prover, semantics, notice)
        except (OSError, RuntimeError) as error:                              # links that lead in a circle
            raise StoreError(f"cannot open {file}: {error}") from None
        store.attempt(lambda _: None)
        return store

    @classmethod
    def open_or_go_without(
        cls, path: str | Path | None = None, *, prover: str, semantics: str, notice: Notice = to_stderr
    ) -> Store:
        """As `open`; but where that fails a notice says why, and the store is one in memory."""
        try:
            return cls.open(path, prover=prover, semantics=semantics, notice=notice)
        except StoreError as error:
            notice(f"{error}; going on without: what is proved now is not kept")
            return cls.in_memory(prover=prover, semantics=semantics, notice=notice)

    @classmethod
    def in_memory(cls, *, prover: str, semantics: str, notice: Notice = to_stderr) -> Store:
        """A store that is forgotten when it is closed."""
        return cls(None, prover, semantics, notice)

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        elif self._connection is not None:
            _INHERITED.append(self._connection)
        self._connection = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---------------------------------------------------------------------------------------------------------- reading

    def get(self, key: str) -> Entry | None:
        """The rule of this key; of several versions this store's own, else the latest, which is then stale."""
        found = self._entries("WHERE key = ?", (key,))
        return self._best(found).get(key)

    def candidates(self, skeleton: str) -> list[Entry]:
        """The rules of this skeleton in the order they were kept, one for each key as `get` gives it."""
        return list(self._best(self._entries("WHERE skeleton = ?", (skeleton,))).values())

    def is_empty(self) -> bool:
        """Is no rule kept here?"""
        return self.attempt(lambda connection: connection.execute("SELECT 1 FROM rules LIMIT 1").fetchone() is None)

    def all(self) -> list[Entry]:
        """Every rule of every version, in the order they were kept. The whole file is checked on the way."""
        self.attempt(_require_whole)
        return list({entry.identity: entry for entry in self._entries()}.values())

    def _best(self, entries: list[Entry]) -> dict[str, Entry]:
        best: dict[str, Entry] = {}
        for entry in entries:
            if entry.key not in best or best[entry.key].stale or not entry.stale:
                best[entry.key] = entry
        return best

    def _entries(self, where: str = "", values: Sequence[str] = ()) -> list[Entry]:
        """The rules of a query, without those whose row is not what was written; these are dropped."""

        def read(connection: sqlite3.Connection) -> list[tuple[int, Entry | None]]:
            rows = connection.execute(f"{SELECT} {where} ORDER BY rowid", values)
            return [(number, from_row(row)) for number, *row in rows]

        found = self.attempt(read)
        damaged = [number for number, entry in found if entry is None]
        if damaged:
            self._drop(damaged)
        return [self._marked(entry) for _, entry in found if entry is not None]

    def _marked(self, entry: Entry) -> Entry:
        stale = (entry.prover, entry.semantics) != (self.prover, self.semantics)
        return replace(entry, stale=stale)

    def _drop(self, numbers: list[int]) -> None:
        """Remove damaged rows. Each is read again under the lock: another process may have mended it meanwhile."""

        def drop(connection: sqlite3.Connection) -> int:
            dropped = 0
            for number in numbers:
                row = connection.execute(f"{SELECT} WHERE rowid = ?", (number,)).fetchone()
                if row is not None and from_row(row[1:]) is None:
                    connection.execute("DELETE FROM rules WHERE rowid = ?", (number,))
                    dropped += 1
            return dropped

        what = f"{_counted(len(numbers))} in {self._name} {_were(len(numbers))} damaged"
        try:
            if self.change(drop):
                self.notice(f"{what} and dropped; what they said must be proved again")
        except StoreError as error:
            self.notice(f"{what} and is not used; it could not be removed: {error}")

    # ---------------------------------------------------------------------------------------------------------- writing

    def put(self, entries: Iterable[Entry]) -> int:
        """Keep the rules, all or none, in the place of rules of the same key and versions; how many were kept.

        Where they cannot be kept (a full disk, a file one may only read), a notice says so. Raises TypeError or
        ValueError for an entry that JSON cannot hold.
        """
        rows = [to_row(entry) for entry in entries]
        try:
            self._insert(rows)
        except StoreError as error:
            self.notice(f"{error}; {_counted(len(rows))} {_were(len(rows))} not kept")
            return 0
        return len(rows)

    def remove(self, keys: Iterable[str]) -> int:
        """Forget the rules of these keys, in all versions; how many rules that were. Raises StoreError."""
        listed = [(key,) for key in keys]
        return self.change(lambda db: db.executemany("DELETE FROM rules WHERE key = ?", listed).rowcount)

    def clear(self, *, stale_only: bool = False) -> int:
        """Forget all rules, or those of other versions; how many. So are answers, and all that was tried and timed.
        Raises StoreError."""
        which = "prover <> ? OR semantics <> ?" if stale_only else "true"
        values = (self.prover, self.semantics) if stale_only else ()
        beside = ("tried", "fastest", "suite")                                # see store/tried.py and store/kept.py
        self.change(lambda db: [db.execute(f"DROP TABLE IF EXISTS {table}") for table in beside])
        return self.change(lambda db: db.execute(f"DELETE FROM rules WHERE {which}", values).rowcount)

    def export(self, path: str | Path) -> int:
        """Write all rules to a file of JSON lines (compressed if it is named .gz); how many. Raises StoreError."""
        return write_entries(self.all(), Path(path))

    def import_(self, path: str | Path, verify: Callable[[Entry], str | None]) -> Imported:
        """Take over the rules of an exported file that `verify` finds nothing wrong with.

        `verify` gives None for a rule with valid evidence, or what is wrong with it as the end of a sentence. The rest
        is kept in one step. Raises StoreError where the file cannot be read or this store cannot be written.
        """
        kept: list[Row] = []
        refused: list[str] = []
        for entry in read_entries(Path(path)):
            if isinstance(entry, str):
                refused.append(entry)
            elif (fault := verify(self._marked(entry))) is not None:
                refused.append(f"rule {entry.key[:12]} of {path} is refused: {fault}")
            else:
                kept.append(to_row(entry))
        self._insert(kept)
        return Imported(len(kept), refused)

    def _insert(self, rows: list[Row]) -> None:
        if rows:
            self.change(lambda db: db.executemany(INSERT, rows))

    def change(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Do the action in one transaction, under the lock."""

        def transaction(connection: sqlite3.Connection) -> T:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = action(connection)
                connection.execute("COMMIT")
                return result
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

        if not self.writable:
            raise StoreError(f"{self._name} may only be read")
        with self._locked():
            return self.attempt(transaction)

    # ------------------------------------------------------------------------------------------ the file and its damage

    @property
    def _name(self) -> str:
        return str(self.path) if self.path is not None else "the store in memory"

    def attempt(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Do the action on the file as it is now; if it is found damaged, mend it and do the action once more."""
        for mended in (False, True):
            try:
                return action(self._connected())
            except _Damaged as error:
                fault = error
            except UnicodeDecodeError:                                        # SQLite's message quotes the damage
                fault = _Foreign("its tables are garbled")
            except sqlite3.ProgrammingError:
                raise
            except sqlite3.Error as error:
                if not _is_damage(error):
                    raise StoreError(_refusal(self._name, error)) from None
                fault = _Damaged(str(error))
            except OSError as error:
                raise StoreError(f"cannot use {self._name}: {error.strerror or error}") from None
            if mended or self.path is None:
                break
            self._mend(self.path, fault)
        raise StoreError(f"{self._name} cannot be used: {fault}; move it away or name another file with --store")

    def _connected(self) -> sqlite3.Connection:
        """The connection to the file that has the store's name now. A fork does not share its parent's."""
        mine = self._process == os.getpid() and (self._inode is None or self._inode == self._present())
        if self._connection is not None and mine:
            return self._connection
        self.close()
        self._process = os.getpid()
        self._connection = self._connect_memory([]) if self.path is None else self._connect(self.path)
        return self._connection

    def _present(self) -> int | None:
        """What tells the file apart from another one that takes its name."""
        try:
            return self.path.stat().st_ino if self.path is not None else None
        except FileNotFoundError:
            return None

    def _connect(self, path: Path) -> sqlite3.Connection:
        if path.exists() and not path.is_file():
            kind = "folder" if path.is_dir() else "device"
            raise StoreError(f"{path} is a {kind}; name a file for the rule store")
        self._inode = self._present()
        if self._inode is None or (path.stat().st_size == 0 and not _lock_file(path).exists()):
            self._create(path)
        self.writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        if path.stat().st_size == 0 and self.writable and _lock_file(path).exists():
            with self._locked():             # before SQLite sees it: it would throw away the log of an empty file
                if path.stat().st_size == 0:
                    raise _Damaged("it is empty")
        self._inode = self._present()
        connection = _open_file(path, self.writable)
        try:
            _require_schema(connection, path)
            if path.stat().st_size <= CHECKED_WHEN_OPENED:
                _require_whole(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_memory(self, entries: Iterable[Entry]) -> sqlite3.Connection:
        self._inode = None
        connection = sqlite3.connect(":memory:", isolation_level=None)
        _fill(connection, map(to_row, entries))
        return connection

    def _create(self, path: Path) -> None:
        """An empty store. Made beside the name and then moved there, so that nobody sees half of one."""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make the folder {path.parent}: {error.strerror or error}") from None
        with self._locked():
            if not path.exists() or path.stat().st_size == 0:
                fresh = _write_fresh(path, [])
                for part in ("-wal", "-shm"):                                 # of a file that somebody removed
                    path.with_name(path.name + part).unlink(missing_ok=True)
                os.replace(fresh, path)

    def _mend(self, path: Path, fault: _Damaged) -> None:
        """Set the damaged file aside and put what can be read of it in its place, unless another process just did."""
        self.close()
        if not _was_store(path, fault):
            raise StoreError(f"{path} is not a rule store; name another file with --store")
        if not self.writable:
            self._read_into_memory(path, fault)
            return
        with self._locked():
            if self._inode != self._present():
                return
            entries = _salvaged(path)
            try:
                aside = _set_aside(path, entries)
            except (OSError, StoreError) as error:
                self._read_into_memory(path, _Damaged(f"{fault}; it cannot be mended: {error}"))
                return
        self.notice(
            f"the rule store {path} was damaged ({fault}); it was set aside as {aside.name}, and "
            f"{_counted(len(entries))} that could be read went into a new one; the rest must be proved again"
        )

    def _read_into_memory(self, path: Path, fault: _Damaged) -> None:
        """Where the file cannot be mended: go on with what can be read of it."""
        entries = _salvaged(path)
        self._process, self._connection = os.getpid(), self._connect_memory(entries)
        self.writable = False
        self.notice(
            f"the rule store {path} is damaged ({fault}); {_counted(len(entries))} could be read, "
            "and what is proved now is not kept"
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock beside the file. It is the lock of an empty SQLite file: the same on every platform, and gone
        when the process is."""
        if self._locks or self.path is None:
            yield
            return
        with closing(_lock(_lock_file(self.path))):
            self._locks += 1
            try:
                yield
            finally:
                self._locks -= 1


# ----------------------------------------------------------------------------------------------------- files and SQLite


_INHERITED: list[sqlite3.Connection] = []   # of the parent of this process: closing them here would disturb it


def _lock(path: Path) -> sqlite3.Connection:
    """A connection that holds the lock until it is closed. Raises StoreError.

    SQLite's own waiting sleeps longer and longer, so that who waits already loses to who comes just now.
    """
    patience = time.monotonic() + WAIT
    while True:
        lock = None
        try:
            lock = sqlite3.connect(path, timeout=0, isolation_level=None)
            lock.execute("BEGIN EXCLUSIVE")
            return lock
        except sqlite3.Error as error:
            if lock is not None:
                lock.close()
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > patience:
                raise StoreError(_refusal(str(path), error)) from None
        time.sleep(random.uniform(0.001, 0.005))


def _open_file(path: Path, writable: bool) -> sqlite3.Connection:
    """A connection to an existing file. Where nothing can be written beside it, SQLite is told that nobody writes."""
    modes = ("rw",) if writable else ("ro", "ro&immutable=1")
    for mode in modes:
        connection = sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, timeout=WAIT, isolation_level=None)
        connection.text_factory = bytes                                       # damaged text is no error yet
        try:
            if writable:
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA secure_delete = ON")               # what was forgotten is not salvaged
            connection.execute("SELECT * FROM sqlite_master").fetchall()
            return connection
        except UnicodeDecodeError:
            connection.close()
            raise
        except sqlite3.Error as error:
            connection.close()
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:                # of a header that makes no sense
                raise _Foreign(str(error)) from None
            if mode == modes[-1] or _is_damage(error):
                raise
    raise AssertionError("unreachable")


_OURS = "FROM sqlite_master WHERE sql IS NOT NULL"


def _require_schema(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    tables = {sql.decode(errors="replace") for (sql,) in connection.execute(f"SELECT sql {_OURS}")}
    if TABLES[0] not in tables:
        raise _Foreign("its table of rules is gone")
    if not tables.issuperset(TABLES):
        raise _Damaged("its index is gone")
    if not 0 <= version <= SCHEMA:
        raise StoreError(
            f"{path} was written by a newer samesame (form {version}, and this one reads form {SCHEMA}); "
            "update samesame or name another file with --store"
        )
    if version < SCHEMA:
        raise _Damaged("its version is gone")


def _require_whole(connection: sqlite3.Connection) -> None:
    ((told, *_), *_) = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if told not in (b"ok", "ok"):
        raise _Damaged(told.decode(errors="replace").replace("\n", " ") if isinstance(told, bytes) else told)


def _fill(connection: sqlite3.Connection, rows: Iterable[Row], journal: str = "MEMORY") -> None:
    connection.text_factory = bytes
    connection.execute(f"PRAGMA page_size = {PAGE}")
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("BEGIN")
    for table in TABLES:
        connection.execute(table)
    connection.executemany(INSERT, rows)
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
    connection.execute("COMMIT")


def _write_fresh(path: Path, rows: list[Row]) -> Path:
    """A new store beside `path`, complete and on the disk. Raises StoreError."""
    fresh = _fresh_file(path)
    try:
        for part in ("", "-wal", "-shm"):
            fresh.with_name(fresh.name + part).unlink(missing_ok=True)
        with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
            _fill(connection, rows, "WAL")
    except sqlite3.Error as error:
        fresh.unlink(missing_ok=True)
        raise StoreError(_refusal(str(path), error)) from None
    except OSError as error:
        raise StoreError(f"cannot write {fresh}: {error.strerror or error}") from None
    return fresh


def _salvaged(path: Path) -> list[Entry]:
    """What can be read of a damaged store, and of the one that was to take its place when someone was interrupted."""
    try:
        sources = [source for source in (_fresh_file(path), path) if source.exists()]
        return list({entry.identity: entry for source in sources for entry in salvage(source)}.values())
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from None


def _set_aside(path: Path, entries: list[Entry]) -> Path:
    """Give the damaged file another name and its own to a new one with these rules; the name is never without a file.
    The old log goes first: it must not be read into the new file."""
    fresh = _write_fresh(path, [to_row(entry) for entry in entries])
    aside = _free_name(path)
    try:
        os.link(path, aside)
    except OSError:                                                           # a file system without links
        shutil.copy2(path, aside)
    log = path.with_name(path.name + "-wal")
    if log.exists():
        os.replace(log, aside.with_name(aside.name + "-wal"))
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    os.replace(fresh, path)
    return aside


def _free_name(path: Path) -> Path:
    name = f"{path.name}.damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    names = (path.with_name(name if k == 1 else f"{name}-{k}") for k in count(1))
    return next(free for free in names if not free.exists())


def _was_store(path: Path, fault: _Damaged) -> bool:
    """Whether this was a store, or some other file that was named by mistake and must be left as it is."""
    named = path.suffix in NAMES and not isinstance(fault, _Foreign)
    return named or _lock_file(path).exists() or bool(_salvaged(path))


def _lock_file(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _fresh_file(path: Path) -> Path:
    return path.with_name(path.name + ".new")


def _is_damage(error: sqlite3.Error) -> bool:
    return error.sqlite_errorcode & 0xFF in DAMAGE or error.sqlite_errorcode == sqlite3.SQLITE_IOERR_SHORT_READ


REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_BUSY: f"another process kept it locked for {WAIT:g} seconds",
    sqlite3.SQLITE_READONLY: "it may only be read",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; are its folder and its permissions right?",
    sqlite3.SQLITE_PERM: "no permission",
}


def _refusal(name: str, error: sqlite3.Error) -> str:
    return f"cannot use {name}: {REASONS.get(error.sqlite_errorcode & 0xFF, str(error))}"


def _counted(number: int) -> str:
    return f"{number} rule{'' if number == 1 else 's'}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
