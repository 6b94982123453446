"""Rules on their way from one store to another: a text file of JSON lines, compressed if its name ends in .gz.

The first line names the format, each further line is one rule with its checksum. A line stands for itself: one that is
damaged is refused with a sentence, and those before and after it are read.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from samesame.store.entry import COLUMNS, Entry, StoreError, from_row, to_row

FORMAT, VERSION = "samesame rules", 1


def write_entries(entries: Iterable[Entry], path: Path) -> int:
    """Write the rules to `path` and say how many; the file appears whole or not at all. Raises StoreError."""
    lines = [json.dumps({"format": FORMAT, "version": VERSION})]
    lines += [json.dumps(dict(zip(COLUMNS, to_row(entry), strict=True))) for entry in entries]
    content = "".join(f"{line}\n" for line in lines).encode()
    if path.name.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    half = path.with_name(f"{path.name}.{os.getpid()}.half")
    try:
        try:
            half.write_bytes(content)
            os.replace(half, path)
        finally:
            half.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from None
    return len(lines) - 1


def read_entries(path: Path) -> Iterator[Entry | str]:
    """Each rule of an exported file, or a sentence that says why there is none. Raises StoreError where the file
    cannot be read at all or is not such a file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from None
    text, whole = _unpacked(content) if path.name.endswith(".gz") else (content, True)
    lines = text.split(b"\n")
    _require_header(path, lines[0])
    for number, line in enumerate(lines[1:], 2):
        if line:
            yield _entry(path, number, line)
    if not whole:
        yield f"{path} is damaged after line {len(lines)}; what stood there is lost"


def _unpacked(content: bytes) -> tuple[bytes, bool]:
    """As much of a compressed text as can be read, and whether that is all."""
    text = io.BytesIO()
    try:
        with gzip.open(io.BytesIO(content)) as packed:
            while piece := packed.read1():
                text.write(piece)
    except (OSError, EOFError, zlib.error):
        return text.getvalue(), False
    return text.getvalue(), True


def _require_header(path: Path, line: bytes) -> None:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise StoreError(f"{path} does not hold exported rules; give a file made by `samesame rules export`")
    if header.get("version") != VERSION:
        raise StoreError(
            f"{path} holds rules in form {header.get('version')!r}, and this samesame reads form {VERSION}; "
            "export them with this version"
        )


def _entry(path: Path, number: int, line: bytes) -> Entry | str:
    try:
        found = json.loads(line)
        entry = from_row([found.get(column) for column in COLUMNS])
    except (ValueError, RecursionError, AttributeError):
        entry = None
    if entry is None or not isinstance(entry.body, dict) or not isinstance(entry.evidence, dict):
        return f"{path}, line {number}: not a rule, or changed since it was exported"
    return entry
