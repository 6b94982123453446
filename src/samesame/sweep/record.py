"""The record of a sweep: a file of JSON lines, one for each probe that is done, from which a sweep goes on.

The first line says what was swept: both targets, config, versions, seed. A sweep goes on only where all of it is as it
was. A line is written at once when its probe is done; the last one may have been cut short by whatever interrupted the
sweep, and is then dropped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from samesame.evidence import SamesameError
from samesame.sweep.outcome import Outcome, from_json, to_json

FORMAT = 1


@dataclass(slots=True)
class Record:
    """The probes that are done, by their keys, and the file that gets those to come; without a file, none does."""

    done: dict[str, Outcome] = field(default_factory=dict)
    file: IO[str] | None = None

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome. Raises SamesameError where the disk does not let it."""
        self.done[outcome.probe.key] = outcome
        if self.file is not None:
            _write(self.file, to_json(outcome))

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


def open_record(path: Path | None, header: Mapping[str, Any]) -> Record:
    """The record in a file, which is made if there is none. Raises SamesameError where the file cannot be read or
    written, holds something else, or is the record of another sweep."""
    if path is None:
        return Record()
    header = json.loads(json.dumps({"format": FORMAT, **header}))
    try:
        text = path.read_text() if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise SamesameError(f"cannot read {path}: {why}; give another file for --resume") from None
    whole, _, cut = text.rpartition("\n")
    lines = [line for line in whole.split("\n") if line]
    if not lines and not json.dumps(header).startswith(cut):
        raise _no_record(path)
    done = _read(path, lines, header)
    kept = "".join(f"{line}\n" for line in lines)
    try:
        if kept != text:
            path.write_text(kept)           # a line that was cut short is done anew
        file = path.open("a")
    except OSError as error:
        raise SamesameError(f"cannot write {path}: {error.strerror}; give another file for --resume") from None
    record = Record(done, file)
    if not lines:
        _write(file, header)
    return record


def _read(path: Path, lines: list[str], header: Mapping[str, Any]) -> dict[str, Outcome]:
    if not lines:
        return {}
    try:
        first, *rest = [json.loads(line) for line in lines]
        if not isinstance(first, dict) or "format" not in first:
            raise _no_record(path)
        outcomes = [from_json(found) for found in rest]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _no_record(path) from None
    for name, value in header.items():
        if first.get(name) != value:
            raise SamesameError(
                f"{path} is the record of another sweep: its {name} is {json.dumps(first.get(name))[:200]} and not "
                f"{json.dumps(value)[:200]}; give a new name"
            )
    return {outcome.probe.key: outcome for outcome in outcomes}


def _no_record(path: Path) -> SamesameError:
    return SamesameError(f"{path} is no record of a sweep; give a file that --resume wrote, or a new name")


def _write(file: IO[str], found: Mapping[str, Any]) -> None:
    try:
        file.write(json.dumps(found) + "\n")
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:
        raise SamesameError(f"cannot write {file.name}: {error.strerror}") from None
