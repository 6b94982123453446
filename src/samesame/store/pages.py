"""What can still be read in a damaged store: its pages, one by one, without trusting how they hang together.

SQLite gives up a table when one page on the way to a row is broken. But the rows stand in leaf pages that say on
their own where each row begins, and each row has a checksum. So this reads every page that looks like a leaf and
keeps the rows whose checksum holds: only rows whose own bytes are gone are lost. A page that stands in the
write-ahead log is newer than the same page in the file.

The layout is SQLite's file format (https://www.sqlite.org/fileformat.html, sections 1.6 and 4.2).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from samesame.store.entry import COLUMNS, Entry, from_row

PAGE = 4096
LEAF = 0x0D
DATABASE_HEADER = 100                       # bytes at the start of the first page, before its own content
LOG_HEADER, FRAME_HEADER = 32, 24
LONGEST_IN_PAGE = PAGE - 35                 # a longer record continues on overflow pages
SHORTEST_IN_PAGE = (PAGE - 12) * 32 // 255 - 23
OVERFLOW = PAGE - 4
TEXT_FROM = 13                              # the first serial type that means text; those before it mean numbers


class _Unreadable(Exception):
    """A record that is not one of ours, or no record at all."""


def salvage(path: Path) -> list[Entry]:
    """Every rule whose row can be read whole, in the order of writing; of two with one identity the later one."""
    pages = _pages(path)
    found: dict[int, list[Entry]] = {}
    for number in sorted(pages):
        for row, entry in _entries(pages, number):
            found.setdefault(row, []).append(entry)
    return list({entry.identity: entry for row in sorted(found) for entry in found[row]}.values())


def _pages(path: Path) -> dict[int, bytes]:
    """The pages by number, from 1; the last one may be cut short."""
    content = path.read_bytes()
    pages = {1 + at // PAGE: content[at : at + PAGE] for at in range(0, len(content), PAGE)}
    log = path.with_name(path.name + "-wal")
    return pages | _logged(log.read_bytes()) if log.exists() else pages


def _logged(log: bytes) -> dict[int, bytes]:
    """The newest image of each page in a write-ahead log. Frames with another salt are left from before its restart."""
    salt = log[16:24]
    pages: dict[int, bytes] = {}
    for at in range(LOG_HEADER, len(log), FRAME_HEADER + PAGE):
        frame = log[at : at + FRAME_HEADER + PAGE]
        if len(frame) == FRAME_HEADER + PAGE and frame[8:16] == salt:
            pages[int.from_bytes(frame[:4], "big")] = frame[FRAME_HEADER:]
    return pages


def _entries(pages: dict[int, bytes], number: int) -> Iterator[tuple[int, Entry]]:
    """Row numbers and rules of one page."""
    page = pages[number]
    start = DATABASE_HEADER if number == 1 else 0
    if page[start : start + 1] != bytes([LEAF]) or len(page) < start + 8:
        return
    (cells,) = struct.unpack_from(">H", page, start + 3)
    for pointer in range(start + 8, min(start + 8 + 2 * cells, len(page) - 1), 2):
        (at,) = struct.unpack_from(">H", page, pointer)
        try:
            row, record = _record(pages, page, at)
            entry = from_row(_columns(record))
        except (_Unreadable, IndexError):
            continue
        if entry is not None:
            yield row, entry


def _record(pages: dict[int, bytes], page: bytes, at: int) -> tuple[int, bytes]:
    """Row number and payload of the cell at `at`, gathered from its overflow pages."""
    length, at = _varint(page, at)
    row, at = _varint(page, at)
    if length > PAGE * len(pages):
        raise _Unreadable
    here = length
    if length > LONGEST_IN_PAGE:
        here = SHORTEST_IN_PAGE + (length - SHORTEST_IN_PAGE) % OVERFLOW
        here = here if here <= LONGEST_IN_PAGE else SHORTEST_IN_PAGE
    parts, missing = [page[at : at + here]], length - here
    following = int.from_bytes(page[at + here : at + here + 4], "big")
    while missing > 0:
        if following not in pages:
            raise _Unreadable
        overflow = pages[following]
        parts.append(overflow[4 : 4 + min(missing, OVERFLOW)])
        missing -= OVERFLOW
        following = int.from_bytes(overflow[:4], "big")
    payload = b"".join(parts)
    if len(payload) != length:
        raise _Unreadable
    return row, payload


def _columns(record: bytes) -> list[bytes]:
    """The texts of a record of as many texts as a rule has columns."""
    end, at = _varint(record, 0)
    lengths = []
    while at < end:
        kind, at = _varint(record, at)
        if kind < TEXT_FROM or kind % 2 == 0:
            raise _Unreadable
        lengths.append((kind - TEXT_FROM) // 2)
    if len(lengths) != len(COLUMNS) or end + sum(lengths) != len(record):
        raise _Unreadable
    texts = []
    for length in lengths:
        texts.append(record[end : end + length])
        end += length
    return texts


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, big end first, and where the next thing stands."""
    value = 0
    for i in range(8):
        byte = data[at + i]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + i + 1
    return value << 8 | data[at + 8], at + 9
