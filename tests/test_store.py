"""The rule store gives back what was kept, or nothing: whatever happens to the file and to those who write it."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame import store as store_module
from samesame.store import Entry, Store, StoreError, default_path
from samesame.store_entry import from_row, to_row
from samesame.store_pages import PAGE, salvage

FORK = multiprocessing.get_context("fork")
SIZES = (40, 300, 1500, 3500, 5000, 20_000)          # characters of a body: many rows a page, many pages a row


def rule(number: int, *, size: int = 0, prover: str = "p1", semantics: str = "s1", rung: int = 4) -> Entry:
    """A rule whose body says its number all over, so that one can see on which pages it stands."""
    token = f"<rule {number}>"
    text = token * (1 + (size or SIZES[number % len(SIZES)]) // len(token))
    evidence = {"rung": rung, "conditions": ["x0 ≠ 0"], "seconds": 0.25}
    return Entry(f"{number:064x}", {"text": text, "sizes": ["n", 2]}, evidence, prover, semantics, f"{number % 5:064x}")


@pytest.fixture
def notices() -> list[str]:
    return []


@pytest.fixture
def opened(tmp_path: Path, notices: list[str]) -> Iterator[Callable[..., Store]]:
    """Open the store rules.sqlite of this test, or another one; all are closed at the end."""
    made: list[Store] = []

    def open_(path: Path = tmp_path / "rules.sqlite", *, prover: str = "p1", semantics: str = "s1") -> Store:
        made.append(Store.open(path, prover=prover, semantics=semantics, notice=notices.append))
        return made[-1]

    yield open_
    for store in made:
        store.close()


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


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
        theirs.close()

    def kill(self) -> list[int]:
        """End it where it stands; the first rule of each batch it had said to be kept."""
        assert self._process.exitcode is None, "the writer failed by itself"
        self._process.kill()
        self._process.join()
        said = []
        try:
            while True:
                said.append(self._pipe.recv())
        except EOFError:
            return said


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
        said += writer.kill()
    found = opened().all()
    assert len(said) > 50
    assert {first // 1_000_000 for first in said} == set(range(8)), "each of them had its turn"
    assert_whole(found, said)
    assert not notices


def test_a_writer_killed_at_any_moment_leaves_whole_batches(opened, notices, tmp_path):
    times = random.Random(3)
    said: list[int] = []
    for number in range(25):
        writer = Writer(tmp_path / "rules.sqlite", number, size=9_000)
        time.sleep(times.uniform(0.0, 0.06))
        said += writer.kill()
        assert_whole(opened().all(), said)
    assert said
    assert not notices


def test_the_writers_go_on_when_the_file_is_damaged_under_them(opened, tmp_path, capfd):
    path = tmp_path / "rules.sqlite"
    writers = [Writer(path, number) for number in range(4)]
    time.sleep(0.4)
    with path.open("r+b") as file:
        file.write(os.urandom(path.stat().st_size))
    (tmp_path / "rules.sqlite-wal").write_bytes(b"")
    writers.append(Writer(path, 4))
    time.sleep(0.8)
    before = path.stat().st_ino
    later = [writer.kill() for writer in writers]
    found = opened().all()
    assert path.stat().st_ino == before
    assert [name for name in files(tmp_path) if ".damaged-" in name]
    assert "was damaged" in capfd.readouterr().err
    kept = {int(entry.key, 16) for entry in found}
    assert all(later), "each of them had its turn"
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


# -------------------------------------------------------------------------------------------------------- damaged files


class Content(bytes):
    """The bytes of a file, without showing them all when a test fails."""

    def __repr__(self) -> str:
        return f"<{len(self)} bytes>"


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Content:
    """The file of a store with the rules 0 to 59."""
    path = tmp_path_factory.mktemp("sound") / "rules.sqlite"
    with Store.open(path, prover="p1", semantics="s1") as store:
        store.put(rule(number) for number in range(60))
    return Content(path.read_bytes())


def pages_of(entry: Entry, content: bytes) -> set[int]:
    """The pages on which a part of the row stands, found without knowing how they hang together."""
    seal = to_row(entry)[-1]
    parts = [f"<rule {int(entry.key, 16)}>".encode(), *(seal[at : at + 16].encode() for at in range(0, 48, 8))]
    pages = [content[at : at + PAGE] for at in range(0, len(content), PAGE)]
    return {number for number, page in enumerate(pages) if any(part in page for part in parts)}


def assert_only_the_damage_is_lost(folder: Path, sound: bytes, damaged: bytes) -> None:
    """The store opens, has every rule that stands on untouched pages, has no other, and says what happened."""
    path = folder / "rules.sqlite"
    path.write_bytes(damaged)
    (folder / "rules.sqlite.lock").touch()
    touched = {at // PAGE for at in range(0, len(sound), 16) if sound[at : at + 16] != damaged[at : at + 16]}
    kept = [rule(number) for number in range(60)]
    notices: list[str] = []
    try:
        with Store.open(path, prover="p1", semantics="s1", notice=notices.append) as store:
            one_by_one = [entry for entry in kept if store.get(entry.key)]
            found = store.all()
            assert all(store.get(entry.key) == entry for entry in found)
            assert store.put([rule(99)]) == 1 or sound[:20] != damaged[:20]
    except StoreError as error:
        assert "written by a newer samesame" in str(error)
        assert sound[60:64] != damaged[60:64]
        return
    assert all(entry in kept for entry in found), "nothing is there that was not put"
    lost = [entry for entry in kept if entry not in found]
    assert not [entry for entry in lost if not pages_of(entry, sound) & touched], "only what was damaged is lost"
    assert len(one_by_one) >= len(found)
    assert notices or not lost, "a loss is never silent"


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_truncated_at_any_byte(data, sound, tmp_path_factory):
    length = data.draw(st.integers(0, len(sound)))
    assert_only_the_damage_is_lost(tmp_path_factory.mktemp("cut"), sound, Content(sound[:length]))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_garbage_at_any_offset(data, sound, tmp_path_factory):
    garbage = data.draw(st.binary(min_size=1, max_size=64)) * data.draw(st.sampled_from([1, 10, 200]))
    at = data.draw(st.integers(0, len(sound) - 1))
    damaged = (sound[:at] + garbage + sound[at + len(garbage) :])[: len(sound)]
    assert_only_the_damage_is_lost(tmp_path_factory.mktemp("garbage"), sound, Content(damaged))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_one_flipped_bit(data, sound, tmp_path_factory):
    at = data.draw(st.one_of(st.integers(0, len(sound) - 1), st.integers(0, 2 * PAGE)))
    damaged = bytearray(sound)
    damaged[at] ^= 1 << data.draw(st.integers(0, 7))
    assert_only_the_damage_is_lost(tmp_path_factory.mktemp("bit"), sound, Content(damaged))


@pytest.mark.parametrize("at, byte", [(47, b"\x09"), (3914, b"\x80")], ids=["format", "name of a table"])
def test_what_sqlite_cannot_even_speak_of_hides_no_rule(at, byte, sound, tmp_path):
    damaged = sound[:at] + byte + sound[at + 1 :]
    assert_only_the_damage_is_lost(tmp_path, sound, Content(damaged))


def test_a_flipped_bit_in_a_body_costs_that_rule_and_a_message(opened, notices, sound, tmp_path):
    path = tmp_path / "rules.sqlite"
    damaged = bytearray(sound)
    damaged[sound.index(b"<rule 7>") + 2] ^= 1
    path.write_bytes(damaged)
    store = opened()
    assert store.get(rule(8).key) == rule(8)
    assert store.get(rule(7).key) is None
    assert notices == [f"1 rule in {path} was damaged and dropped; what they said must be proved again"]
    assert [entry for entry in store.all() if entry.key == rule(7).key] == []
    assert len(store.all()) == 59 and len(notices) == 1
    assert not [name for name in files(tmp_path) if ".damaged-" in name]


@pytest.mark.parametrize("content", [b"", b"garbage", b"\0" * 10_000, random.Random(1).randbytes(50_000)])
def test_a_file_of_garbage_is_set_aside(content, opened, notices, tmp_path):
    path = tmp_path / "rules.sqlite"
    path.write_bytes(content)
    (tmp_path / "rules.sqlite.lock").touch()
    with opened() as store:
        assert store.all() == []
        store.put([rule(1)])
    (aside,) = (tmp_path / name for name in files(tmp_path) if ".damaged-" in name)
    assert aside.read_bytes() == content
    assert len(notices) == 1 and aside.name in notices[0] and str(path) in notices[0]
    assert opened().all() == [rule(1)]


def test_a_truncated_file_keeps_what_stands_in_its_log(opened, notices, tmp_path):
    path = tmp_path / "rules.sqlite"
    store = opened()
    store.put(rule(number) for number in range(10))
    log = (tmp_path / "rules.sqlite-wal").read_bytes()
    store.close()
    path.write_bytes(b"")
    (tmp_path / "rules.sqlite-wal").write_bytes(log)
    assert opened().all() == [rule(number) for number in range(10)]
    assert "10 rules" in notices[0]


def test_mending_that_was_interrupted_is_finished_by_the_next(opened, notices, sound, tmp_path, monkeypatch):
    """The worst moment: the old log has gone with the damaged file, the new file has not got its name yet."""
    path = tmp_path / "rules.sqlite"
    path.write_bytes(sound[: PAGE // 2])
    (tmp_path / "rules.sqlite.new").write_bytes(sound)
    assert len(opened().all()) == 60
    assert "60 rules" in notices[0]


def test_another_process_that_has_mended_the_file_is_noticed(opened, notices, sound, tmp_path):
    path = tmp_path / "rules.sqlite"
    path.write_bytes(sound)
    first = opened()
    path.write_bytes(sound[:-PAGE])
    second = opened()
    second.put([rule(70)])
    assert first.get(rule(70).key) == rule(70)
    first.put([rule(71)])
    assert second.get(rule(71).key) == rule(71)
    assert len(notices) == 1


def test_another_file_that_took_the_name_is_opened(opened, tmp_path):
    """Whoever mends the file puts another in its place; what is written afterwards must not go into the old one."""
    path = tmp_path / "rules.sqlite"
    first = opened()
    first.put([rule(1)])
    with opened(tmp_path / "other.sqlite") as other:
        other.put([rule(2)])
    os.replace(tmp_path / "other.sqlite", path)
    (tmp_path / "rules.sqlite-wal").unlink()
    assert first.all() == [rule(2)]
    first.put([rule(3)])
    assert opened().all() == [rule(2), rule(3)]


# ------------------------------------------------------------------------------------------ files that are not for us


def test_a_newer_store_is_left_alone(opened, sound, tmp_path, notices):
    path = tmp_path / "rules.sqlite"
    path.write_bytes(sound)
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 7")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="written by a newer samesame"):
        opened()
    assert path.read_bytes() == before and not notices


@pytest.mark.parametrize("name", ["pair.py", "model.safetensors"])
def test_a_file_named_by_mistake_is_left_alone(name, opened, tmp_path):
    path = tmp_path / name
    path.write_text("def left(x):\n    return x\n")
    for _ in range(2):
        with pytest.raises(StoreError, match="is not a rule store; name another file"):
            opened(path)
    assert files(tmp_path) == {name}


def test_the_database_of_another_program_is_left_alone(opened, tmp_path):
    path = tmp_path / "bookmarks.sqlite"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE bookmarks (place)")
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreError, match="is not a rule store"):
            opened(path)
    assert path.read_bytes() == before


def test_a_folder_is_no_store(opened, tmp_path):
    with pytest.raises(StoreError, match="is a folder; name a file"):
        opened(tmp_path)


def test_without_a_store_one_can_go_on(tmp_path, notices):
    (tmp_path / "file").write_text("")
    for path in tmp_path, tmp_path / "file" / "rules.sqlite":
        with Store.open_or_go_without(path, prover="p1", semantics="s1", notice=notices.append) as store:
            assert store.put([rule(1)]) == 1
            assert store.all() == [rule(1)]
        assert "going on without: what is proved now is not kept" in notices[-1]
    assert len(notices) == 2


def in_child(action: Callable[[], None], *, user: int | None = None) -> None:
    """Do it in another process, perhaps as another user, since nothing is forbidden to root."""

    def child() -> None:
        if user is not None and os.getuid() == 0:
            os.setgid(user)
            os.setuid(user)
        action()

    process = FORK.Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == 0


@pytest.fixture
def reachable(tmp_path) -> Path:
    """A folder that every user can get into."""
    folder = Path(tmp_path)
    for above in (folder, *folder.parents):
        if above.stat().st_uid == os.getuid() and Path(tempfile.gettempdir()) in above.parents:
            above.chmod(above.stat().st_mode | 0o755)
    return folder


def test_a_read_only_store_is_read_and_says_that_nothing_is_kept(opened, reachable):
    with opened() as store:
        store.put([rule(1)])
    reachable.joinpath("rules.sqlite").chmod(0o444)
    reachable.chmod(0o555)

    def as_another() -> None:
        notices: list[str] = []
        with Store.open(reachable / "rules.sqlite", prover="p1", semantics="s1", notice=notices.append) as store:
            assert store.all() == [rule(1)]
            assert store.put([rule(2)]) == 0
            assert "may only be read; 1 rule was not kept" in notices[0]
            with pytest.raises(StoreError, match="may only be read"):
                store.clear()

    in_child(as_another, user=65534)


def test_a_damaged_read_only_store_is_read_as_far_as_it_goes(sound, reachable):
    path = reachable / "rules.sqlite"
    path.write_bytes(sound[: -8 * PAGE])
    path.chmod(0o444)
    reachable.chmod(0o555)

    def as_another() -> None:
        notices: list[str] = []
        with Store.open(path, prover="p1", semantics="s1", notice=notices.append) as store:
            assert len(store.all()) > 40
            assert store.put([rule(2)]) == 0
        assert "is damaged" in notices[0] and "not kept" in notices[0]

    in_child(as_another, user=65534)
    assert path.read_bytes() == sound[: -8 * PAGE]


def test_no_permission_is_said(reachable):
    reachable.joinpath("rules.sqlite").write_bytes(b"")
    reachable.joinpath("rules.sqlite").chmod(0o000)
    reachable.chmod(0o555)

    def as_another() -> None:
        for path in reachable / "rules.sqlite", reachable / "new.sqlite", reachable / "deep" / "new.sqlite":
            with pytest.raises(StoreError, match=str(path.parent)):
                Store.open(path, prover="p1", semantics="s1")

    in_child(as_another, user=65534)


def test_a_full_disk_loses_nothing_and_is_said(opened, tmp_path):
    path = tmp_path / "rules.sqlite"
    with opened() as store:
        store.put([rule(1)])

    def with_little_room() -> None:
        notices: list[str] = []
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        with Store.open(path, prover="p1", semantics="s1", notice=notices.append) as store:
            assert store.put(rule(number, size=9000) for number in range(10, 100)) == 0
            assert "90 rules were not kept" in notices[0] and str(path) in notices[0]
            assert store.all() == [rule(1)]
            assert store.put([rule(2)]) == 1

    in_child(with_little_room)
    assert opened().all() == [rule(1), rule(2)]


def test_a_damaged_store_on_a_full_disk_is_read_and_left(sound, tmp_path):
    path = tmp_path / "rules.sqlite"
    path.write_bytes(sound[:-PAGE])

    def with_no_room() -> None:
        notices: list[str] = []
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
        with Store.open(path, prover="p1", semantics="s1", notice=notices.append) as store:
            assert len(store.all()) >= 55
        assert "cannot be mended" in notices[0]

    in_child(with_no_room)
    assert path.read_bytes() == sound[:-PAGE]
    assert not [name for name in files(tmp_path) if ".damaged-" in name]


# --------------------------------------------------------------------------------------------------- export and import


@pytest.mark.parametrize("name", ["rules.jsonl", "rules.jsonl.gz"])
def test_rules_go_from_one_store_to_another(name, opened, tmp_path, notices):
    with opened() as store:
        store.put([*(rule(number) for number in range(10)), rule(3, prover="p0")])
        assert store.export(tmp_path / name) == 11
    with opened(tmp_path / "other.sqlite") as other:
        imported = other.import_(tmp_path / name, lambda entry: None)
        assert (imported.kept, imported.refused) == (11, [])
        assert other.all() == [*(rule(number) for number in range(10)), rule(3, prover="p0")]
    assert not notices


def test_the_same_rules_make_the_same_file(opened, tmp_path):
    with opened() as store:
        store.put([rule(1), rule(2)])
        store.export(tmp_path / "a.jsonl.gz")
        store.export(tmp_path / "b.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    lines = gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()).splitlines()
    assert [json.loads(line).get("key") for line in lines] == [None, rule(1).key, rule(2).key]


def test_a_rule_without_valid_evidence_is_refused_by_name_and_the_others_are_kept(opened, tmp_path):
    with opened() as store:
        store.put(rule(number, prover="p0") for number in range(4))
        store.export(tmp_path / "rules.jsonl")

    def verify(entry: Entry) -> str | None:
        assert entry.stale, "whoever verifies sees that the version is another"
        return "its sides differ at n = 3" if entry.key == rule(2).key else None

    with opened(tmp_path / "other.sqlite") as other:
        imported = other.import_(tmp_path / "rules.jsonl", verify)
        assert imported.kept == 3
        path = tmp_path / "rules.jsonl"
        assert imported.refused == [f"rule {rule(2).key[:12]} of {path} is refused: its sides differ at n = 3"]
        assert {entry.key for entry in other.all()} == {rule(n).key for n in (0, 1, 3)}


def test_an_import_that_is_interrupted_keeps_nothing(opened, tmp_path):
    with opened() as store:
        store.put(rule(number) for number in range(4))
        store.export(tmp_path / "rules.jsonl")

    def verify(entry: Entry) -> None:
        if entry.key == rule(2).key:
            raise KeyboardInterrupt

    with opened(tmp_path / "other.sqlite") as other:
        with pytest.raises(KeyboardInterrupt):
            other.import_(tmp_path / "rules.jsonl", verify)
        assert other.all() == []


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_damaged_export_gives_what_can_be_read_and_says_what_not(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    kept = [rule(number, size=200) for number in range(8)]
    name = data.draw(st.sampled_from(["rules.jsonl", "rules.jsonl.gz"]))
    with Store.in_memory(prover="p1", semantics="s1") as store:
        store.put(kept)
        store.export(folder / name)
    content = (folder / name).read_bytes()
    at = data.draw(st.integers(0, len(content) - 1))
    cut = data.draw(st.booleans())
    (folder / name).write_bytes(content[:at] if cut else content[:at] + b"\0\0" + content[at + 2 :])
    with Store.in_memory(prover="p1", semantics="s1") as store:
        try:
            imported = store.import_(folder / name, lambda entry: None)
        except StoreError as error:
            assert "exported rules" in str(error) or "in form" in str(error)
            return
        assert all(entry in kept for entry in store.all())
        assert imported.kept == 8 or imported.refused or (cut and name.endswith("l"))


def test_what_is_not_an_export_is_refused(opened, tmp_path):
    store = opened()
    for content in b"", b"[1, 2]\n", b"no json\n", b"[" * 100_000:
        (tmp_path / "wrong.jsonl").write_bytes(content)
        with pytest.raises(StoreError, match="does not hold exported rules"):
            store.import_(tmp_path / "wrong.jsonl", lambda entry: None)
    (tmp_path / "newer.jsonl").write_text('{"format": "samesame rules", "version": 2}\n')
    with pytest.raises(StoreError, match="form 2"):
        store.import_(tmp_path / "newer.jsonl", lambda entry: None)
    with pytest.raises(StoreError, match="No such file"):
        store.import_(tmp_path / "missing.jsonl", lambda entry: None)


def test_an_export_that_cannot_be_written_leaves_nothing(opened, tmp_path):
    store = opened()
    with pytest.raises(StoreError, match="cannot write"):
        store.export(tmp_path / "no" / "such" / "folder.jsonl")
    (tmp_path / "folder").mkdir()
    before = files(tmp_path)
    with pytest.raises(StoreError, match="cannot write"):
        store.export(tmp_path / "folder")
    assert files(tmp_path) == before
