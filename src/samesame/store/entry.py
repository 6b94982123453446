"""One learnt rule as the store keeps it, and as a row that can tell whether it is still what was written.

A rule lives longer than the process that proved it, on disks that are cut off, overwritten and copied by hand. So
every row ends with a checksum over all that stands before it. Whoever reads a row, from a database, from the pages of
a damaged one or from a line of an exported file, gets back the rule that was written, or None; never another rule.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from samesame.evidence import SamesameError

COLUMNS = ("key", "skeleton", "prover", "semantics", "body", "evidence", "checksum")
SEALED = "samesame rule 1"                  # what a checksum covers besides the columns: the form of the row itself

Row = tuple[str, ...]


class StoreError(SamesameError):
    """A rule store that cannot be opened, read or written: one sentence that names the file and what to do."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A learnt rule.

    `key` is the hex digest of the canonical general block, `skeleton` a digest of it that ignores sizes. `body` and
    `evidence` are JSON data: dicts with string keys, lists, strings, finite numbers, booleans, None. `prover` and
    `semantics` are the versions it was proved under; a store marks a rule of other versions than its own `stale`, and
    a stale rule must be proved again before it is used.
    """

    key: str
    body: dict[str, Any]
    evidence: dict[str, Any]
    prover: str
    semantics: str
    skeleton: str = ""
    stale: bool = field(default=False, compare=False)

    @property
    def identity(self) -> tuple[str, str, str]:
        """What no two rules of a store share."""
        return self.key, self.prover, self.semantics


def to_row(entry: Entry) -> Row:
    """The row of an entry. Raises TypeError or ValueError where it holds what JSON cannot."""
    columns = (entry.key, entry.skeleton, entry.prover, entry.semantics, _text(entry.body), _text(entry.evidence))
    return *columns, checksum(columns)


def from_row(row: Sequence[object]) -> Entry | None:
    """The entry of a row (text, or its bytes in UTF-8), or None where it is not what was once written."""
    if len(row) != len(COLUMNS):
        return None
    try:
        texts = [column.decode() if isinstance(column, bytes) else column for column in row]
    except UnicodeDecodeError:
        return None
    columns = [text for text in texts[:-1] if isinstance(text, str)]
    if len(columns) < len(COLUMNS) - 1 or texts[-1] != checksum(columns):
        return None
    key, skeleton, prover, semantics, body, evidence = columns
    return Entry(key, json.loads(body), json.loads(evidence), prover, semantics, skeleton)


def checksum(columns: Sequence[str]) -> str:
    """A digest that no other columns have."""
    return sha256(_text([SEALED, *columns]).encode()).hexdigest()


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))
