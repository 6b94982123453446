"""Answers kept from one run of a suite to the next: of entries whose programs, libraries and options have not changed
since. Decided ones are kept in the store; a record, which `--resume` names, keeps all, to go on after an interruption.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from samesame.evidence import SamesameError
from samesame.report.answers import FAILS, HOLDS, Answer, from_form
from samesame.store import Store, StoreError
from samesame.store.kept import SUITE, get, keep
from samesame.suite.entries import Entry
from samesame.suite.reads import digest_of, unchanged
from samesame.versions import versions_of_packages

FORMAT = 1


def key_of(entry: Entry, folder: Path) -> str:
    """Of what is asked, and with what; not of what is expected of the answer, nor of the entry's name."""
    about = platform.python_version(), platform.machine(), versions_of_packages()
    options = {key: value for key, value in entry.options.items()}
    return digest_of([FORMAT, entry.verb, options, entry.timeout, entry.reads, str(folder), *about])


class Shelf(Protocol):
    """Where answers lie, by key."""

    def get(self, key: str) -> dict[str, Any] | None: ...
    def keep(self, key: str, form: dict[str, Any]) -> None: ...


@dataclass(slots=True)
class InStore:
    """In the store of rules. One that cannot be written keeps nothing."""

    store: Store

    def get(self, key: str) -> dict[str, Any] | None:
        return get(self.store, SUITE, key)

    def keep(self, key: str, form: dict[str, Any]) -> None:
        try:
            keep(self.store, SUITE, key, form)
        except StoreError as error:
            self.store.notice(f"{error}; an answer was not kept")


@dataclass(slots=True)
class InRecord:
    """In a file of JSON lines. A line that was cut short is dropped."""

    file: IO[str]
    known: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> InRecord:
        """The record in a file, which is made if there is none. Raises SamesameError."""
        try:
            text = path.read_text() if path.exists() else ""
            whole = text[: text.rfind("\n") + 1]
            known = dict(json.loads(line) for line in whole.splitlines())
            if not all(isinstance(form, dict) for form in known.values()):
                raise ValueError
            if whole != text:
                path.write_text(whole)
            return cls(path.open("a"), known)
        except OSError as error:
            raise SamesameError(f"cannot use {path}: {error.strerror}; give another file for --resume") from None
        except (ValueError, TypeError):
            told = f"{path} is no record of a suite; give a file that --resume wrote, or a new name"
            raise SamesameError(told) from None

    def get(self, key: str) -> dict[str, Any] | None:
        return self.known.get(key)

    def keep(self, key: str, form: dict[str, Any]) -> None:
        self.known[key] = form
        self.file.write(json.dumps([key, form]) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())


@dataclass(slots=True)
class Kept:
    """The answers of earlier runs: `decided` ones, and `all` of one that was interrupted."""

    decided: Shelf | None = None
    all: InRecord | None = None

    def get(self, key: str) -> Answer | None:
        """The answer, where all that it hangs on is as it was."""
        for shelf in self.all, self.decided:
            form = shelf.get(key) if shelf else None
            libraries = shelf.get(form["libraries"]) if shelf and form else None
            if form and libraries and unchanged(form["reads"], libraries):
                return from_form(form["answer"])
        return None

    def keep(self, key: str, answer: Answer, found: dict[str, Any]) -> str:
        """Keep an answer with what was read for it; why it cannot be kept, or nothing."""
        if found["reads"]["unseen"]:
            return str(found["reads"]["unseen"])
        libraries = digest_of(found["libraries"])
        for shelf in self.all, self.decided if answer.state in (HOLDS, FAILS) else None:
            if shelf is not None:
                if shelf.get(libraries) is None:
                    shelf.keep(libraries, found["libraries"])
                shelf.keep(key, {"answer": found["answer"], "reads": found["reads"], "libraries": libraries})
        return ""

    def close(self) -> None:
        if self.all is not None:
            self.all.file.close()
