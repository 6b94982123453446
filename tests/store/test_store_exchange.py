"""Rules leave a store as a file of lines and come into another; what has no valid evidence stays out."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.store import Entry, Store, StoreError
from store_samples import files, rule

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
