"""What was tried without success, kept beside the rules so that the next run does not spend its time on it again.

A line says that the claim with this key was tried by this version and not proved, why, and for how many seconds (no
number: no limit was met, so more time would not help). Nothing rests on it but time: what is said here at most keeps
a proof from being tried again. So the lines have no checksum, are not exported, and are lost when a store is mended.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from samesame.store import Store

TABLE = (
    "CREATE TABLE IF NOT EXISTS tried (key TEXT, prover TEXT, semantics TEXT, seconds REAL, reason TEXT, "
    "PRIMARY KEY (key, prover, semantics))"
)
PRESENT = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'tried'"
SELECT = "SELECT key, seconds, reason FROM tried WHERE prover = ? AND semantics = ?"
INSERT = "INSERT OR REPLACE INTO tried VALUES (?, ?, ?, ?, ?)"
SLOWER = 1.25               # a machine that does so much less in a second, or more, is taken for the same


@dataclass(frozen=True, slots=True)
class Attempt:
    """A proof that was not found, and the processor seconds it took; None where it met no limit of time."""

    reason: str
    seconds: float | None = None

    def covers(self, seconds: float) -> bool:
        """Would so many seconds bring nothing new?"""
        return self.seconds is None or seconds <= SLOWER * self.seconds


class Tried:
    """The attempts of a store, those of its own version."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @cached_property
    def known(self) -> Mapping[str, Attempt]:
        """The attempts by key, as they were when this was first asked for."""
        versions = (self.store.prover, self.store.semantics)

        def read(connection: sqlite3.Connection) -> list[tuple[bytes, float | None, bytes]]:
            present = connection.execute(PRESENT).fetchone()
            return connection.execute(SELECT, versions).fetchall() if present else []

        rows = self.store.attempt(read)
        return {key.decode(): Attempt(reason.decode(), seconds) for key, seconds, reason in rows}

    def keep(self, attempts: Mapping[str, Attempt]) -> None:
        """Add these. Raises StoreError where the store cannot be written."""
        prover, semantics = self.store.prover, self.store.semantics
        rows = [(key, prover, semantics, attempt.seconds, attempt.reason) for key, attempt in attempts.items()]

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(TABLE)
            connection.executemany(INSERT, rows)

        if rows:
            self.store.change(write)
