"""The rule store gives back what was kept, whoever writes it and wherever it stands."""

from __future__ import annotations

import multiprocessing
import os
import random
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samesame import store as store_module
from samesame.store import Entry, Store, default_path
from samesame.store.entry import from_row, to_row
from samesame.store.pages import salvage
from store_samples import files, rule

FORK = multiprocessing.get_context("fork")


# -------------------------------------------------------------------------------------------------------- in good times


def test_what_was_put_is_there_in_the_next_run(opened, notices):
    kept = [rule(number) for number in range(20)]
    with opened() as store:
        assert store.put(kept) == 20
    with opened() as store:
        assert store.all() == kept
        assert [store.get(entry.key) for entry in kept] == kept
        assert store.get("0" * 63 + "f" * 1) == rule(15)
        assert store.get("ab") is None
    assert not notices


def test_candidates_are_those_of_the_skeleton(opened):
    with opened() as store:
        store.put(rule(number) for number in range(12))
        assert store.candidates(rule(3).skeleton) == [rule(3), rule(8)]
        assert store.candidates("ab") == []


def test_a_rule_of_another_version_is_stale_and_stands_back_for_one_of_this_version(opened):
    with opened() as store:
        store.put([rule(1), rule(2)])
    with opened(prover="p2") as store:
        found = store.get(rule(1).key)
        assert found is not None and found.stale and found.prover == "p1"
        store.put([rule(1, prover="p2", rung=3)])
        found = store.get(rule(1).key)
        assert found is not None and not found.stale and found.evidence["rung"] == 3
        assert [entry.stale for entry in store.candidates(rule(1).skeleton)] == [False]
        assert [entry.stale for entry in store.all()] == [True, True, False]
        assert store.clear(stale_only=True) == 2
        assert store.all() == [rule(1, prover="p2", rung=3)]
    with opened(prover="p2", semantics="s2") as store:
        assert store.all()[0].stale


def test_a_rule_put_again_takes_the_place_of_the_first(opened):
    with opened() as store:
        store.put([rule(1), rule(2)])
        store.put([rule(1, rung=3)])
        assert store.all() == [rule(2), rule(1, rung=3)]


def test_rules_can_be_forgotten(opened):
    with opened() as store:
        store.put(rule(number) for number in range(6))
        assert store.remove([rule(0).key, rule(3).key, "ab"]) == 2
        assert [entry.key for entry in store.all()] == [rule(number).key for number in (1, 2, 4, 5)]
        assert store.clear() == 4
        assert store.all() == []


def test_what_was_forgotten_does_not_come_back_from_a_damaged_file(opened, tmp_path):
    with opened() as store:
        store.put(rule(number) for number in range(60))
        store.remove(rule(number).key for number in range(30))
    assert {entry.key for entry in salvage(tmp_path / "rules.sqlite")} == {rule(n).key for n in range(30, 60)}


def test_what_json_cannot_hold_is_refused_before_anything_is_written(opened):
    with opened() as store:
        for body in {"x": float("nan")}, {"x": {1, 2}}:
            with pytest.raises((TypeError, ValueError)):
                store.put([rule(1), Entry("aa", body, {}, "p1", "s1")])
        assert store.all() == []


@given(st.integers(0, 6), st.integers(0, 200), st.integers(1, 255))
def test_a_row_with_another_byte_anywhere_is_no_rule(column, place, change):
    row = [text.encode() for text in to_row(rule(1))]
    place %= len(row[column])
    row[column] = row[column][:place] + bytes([row[column][place] ^ change]) + row[column][place + 1 :]
    assert from_row(row) is None


# ------------------------------------------------------------------------------------------------------ where it stands


def test_the_default_place_follows_the_platform(monkeypatch, tmp_path):
    monkeypatch.delenv("SAMESAME_STORE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_path() == tmp_path / "xdg" / "samesame" / "rules.sqlite"
    for useless in "", "not/absolute":
        monkeypatch.setenv("XDG_CACHE_HOME", useless)
        assert default_path() == tmp_path / ".cache" / "samesame" / "rules.sqlite"
    monkeypatch.setattr("sys.platform", "darwin")
    assert default_path() == tmp_path / "Library" / "Caches" / "samesame" / "rules.sqlite"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert default_path() == tmp_path / "Local" / "samesame" / "rules.sqlite"
    monkeypatch.setenv("SAMESAME_STORE", "named.sqlite")
    assert default_path() == Path("named.sqlite")


def test_the_default_store_is_made_with_its_folder(monkeypatch, tmp_path, notices):
    monkeypatch.delenv("SAMESAME_STORE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "deep" / "cache"))
    monkeypatch.setattr("sys.platform", "linux")
    with Store.open(prover="p1", semantics="s1", notice=notices.append) as store:
        store.put([rule(1)])
    assert (tmp_path / "deep" / "cache" / "samesame" / "rules.sqlite").stat().st_size
    assert not notices


# ------------------------------------------------------------------------------------------ many writers, and dead ones


def write_batches(path: Path, writer: int, acknowledge: Callable[[int], None], size: int = 0) -> None:
    """Put batches of three rules for ever; acknowledge each batch after it was kept."""
    with Store.open(path, prover="p1", semantics="s1") as store:
        for batch in range(100_000):
            first = writer * 1_000_000 + 3 * batch
            assert store.put(rule(number, size=size) for number in range(first, first + 3)) == 3
            acknowledge(first)


class Writer:
    """A process that writes until it is stopped; what it has said to be kept."""

    def __init__(self, path: Path, number: int, size: int = 0) -> None:
        self._pipe, theirs = FORK.Pipe(duplex=False)
        self._process = FORK.Process(target=write_batches, args=(path, number, theirs.send, size))
        self._process.start()
        self._said: list[int] = []
        theirs.close()

    def turns(self, batches: int) -> None:
        """Wait until it has said so many batches more to be kept; a busy machine may take its time."""
        while self._pipe.poll(0):
            self._said.append(self._pipe.recv())
        for _ in range(batches):
            assert self._pipe.poll(60), "the writer has no turn"
            self._said.append(self._pipe.recv())

    def kill(self) -> list[int]:
        """End it where it stands; the first rule of each batch it had said to be kept."""
        assert self._process.exitcode is None, "the writer failed by itself"
        self._process.kill()
        self._process.join()
        try:
            while True:
                self._said.append(self._pipe.recv())
        except EOFError:
            return self._said


def assert_whole(found: list[Entry], said: list[int]) -> None:
    """Every batch said to be kept is there, whole batches only, and every rule is what was written."""
    keys = {int(entry.key, 16): entry for entry in found}
    assert set(said) <= set(keys)
    for number, entry in keys.items():
        first = number - number % 1_000_000 % 3
        assert {first, first + 1, first + 2} <= set(keys)
        assert entry.body["text"].startswith(f"<rule {number}>")


def test_eight_processes_write_at_once_and_all_are_killed_one_by_one(opened, notices, tmp_path):
    writers = [Writer(tmp_path / "rules.sqlite", number) for number in range(8)]
    said: list[int] = []
    for writer in writers:
        time.sleep(0.15)
        writer.turns(1)
        said += writer.kill()
    found = opened().all()
    assert len(said) > 50
    assert {first // 1_000_000 for first in said} == set(range(8)), "each of them had its turn"
    assert_whole(found, said)
    assert not notices


def test_a_writer_killed_at_any_moment_leaves_whole_batches(opened, notices, tmp_path):
    times = random.Random(3)
    said: list[int] = []
    for number in range(15):
        writer = Writer(tmp_path / "rules.sqlite", number, size=9_000)
        time.sleep(times.uniform(0.0, 0.06))
        said += writer.kill()
        assert_whole(opened().all(), said)
    assert said
    assert not notices


def test_the_writers_go_on_when_the_file_is_damaged_under_them(opened, tmp_path, capfd):
    path = tmp_path / "rules.sqlite"
    writers = [Writer(path, number) for number in range(4)]
    while not path.exists():
        time.sleep(0.01)
    time.sleep(0.4)
    with path.open("r+b") as file:
        file.write(os.urandom(path.stat().st_size))
    (tmp_path / "rules.sqlite-wal").write_bytes(b"")
    writers.append(Writer(path, 4))
    time.sleep(0.8)
    for writer in writers:
        writer.turns(2)                     # the first may have been kept before the damage
    before = path.stat().st_ino
    later = [writer.kill() for writer in writers]
    found = opened().all()
    assert path.stat().st_ino == before
    assert [name for name in files(tmp_path) if ".damaged-" in name]
    assert "was damaged" in capfd.readouterr().err
    kept = {int(entry.key, 16) for entry in found}
    assert {said[-1] for said in later} <= kept, "what was kept after the damage is there"


def test_a_child_does_not_share_the_file_of_its_parent(opened, notices):
    store = opened()
    store.put([rule(1)])
    child = FORK.Process(target=lambda: store.put([rule(2)]))
    child.start()
    child.join()
    assert child.exitcode == 0
    store.put([rule(3)])
    assert store.all() == [rule(1), rule(2), rule(3)]
    assert not notices


def test_a_lock_that_is_not_let_go_is_reported(opened, notices, monkeypatch, tmp_path):
    monkeypatch.setattr(store_module, "WAIT", 0.1)
    store = opened()
    with closing(sqlite3.connect(tmp_path / "rules.sqlite.lock", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert store.put([rule(1)]) == 0
    assert "another process kept it locked" in notices[0] and "1 rule was not kept" in notices[0]
    assert store.put([rule(1)]) == 1
