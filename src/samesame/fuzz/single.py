"""One program of one's own, or one finding again: asked of a worker that lives as long as the question."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from samesame.evidence import Refused, Shown
from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.campaign import AGAIN, Settings, told
from samesame.fuzz.corpus import Finding
from samesame.fuzz.judge import silent
from samesame.fuzz.learnt import learnt
from samesame.fuzz.own import Own, judge_own, judge_twin, loaded, runnable, seed_program
from samesame.fuzz.program import Program, encoded
from samesame.fuzz.tasks import accuses
from samesame.fuzz.worker import Alone

TWINS = 12                   # of a program of one's own …
TWINS_UNTIL = 100.0          # … none of which is begun after so many seconds
RIGHTLY = "compiled rightly"
WRONGLY = "not compiled rightly"
UNDECIDED = "undecided"


@dataclass(frozen=True)
class OwnResult(Shown):
    """What was found of a program of one's own under a back end: the verdict, what it rests on in words, how many twins
    agreed and by which rewrites, how many said nothing."""

    verdict: str
    why: str
    twins: int
    rewrites: tuple[str, ...]
    silent: int
    seconds: float
    text: str = ""               # the program that is compiled wrongly, where it is a twin
    target: str = ""
    backend: str = ""

    @property
    def exit_code(self) -> int:
        return {RIGHTLY: 0, WRONGLY: 1}.get(self.verdict, 3)


def fuzz_own(target: str, inputs: str, settings: Settings, twins: int = TWINS) -> OwnResult:
    """Is the user's program compiled rightly, and are its twins? Each is judged in a fork of a worker. Raises Refused
    where the program does not run eagerly."""
    settings.demand_known()
    with TemporaryDirectory() as folder:
        seed, alone = _seed(loaded(target, inputs), Path(folder))
        settings.feedback = False
        worker = Alone(Path(folder) / "cache", settings.for_worker())
        given = {"target": target, "inputs": inputs, "program": encoded(seed) if seed else ""}

        def ask(asked: dict[str, Any]) -> dict[str, Any]:
            return worker.ask({**given, **asked}, AGAIN * settings.seconds)

        try:
            return _answer(target, ask, settings, twins, alone)
        finally:
            worker.close()


def compiles(module: Any, inputs: Any, settings: Settings, twins: int) -> OwnResult:
    """The same of a module that is at hand, in this process. Raises Refused where it does not run eagerly."""
    settings.demand_known()
    name = getattr(module, "__name__", type(module).__name__)
    own = runnable(Own(module, inputs), name, "these inputs")
    with TemporaryDirectory() as folder:
        seed, alone = _seed(own, Path(folder))

        def ask(asked: dict[str, Any]) -> dict[str, Any]:
            backend = BACKENDS[asked["backend"]]
            if asked["task"] == "own":
                return asdict(judge_own(own, backend, silent))
            assert seed is not None
            return judge_twin(seed, backend, asked["number"], silent, learnt(settings.store))

        return _answer(name, ask, settings, twins, alone)


def _seed(own: Own, folder: Path) -> tuple[Program | None, str]:
    """The program that twins are made of; None, and why, for one that cannot be written down as a graph."""
    try:
        return seed_program(own, folder), ""
    except Refused as refusal:
        return None, str(refusal)


def _answer(
    target: str, ask: Callable[[dict[str, Any]], dict[str, Any]], settings: Settings, twins: int, alone: str
) -> OwnResult:
    """The verdict on a program, and on its twins if it is compiled rightly, up to the first that is not; `alone` says
    why it has none."""
    begun = time.monotonic()
    backend = settings.backends[0]
    results = [ask({"task": "own", "backend": backend})]
    for number in range(settings.seed, settings.seed + (twins if settings.twins and not alone else 0)):
        if results[0]["status"] == "agrees" and not accuses(results[-1]) and time.monotonic() < begun + TWINS_UNTIL:
            results.append(ask({"task": "own twin", "backend": backend, "number": number}))
    first, *others = results
    accused = next(filter(accuses, results), None)
    agreed = [result for result in others if result["status"] == "agrees"]
    rewrites = tuple(dict.fromkeys(name for result in agreed for name in result["rewrites"]))
    verdict = WRONGLY if accused else RIGHTLY if first["status"] == "agrees" else UNDECIDED
    why = told(accused or first) if verdict != RIGHTLY else f"without twins, since it {alone}" if alone else ""
    mute = [result for result in others if result["status"] not in ("agrees", "no twin") and not accuses(result)]
    if verdict == RIGHTLY and mute and not agreed:
        why = f"without twins, of which the first says nothing: {told(mute[0])}"
    text = (accused or {}).get("text", "")
    return OwnResult(verdict, why, len(agreed), rewrites, len(mute), time.monotonic() - begun, text,
                     target, backend)


def replay(finding: Finding) -> list[tuple[str, dict[str, Any]]]:
    """A finding again under its back end and those of its family: what each does."""
    family = BACKENDS[finding.backend].family
    names = ["eager", "aot_eager", "aot_eager_decomp_partition", finding.backend]
    names += [name for name, other in BACKENDS.items() if other.family == family and name != "aotinductor"]
    settings = Settings(backends=(finding.backend,), feedback=False)
    case: dict[str, Any] = {"task": "rejudge", "program": finding.program}
    if not finding.program:
        case = {"task": "written", "text": finding.text}
    with TemporaryDirectory() as folder:
        worker = Alone(Path(folder) / "cache", settings.for_worker())
        try:
            return [(name, worker.ask({**case, "backend": name}, 120.0)) for name in dict.fromkeys(names)]
        finally:
            worker.close()
