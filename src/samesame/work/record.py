"""The record of a run: a file of JSON lines, one for each thing that is done, from which the run goes on.

The first line says what the record is of, and with what it was made; a run goes on only where all of it is as it was. A
line is written at once when its thing is done; the last one may have been cut short by whatever interrupted the run,
and is then dropped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from samesame.evidence import SamesameError

FORMAT = 2


@dataclass(slots=True)
class Record:
    """What is done, by key, and the file that gets what is to come; without a file, none does."""

    path: Path | None = None
    done: dict[str, Any] = field(default_factory=dict)
    file: IO[str] | None = None

    def get(self, key: str) -> Any:
        """What was kept; None where nothing was."""
        return self.done.get(key)

    def add(self, key: str, form: Any) -> None:
        """Keep it. Raises SamesameError where the disk does not let it."""
        self.done[key] = form
        if self.file is not None:
            _write(self.file, [key, form])

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


def open_record(path: Path | None, header: Mapping[str, Any], read: Callable[[Any], object]) -> Record:
    """The record in a file, which is made if there is none; `header["record"]` names what it is of, and `read` reads
    one of the things. Raises SamesameError where the file cannot be read or written, holds something else, or is the
    record of another run."""
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
        raise _no_record(path, header)
    done = _read(path, lines, header, read)
    kept = "".join(f"{line}\n" for line in lines)
    try:
        if kept != text:
            path.write_text(kept)           # a line that was cut short is done anew
        file = path.open("a")
    except OSError as error:
        raise SamesameError(f"cannot write {path}: {error.strerror}; give another file for --resume") from None
    if not lines:
        _write(file, header)
    return Record(path, done, file)


def _read(
    path: Path, lines: list[str], header: Mapping[str, Any], read: Callable[[Any], object]
) -> dict[str, Any]:
    if not lines:
        return {}
    try:
        first, *rest = [json.loads(line) for line in lines]
        if not isinstance(first, dict) or first.get("record") != header["record"]:
            raise _no_record(path, header)
        done = {str(key): form for key, form in rest}
        same = first == header
        for form in done.values() if same else ():
            read(form)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _no_record(path, header) from None
    for name, value in header.items():
        if first.get(name) != value:
            raise SamesameError(
                f"{path} is the record of another {header['record']}: its {name} is "
                f"{json.dumps(first.get(name))[:200]} and not {json.dumps(value)[:200]}; give a new name"
            )
    return done


def _no_record(path: Path, header: Mapping[str, Any]) -> SamesameError:
    return SamesameError(f"{path} is no record of a {header['record']}; give a file that --resume wrote, or a new name")


def _write(file: IO[str], found: Any) -> None:
    try:
        file.write(json.dumps(found) + "\n")
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:
        raise SamesameError(f"cannot write {file.name}: {error.strerror}") from None
