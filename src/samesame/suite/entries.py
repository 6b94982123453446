"""The entries of a suite, as a TOML file lists them.

    [defaults]
    timeout = 120

    [[check]]
    left = "model.py:Separate"
    right = "model.py:Fused"
    inputs = "model.py:inputs"
    at_least = "proved for all sizes"

    [[refine]]
    job = "tensor_parallel.py"
    world_size = 4

    [[lift]]
    target = "softmax.py:launch"
    against = "softmax.py:reference"
    expect = "verified"

Paths are those of the suite's own folder. Each kind of entry has the options of the verb of its name, spelled as on the
command line, and says nothing else: a key that is not known is refused, with the one that was probably meant.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from samesame.evidence import Rung, SamesameError
from samesame.graph.interface import KINDS

EXPECT = {
    "check": ("same", "different", "undecided"),
    "refine": ("refines", "does not refine", "undecided"),
    "lift": ("verified", "violated", "undecided"),
}
AT_LEAST = {"tested": Rung.TESTED, "rounded": Rung.ROUNDED, "proved": Rung.PROVED_HERE,
            "proved for all sizes": Rung.PROVED}
TIMEOUT = {"check": 300.0, "refine": 300.0, "lift": 10.0}    # seconds, of lift for each kernel
HEADER = re.compile(r"\s*\[\[\s*(\w+)\s*\]\]")

# What a value may be: a type, or the words that may stand there.
OF_ALL = {"name": str, "timeout": float, "reads": list}
KEYS: dict[str, dict[str, Any]] = {
    "check": {**OF_ALL, "file": str, "left": str, "right": str, "inputs": str, "tiny": bool, "seed": int,
              "weights": ("random", "as-given"), "how": ("record", "export"), "ignore": list,
              "expect": EXPECT["check"], "at_least": tuple(AT_LEAST)},
    "refine": {**OF_ALL, "job": str, "world_size": int, "tp": int, "train": bool, "seed": int,
               "expect": EXPECT["refine"], "at_least": tuple(AT_LEAST)},
    "lift": {**OF_ALL, "target": str, "against": str, "inputs": str, "assume": list, "expect": EXPECT["lift"]},
}
NEEDED = {"check": ("left", "right"), "refine": ("job",), "lift": ("target",)}
DEFAULTS = ("timeout", "seed", "at_least")
TYPES = {str: "a text in quotes", int: "a whole number", float: "a number", bool: "true or false",
         list: "a list of texts"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to ask: the verb, its options, and what is expected of the answer. `place` is file:line."""

    verb: str
    name: str
    options: Mapping[str, Any]
    expect: str
    at_least: str
    timeout: float
    reads: tuple[str, ...]
    line: int


def read_suite(path: Path) -> list[Entry]:
    """The entries of a file, in its order. Raises SamesameError with a sentence for whatever is wrong with it."""
    try:
        text = path.read_text()
        tables = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise SamesameError(f"cannot read {path}: {why}; give a TOML file with [[check]] entries") from None
    except tomllib.TOMLDecodeError as error:
        raise SamesameError(f"{path} is no TOML: {error}") from None
    defaults = tables.pop("defaults", {})
    _demand_known(f"{path}: [defaults]", defaults, DEFAULTS)
    for verb, rows in tables.items():
        if verb not in KEYS:
            raise SamesameError(f"{path} has {verb!r}; give {_listed([*KEYS])}{_meant(verb, [*KEYS])}")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise SamesameError(f"{path}: {verb} is one table; write [[{verb}]] with two brackets, once for each entry")
    lines = _lines(text)
    found = [_entry(path, verb, row, defaults, next(lines.get(verb, iter(())), 1))
             for verb, rows in tables.items() for row in rows]
    if not found:
        raise SamesameError(f"{path} has no entries; add one that begins with [[check]], [[refine]] or [[lift]]")
    _demand_names(path, found)
    return sorted(found, key=lambda entry: entry.line)


def _lines(text: str) -> dict[str, Iterator[int]]:
    """The lines at which the entries of each verb begin."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := HEADER.match(line):
            found.setdefault(header[1], []).append(number)
    return {verb: iter(numbers) for verb, numbers in found.items()}


def _entry(path: Path, verb: str, row: dict[str, Any], defaults: dict[str, Any], line: int) -> Entry:
    where = f"{path}:{line}"
    known = KEYS[verb]
    _demand_known(where, row, known)
    given = {key: value for key, value in defaults.items() if key in known}
    if row.get("expect", EXPECT[verb][0]) != EXPECT[verb][0]:
        given.pop("at_least", None)
    row = {**given, **row}
    for key, value in row.items():
        _demand_value(f"{where}: {key}", value, known[key])
    if verb == "check" and "file" in row:
        if "left" in row or "right" in row:
            raise SamesameError(f"{where}: file names left, right and inputs; leave out left and right")
        file = row.pop("file")
        row = {"inputs": f"{file}:inputs", **row, "left": f"{file}:left", "right": f"{file}:right"}
    for key in NEEDED[verb]:
        if key not in row:
            raise SamesameError(f"{where}: a {verb} entry needs {key}")
    for kind in row.get("ignore", ()):
        if kind not in KINDS:
            raise SamesameError(f"{where}: ignore has {kind!r}; give {_listed([*KINDS])}{_meant(kind, [*KINDS])}")
    name = row.pop("name", "") or _named(verb, row)
    expect, at_least = row.pop("expect", EXPECT[verb][0]), row.pop("at_least", "")
    timeout, reads = float(row.pop("timeout", TIMEOUT[verb])), tuple(row.pop("reads", ()))
    if at_least and expect != EXPECT[verb][0]:
        raise SamesameError(f"{where}: at_least is about evidence for {EXPECT[verb][0]}; leave it out where "
                            f"{expect} is expected")
    if timeout <= 0:
        raise SamesameError(f"{where}: timeout is {timeout:g}; give a number of seconds above 0")
    return Entry(verb, name, row, expect, at_least, timeout, reads, line)


def _named(verb: str, row: Mapping[str, Any]) -> str:
    """What an entry without a name is called."""
    if verb == "check":
        return f"{row['left']} and {row['right']}"
    return str(row["job"] if verb == "refine" else row["target"])


def _demand_known(where: str, row: Any, known: Any) -> None:
    if not isinstance(row, dict):
        raise SamesameError(f"{where} is no table of keys and values")
    for key in row:
        if key not in known:
            raise SamesameError(f"{where}: there is no {key!r}; give {_listed([*known])}{_meant(key, [*known])}")


def _demand_value(where: str, value: Any, kind: Any) -> None:
    if isinstance(kind, tuple):
        if value not in kind:
            raise SamesameError(f"{where} is {value!r}; give {_listed([*kind])}{_meant(str(value), [*kind])}")
        return
    fits = isinstance(value, int | float if kind is float else kind) and (kind is bool or not isinstance(value, bool))
    if not fits or (kind is list and not all(isinstance(part, str) for part in value)):
        raise SamesameError(f"{where} is {value!r}; give {TYPES[kind]}")


def _demand_names(path: Path, entries: list[Entry]) -> None:
    first: dict[str, Entry] = {}
    for entry in entries:
        if (other := first.setdefault(entry.name, entry)) is not entry:
            raise SamesameError(f"{path}:{entry.line}: the entry of line {other.line} is called {entry.name!r}, too; "
                                "give each a name of its own")


def _meant(word: str, known: list[str]) -> str:
    near = get_close_matches(word, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
