"""What was found to be fastest, kept beside the rules so that the next run need not search and measure again.

A line says what a search ended with for the program, machine and versions that its key is made of. It is believed as
compiled code in a cache is: a line that is not what was written is as good as none. Lines are not exported, and lost
when a store is mended.
"""

from __future__ import annotations

import json
import sqlite3
from hashlib import sha256
from typing import Any

from samesame.store import Store

TABLE = "CREATE TABLE IF NOT EXISTS fastest (key TEXT PRIMARY KEY, form TEXT, checksum TEXT)"
PRESENT = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'fastest'"
SELECT = "SELECT form, checksum FROM fastest WHERE key = ?"
INSERT = "INSERT OR REPLACE INTO fastest VALUES (?, ?, ?)"


def get(store: Store, key: str) -> dict[str, Any] | None:
    """What was kept for this key; None where nothing was, or where it is damaged."""

    def read(connection: sqlite3.Connection) -> Any:
        return connection.execute(SELECT, (key,)).fetchone() if connection.execute(PRESENT).fetchone() else None

    row = store.attempt(read)
    if row is None or any(not isinstance(part, bytes | str) for part in row):
        return None
    form, checksum = (part.encode() if isinstance(part, str) else part for part in row)
    if sha256(key.encode() + form).hexdigest().encode() != checksum:
        return None
    found: dict[str, Any] = json.loads(form)
    return found


def keep(store: Store, key: str, form: dict[str, Any]) -> None:
    """Keep it in the place of what was kept for this key. Raises StoreError where the store cannot be written."""
    text = json.dumps(form)

    def write(connection: sqlite3.Connection) -> None:
        connection.execute(TABLE)
        connection.execute(INSERT, (key, text, sha256((key + text).encode()).hexdigest()))

    store.change(write)
