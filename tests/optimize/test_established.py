"""Rounding is measured while the proof is looked for; where it is too much, the proof ends."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from samesame.budget import Run
from samesame.evidence import Rung, Verdict
from samesame.optimize import attempt as attempts
from samesame.optimize.attempt import FASTEST, Attempt
from samesame.report.optimized import Contract

KEPT, BROKEN = Contract(20, 100), Contract(20, 100, failed="off by 1")
SAME = Verdict("same", Rung.PROVED)


class Racer:
    """One whose contract is known after some seconds; None where its process ends."""

    def __init__(self, lower: float, seconds: float, contract: Contract | None) -> None:
        self.lower, self.seconds, self.contract = lower, seconds, contract
        self.failed, self.stopped, self.told = "", False, list[dict[str, Any]]()
        self.candidate, self.way, self.file = 0, "eager", "fast.py"
        self.killed = threading.Event()

    def tell(self, **words: Any) -> None:
        self.told.append(words)

    def answer(self, seconds: float) -> dict[str, Any] | None:
        self.killed.wait(min(self.seconds, seconds))
        if self.contract is None:
            self.failed = "its process ended"
        return None if self.contract is None else asdict(self.contract)

    def stop(self) -> None:
        self.stopped = True

    def signal(self, number: int) -> None:
        self.seconds, self.contract = 0.0, None
        self.killed.set()


@pytest.fixture
def attempt() -> Iterator[Any]:
    """An attempt whose proofs take until they are ended, or as long as they are told to."""
    proofs = list[float]()

    def proof(found: Any, racer: Racer, run: Run) -> Verdict | str:
        begun = time.monotonic()
        while not run.over and time.monotonic() - begun < made.takes:
            time.sleep(0.01)
        proofs.append(time.monotonic() - begun)
        return "not proved" if run.over else SAME

    made = SimpleNamespace(left=20.0, seed=3, report=SimpleNamespace(contract=None), proof=proof, proofs=proofs)
    made.early, made.device, made.ahead = None, "cpu", None
    made.is_early = lambda racer: Attempt.is_early(made, racer)
    made.takes, made.proving = 0.0, lambda: Run(0.7 * made.left)
    yield made


def established(attempt: Any, *racers: Racer) -> list[tuple[Racer, Verdict]]:
    return list(Attempt.established(attempt, [None], racers))              # type: ignore[arg-type]


class Runner:
    """One that takes as long in every round."""

    running, failed = True, ""

    def __init__(self, lower: float) -> None:
        self.lower = lower

    def beats(self, other: Runner) -> bool:
        return self.lower < other.lower


@pytest.mark.parametrize("left, wins", [(20.0, 1), (2.0, 0)])
def test_one_that_was_asked_early_gives_way_to_a_quicker_one(left: float, wins: int) -> None:
    """With its own contract, where there is time yet to ask for it."""
    first, quicker, slower, incumbent = Runner(2.0), Runner(1.0), Runner(1.98), Runner(3.0)
    asked = list[Runner]()

    def established(found: Any, near: list[Runner]) -> Iterator[tuple[Runner, Verdict]]:
        for racer in near:
            asked.append(racer)
            made.report.contract = Contract(len(asked))
            yield racer, SAME

    made = SimpleNamespace(left=left, report=SimpleNamespace(contract=None), established=established,
                           run=Run(40.0), race=lambda racers, rounds, seconds: None,
                           fastest=lambda racers: min(racers, key=lambda racer: racer.lower))
    made.is_any_quicker = lambda *racers: Attempt.is_any_quicker(made, *racers)
    near = [first, quicker, slower]
    winner = Attempt.won(made, [None], near, [incumbent])                  # type: ignore[arg-type]
    assert winner is not None and winner.racer is near[wins]
    assert winner.contract == Contract(wins + 1) and asked == near[:wins + 1]
    assert Attempt.won(made, [None], [Runner(5.0), Runner(4.0)], [incumbent]) is None       # type: ignore[arg-type]


def test_the_fastest_that_keep_it_and_are_proved(attempt: Any) -> None:
    slow, fast = Racer(2.0, 0.0, KEPT), Racer(1.0, 0.0, KEPT)
    assert [racer for racer, _ in established(attempt, slow, fast)] == [fast, slow]
    assert attempt.report.contract == KEPT and fast.told[0]["do"] == "contract"


def test_a_proof_ends_when_rounding_is_too_much(attempt: Any) -> None:
    attempt.takes = 60.0
    racer = Racer(1.0, 1.5, BROKEN)
    assert established(attempt, racer) == [] and racer.stopped and racer.failed
    assert len(attempt.proofs) == 1 and attempt.proofs[0] < 5 and attempt.report.contract is None


def test_no_proof_begins_where_rounding_is_soon_too_much(attempt: Any) -> None:
    assert established(attempt, Racer(1.0, 0.0, BROKEN), Racer(2.0, 0.0, None)) == [] and not attempt.proofs


def test_one_whose_process_ends_meanwhile_is_passed_over(attempt: Any) -> None:
    attempt.takes = 60.0
    lost, kept = Racer(1.0, 1.5, None), Racer(2.0, 0.0, KEPT)
    found = established(attempt, lost)
    attempt.takes = 0.0
    assert found == [] and established(attempt, kept) == [(kept, SAME)]


def test_no_more_are_tried_than_are_worth_it(attempt: Any) -> None:
    attempt.proof = lambda *_: "not proved"
    racers = [Racer(float(k), 0.0, KEPT) for k in range(FASTEST + 2)]
    assert established(attempt, *racers) == []
    assert [racer.failed for racer in racers] == ["not proved"] * FASTEST + [""] * 2


def test_a_proof_that_is_interrupted_leaves_no_thread(attempt: Any) -> None:
    def interrupted(*_: Any) -> str:
        raise KeyboardInterrupt

    attempt.proof, before = interrupted, threading.active_count()
    racer = Racer(1.0, 60.0, KEPT)
    with pytest.raises(KeyboardInterrupt):
        established(attempt, racer)
    assert racer.killed.is_set() and threading.active_count() == before


# ------------------------------------------------------------------------------------------------ before all are ready


@pytest.fixture
def early(attempt: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An attempt in which races are told, and who stands still in each."""
    def race(racers: list[Racer], *_: Any) -> None:
        for racer in racers:
            racer.measured = [racer.lower]
        attempt.raced.append((list(racers), [still.stopped_at for still in attempt.racers]))

    attempt.raced, attempt.racers = [], []
    monkeypatch.setattr(attempts, "race", race)
    monkeypatch.setattr(attempts, "cores", lambda: 2)
    return attempt


class Told(Racer):
    """One that notes whether it was told to stand still."""

    running = True

    def __init__(self, lower: float, seconds: float, contract: Contract | None, candidate: int | None = 0) -> None:
        super().__init__(lower, seconds, contract)
        self.measured, self.candidate, self.stopped_at = list[float](), candidate, False  # type: ignore[assignment]

    def signal(self, number: int) -> None:
        self.stopped_at = {signal.SIGSTOP: True, signal.SIGCONT: False}.get(number, self.stopped_at)  # type: ignore[call-overload]
        if number == signal.SIGKILL:
            super().signal(number)


def test_of_one_that_is_clearly_faster_rounding_is_measured_at_once(early: Any) -> None:
    original, fast, other = Told(10.0, 0.0, KEPT, None), Told(1.0, 1.0, KEPT), Told(5.0, 0.0, KEPT, None)
    early.racers = [original, fast, other]
    Attempt.establish_early(early, [None], fast)  # type: ignore[arg-type, list-item]
    assert early.raced == [([original, fast], [False] * 3)] and fast.told[0]["do"] == "contract"
    Attempt.race(early, early.racers, 6, 1.0)  # type: ignore[arg-type]
    assert early.raced[-1] == ([original, other], [False, True, False]) and not fast.stopped_at
    assert established(early, fast) == [(fast, SAME)] and len(fast.told) == 1 and len(early.proofs) == 1
    Attempt.race(early, early.racers, 6, 1.0)  # type: ignore[arg-type]
    assert early.raced[-1] == ([original, fast, other], [False] * 3)


def test_of_one_that_is_not_it_is_measured_when_it_leads(early: Any) -> None:
    original, fast = Told(1.2, 0.0, KEPT, None), Told(1.0, 0.0, KEPT)
    early.racers = [original, fast]
    Attempt.establish_early(early, [None], fast)  # type: ignore[arg-type]
    assert early.early is None and not fast.told
    assert established(early, fast) == [(fast, SAME)] and len(fast.told) == 1


def test_where_it_was_too_much_before_no_proof_goes_on(early: Any) -> None:
    original, fast = Told(10.0, 0.0, KEPT, None), Told(1.0, 0.0, BROKEN)
    early.racers = [original, fast]
    Attempt.establish_early(early, [None], fast)  # type: ignore[arg-type]
    early.early.join()
    assert fast.failed and established(early, fast) == [] and len(early.proofs) == 1
    run = Run(60.0)
    assert early.early.ending(run) is run and run.over


def test_it_is_waited_for_no_longer_when_all_is_over(early: Any) -> None:
    original, fast = Told(10.0, 0.0, KEPT, None), Told(1.0, 60.0, KEPT)
    early.racers = [original, fast]
    Attempt.establish_early(early, [None], fast)  # type: ignore[arg-type]
    early.early.end()
    assert not early.early.is_alive() and fast.killed.is_set()


def test_one_that_was_begun_early_is_asked_for_before_others(early: Any) -> None:
    """Its time is of a race in which others got ready, and two contracts at once would write the same files."""
    original, first, quicker = Told(10.0, 0.0, KEPT, None), Told(1.0, 0.5, KEPT), Told(0.5, 0.0, KEPT, 1)
    early.racers = [original, first, quicker]
    Attempt.establish_early(early, [None], first)  # type: ignore[arg-type, list-item]
    asked = Attempt.established(early, [None, None], [quicker, first])  # type: ignore[arg-type, list-item]
    assert next(asked) == (first, SAME) and not quicker.told
    assert next(asked) == (quicker, SAME)


@pytest.mark.parametrize("why", ["one core", "a GPU", "the original gets ready"])
def test_nothing_is_begun_early_where_it_would_be_unfair(early: Any, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original, fast = Told(10.0, 0.0, KEPT, None), Told(1.0, 0.0, KEPT)
    early.racers = [original, fast]
    monkeypatch.setattr(attempts, "cores", lambda: 1 if why == "one core" else 2)
    early.device = "cuda" if why == "a GPU" else "cpu"
    early.ahead = SimpleNamespace(busy=lambda racer: racer is original) if "original" in why else None
    Attempt.establish_early(early, [None], fast)  # type: ignore[arg-type, list-item]
    assert early.early is None and not early.raced and not fast.told


def test_a_proof_that_had_no_time_early_is_looked_for_again(early: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    original, fast = Told(10.0, 0.0, KEPT, None), Told(1.0, 0.0, KEPT)
    early.racers, early.takes, early.left = [original, fast], 60.0, 0.1
    monkeypatch.setattr(attempts, "Run", lambda seconds: Run(0.1))
    Attempt.establish_early(early, [None], fast)  # type: ignore[arg-type, list-item]
    early.takes, early.left = 0.0, 20.0
    assert early.early.verdict is None and established(early, fast) == [(fast, SAME)] and len(early.proofs) == 2


def test_a_proof_may_be_looked_for_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was begun early had no time: what stands for the kernels is written down by then."""
    file, read = tmp_path / "found" / "fast.py", list[str]()
    monkeypatch.setattr(attempts, "files_of", lambda reference, facts: {"fast.py": "reference"})
    monkeypatch.setattr(attempts, "unguarded", lambda program, file, *_: read.append(file.read_text()))
    monkeypatch.setattr(attempts, "check", lambda *_, **__: SAME)
    made = SimpleNamespace(facts=lambda *_: {}, module=None, example=(), seed=0, store=None,
                           job=SimpleNamespace(weights={}), report=SimpleNamespace(counts={}))
    for _ in range(2):
        Attempt.verified(made, SimpleNamespace(reference=object()), "", file, Run(1.0))  # type: ignore[arg-type]
    assert read == ["reference"] * 2
