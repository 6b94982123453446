"""One program of one's own, or one finding again: asked of a worker that lives as long as the question."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.campaign import AGAIN, Settings, told
from samesame.fuzz.corpus import Finding
from samesame.fuzz.own import loaded, seed_program
from samesame.fuzz.pool import Worker
from samesame.fuzz.program import encoded
from samesame.fuzz.tasks import accuses

TWINS = 12                   # of a program of one's own …
TWINS_UNTIL = 100.0          # … none of which is begun after so many seconds
RIGHTLY = "compiled rightly"
WRONGLY = "not compiled rightly"
UNDECIDED = "undecided"


@dataclass(frozen=True)
class OwnResult:
    """What was found of a program of one's own: the verdict, what it rests on in words, how many twins agreed and by
    which rewrites, how many said nothing."""

    verdict: str
    why: str
    twins: int
    rewrites: tuple[str, ...]
    silent: int
    seconds: float
    text: str = ""               # the program that is compiled wrongly, where it is a twin

    @property
    def exit_code(self) -> int:
        return {RIGHTLY: 0, WRONGLY: 1}.get(self.verdict, 3)


def fuzz_own(target: str, inputs: str, settings: Settings, twins: int = TWINS) -> OwnResult:
    """Is the user's program compiled rightly, and are its twins? Raises Refused where it does not run eagerly."""
    settings.demand_known()
    begun = time.monotonic()
    backend = settings.backends[0]
    with TemporaryDirectory() as folder:
        seed = encoded(seed_program(loaded(target, inputs), Path(folder)))
        worker = Worker(Path(folder) / "cache", settings.for_worker())
        try:
            asked = {"task": "own", "target": target, "inputs": inputs, "backend": backend}
            first = worker.ask(asked, AGAIN * settings.seconds)
            results = list(_twins_judged(worker, seed, backend, settings, twins)) if first["status"] == "agrees" else []
        finally:
            worker.close()
    accused = next((result for result in (first, *results) if accuses(result)), None)
    agreed = [result for result in results if result["status"] == "agrees"]
    rewrites = tuple(dict.fromkeys(name for result in agreed for name in result["rewrites"]))
    verdict = WRONGLY if accused else RIGHTLY if first["status"] == "agrees" else UNDECIDED
    why = told(accused or first) if verdict != RIGHTLY else ""
    silent = sum(result["status"] not in ("agrees", "no twin") and not accuses(result) for result in results)
    text = (accused or {}).get("text", "")
    return OwnResult(verdict, why, len(agreed), rewrites, silent, time.monotonic() - begun, text)


def _twins_judged(
    worker: Worker, seed: str, backend: str, settings: Settings, twins: int
) -> Iterator[dict[str, Any]]:
    """The results of twins, up to the first that accuses the compiler."""
    until = time.monotonic() + TWINS_UNTIL
    for number in range(settings.seed, settings.seed + twins if settings.twins else settings.seed):
        asked = {"task": "own twin", "program": seed, "backend": backend, "number": number}
        result = worker.ask(asked, AGAIN * settings.seconds)
        yield result
        if accuses(result) or time.monotonic() > until:
            return


def replay(finding: Finding) -> list[tuple[str, dict[str, Any]]]:
    """A finding again under its back end and those of its family: what each does."""
    family = BACKENDS[finding.backend].family
    names = ["eager", "aot_eager", "aot_eager_decomp_partition", finding.backend]
    names += [name for name, other in BACKENDS.items() if other.family == family and name != "aotinductor"]
    settings = Settings(backends=(finding.backend,))
    case: dict[str, Any] = {"task": "rejudge", "program": finding.program}
    if not finding.program:
        case = {"task": "written", "text": finding.text}
    with TemporaryDirectory() as folder:
        worker = Worker(Path(folder) / "cache", settings.for_worker())
        try:
            return [(name, worker.ask({**case, "backend": name}, 120.0)) for name in dict.fromkeys(names)]
        finally:
            worker.close()
