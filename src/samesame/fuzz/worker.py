"""A worker: a process in which torch and the compiler are warm, and which forks for every case (`apart.py`)."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

from samesame.fuzz.reached import watching
from samesame.work.crew import Crew
from samesame.work.local import Local, Work
from samesame.work.tasks import Lost, Task

PREPARED, CACHE = "samesame.fuzz.worker:prepared", "TORCHINDUCTOR_CACHE_DIR"
SURROUNDINGS = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}


def workers(cache: Path, settings: dict[str, Any], jobs: int = 1) -> Local:
    """Room for so many workers on this machine, with a cache folder of theirs; `settings` are JSON."""
    return Local(PREPARED, (settings,), jobs, quiet=True, environment={**SURROUNDINGS, CACHE: str(cache.absolute())})


def prepared(settings: dict[str, Any]) -> Work:
    """In the worker: does cases. The first result tells which lines of the compiler it takes to begin."""
    known = set[str]()
    with watching(known) if settings["feedback"] else nullcontext():
        from samesame.fuzz.tasks import done, warm

        warm(settings)
    begun = [sorted(known)]

    def work(case: dict[str, Any]) -> dict[str, Any]:
        result = done(case, settings, known)
        return {**result, "begun": begun.pop()} if begun else result

    return work


def failed(lost: Lost) -> dict[str, Any]:
    """The result of a case that has none, which is samesame's own fault."""
    return {"status": "failed", "stage": "", "detail": lost.why}


class Alone:
    """A worker by itself, asked one case after another."""

    def __init__(self, cache: Path, settings: dict[str, Any]) -> None:
        self.crew = Crew([workers(cache, settings)])

    def ask(self, case: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        """The result of a case; `seconds` where it may take longer than others."""
        (found,) = self.crew.results([Task("", {**case, "seconds": seconds} if seconds else case)])
        return failed(found.result) if isinstance(found.result, Lost) else found.result

    def close(self) -> None:
        self.crew.rest()
