"""Answers kept beside the rules, so that the next run need not find them again: what was found to be fastest, and what
a suite said of programs that have not changed since.

A line has the answer for a key, which is made of all that the answer hangs on. It is believed as compiled code in a
cache is: a line that is not what was written is as good as none. Lines are not exported, and lost when a store is
mended.
"""

from __future__ import annotations

import json
import sqlite3
from hashlib import sha256
from typing import Any

from samesame.store import Store

FASTEST, SUITE = "fastest", "suite"                         # one table each
PRESENT = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"


def get(store: Store, table: str, key: str) -> dict[str, Any] | None:
    """What was kept for this key; None where nothing was, or where it is damaged."""

    def read(connection: sqlite3.Connection) -> Any:
        if not connection.execute(PRESENT, (table,)).fetchone():
            return None
        return connection.execute(f"SELECT form, checksum FROM {table} WHERE key = ?", (key,)).fetchone()

    row = store.attempt(read)
    if row is None or any(not isinstance(part, bytes | str) for part in row):
        return None
    form, checksum = (part.encode() if isinstance(part, str) else part for part in row)
    if sha256(key.encode() + form).hexdigest().encode() != checksum:
        return None
    found: dict[str, Any] = json.loads(form)
    return found


def keep(store: Store, table: str, key: str, form: dict[str, Any]) -> None:
    """Keep it in the place of what was kept for this key. Raises StoreError where the store cannot be written."""
    text = json.dumps(form)

    def write(connection: sqlite3.Connection) -> None:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table} (key TEXT PRIMARY KEY, form TEXT, checksum TEXT)")
        checksum = sha256((key + text).encode()).hexdigest()
        connection.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", (key, text, checksum))

    store.change(write)
