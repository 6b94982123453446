"""Racers that get ready beside the search: however it ends, nobody waits for them."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from samesame.optimize import timing
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
