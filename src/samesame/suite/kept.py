"""Answers kept from one run of a suite to the next: of entries whose programs, libraries and options have not changed
since. Decided ones are kept in the store; a record, which `--resume` names, keeps all, to go on after an interruption.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samesame.report.answers import FAILS, HOLDS, Answer, from_form
from samesame.store import Store, StoreError
from samesame.store import kept as stored
from samesame.suite.entries import Entry
from samesame.versions import versions_of_packages
from samesame.work.reads import Shelf, digest, digest_of, keep, recall

FORMAT = 2


def key_of(entry: Entry, folder: Path) -> str:
    """Of what is asked, and with what; not of what is expected of the answer, nor of the entry's name."""
    about = platform.python_version(), platform.machine(), versions_of_packages()
    options = {key: value for key, value in entry.options.items()}
    return digest_of([FORMAT, entry.verb, options, entry.timeout, entry.reads, str(folder), *about])


@dataclass(slots=True)
class InStore:
    """In the store of rules. One that cannot be written keeps nothing."""

    store: Store

    def get(self, key: str) -> dict[str, Any] | None:
        return stored.get(self.store, stored.SUITE, key)

    def add(self, key: str, form: dict[str, Any]) -> None:
        try:
            stored.keep(self.store, stored.SUITE, key, form)
        except StoreError as error:
            self.store.notice(f"{error}; an answer was not kept")


@dataclass(slots=True)
class Kept:
    """The answers of earlier runs: `decided` ones, and `all` of one that was interrupted."""

    decided: Shelf | None = None
    all: Shelf | None = None

    def get(self, key: str) -> Answer | None:
        """The answer, where all that it hangs on is as it was."""
        for shelf in self.all, self.decided:
            if shelf is not None and (form := recall(shelf, key)):
                return from_form(form["answer"])
        return None

    def keep(self, key: str, answer: Answer, found: dict[str, Any]) -> str:
        """Keep an answer with what was read for it; why it cannot be kept, or nothing."""
        if found["reads"]["unseen"]:
            return str(found["reads"]["unseen"])
        for shelf in self.all, self.decided if answer.state in (HOLDS, FAILS) else None:
            if shelf is not None:
                keep(shelf, key, {"answer": found["answer"]}, found["reads"], found["libraries"])
        return ""


def read_alike(reads: dict[str, Any]) -> bool:
    """Are the user's own files, as another machine read them, those that lie here?"""
    return all(digest(path) == found for path, found in reads["files"].items())
