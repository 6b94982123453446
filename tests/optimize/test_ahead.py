"""Racers that get ready beside the search: however it ends, nobody waits for them."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from samesame.budget import Run
from samesame.optimize import timing
from samesame.optimize.attempt import Attempt
from samesame.optimize.timing import Ahead, Racer


def test_what_is_interrupted_while_it_begins_to_hold_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal that ends the search may come while racers are told to stand still: a thread that waited to go on went
    on waiting, and the end for it."""
    monkeypatch.setattr(timing, "cores", lambda: 2)
    monkeypatch.setattr(Racer, "start", lambda *_: None)

    def interrupted(racer: Racer, number: int) -> None:
        if number == signal.SIGSTOP:
            raise TimeoutError

    monkeypatch.setattr(Racer, "signal", interrupted)
    ahead = Ahead([Racer("one", "eager", None)], tmp_path, 1, 5.0)
    with pytest.raises(TimeoutError), ahead.held():
        pass
    assert ahead.going.is_set()
    ahead.end()


def test_the_end_lets_a_waiting_thread_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "cores", lambda: 2)
    monkeypatch.setattr(Racer, "start", lambda *_: None)
    ahead = Ahead([], tmp_path, 1, 5.0)
    ahead.going.clear()
    begun = ahead.pool.submit(ahead._start, Racer("one", "eager", None))
    ahead.begun = {0: begun}
    time.sleep(0.1)
    ahead.end()
    assert begun.done()


def test_when_the_search_is_over_two_get_ready_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread goes on with what it has begun; who has nothing else to do starts the next one meanwhile, and does not
    wait for that."""
    def start(racer: Racer, *_: Any) -> None:
        begun.append((racer.name, threading.current_thread() is threading.main_thread()))
        if racer.name == "slow":
            assert quick.wait(30.0)
        elif racer.name == "quick":
            quick.set()

    begun, quick = list[tuple[str, bool]](), threading.Event()
    monkeypatch.setattr(timing, "cores", lambda: 2)
    monkeypatch.setattr(Racer, "start", start)
    racers = [Racer(name, "eager", None) for name in ("slow", "quick", "last")]
    attempt = object.__new__(Attempt)
    attempt.run, attempt.place, attempt.threads = Run(60.0), tmp_path, 1
    attempt.ahead = Ahead(racers, tmp_path, 1, 60.0)
    try:
        while not begun:
            time.sleep(0.01)
        attempt.start(racers, time.monotonic() + 60.0)
    finally:
        attempt.ahead.end()
    assert begun[:2] == [("slow", False), ("quick", True)] and [name for name, _ in begun[2:]] == ["last"]
    assert not any(racer.failed for racer in racers)
