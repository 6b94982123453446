"""A damaged store, or a file that is none: what is left is read, nothing is lost or taken in silence."""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.store import Store, StoreError
from samesame.store.pages import PAGE
from store_samples import Content, assert_only_the_damage_is_lost, files, rule

FORK = multiprocessing.get_context("fork")


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_truncated_at_any_byte(data, sound, tmp_path_factory):
    length = data.draw(st.integers(0, len(sound)))
    assert_only_the_damage_is_lost(tmp_path_factory.mktemp("cut"), sound, Content(sound[:length]))


@settings(max_examples=18, deadline=None)
@given(data=st.data())
def test_garbage_at_any_offset(data, sound, tmp_path_factory):
    garbage = data.draw(st.binary(min_size=1, max_size=64)) * data.draw(st.sampled_from([1, 10, 200]))
    at = data.draw(st.integers(0, len(sound) - 1))
    damaged = (sound[:at] + garbage + sound[at + len(garbage) :])[: len(sound)]
    assert_only_the_damage_is_lost(tmp_path_factory.mktemp("garbage"), sound, Content(damaged))


@settings(max_examples=30, deadline=None)
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
