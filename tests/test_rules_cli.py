"""`samesame rules` shows, proves again, hands over and forgets what a store holds."""

from __future__ import annotations

import dataclasses
import json

import pytest
from typer.testing import CliRunner

from samesame.cli import rules as command
from samesame.store import Entry, Store


def rule(number: int, **changes) -> Entry:
    evidence = {"rung": "proved for all sizes", "method": "normal form", "detail": f"by step {number}"}
    found = Entry(f"{number:x}" * 64, {"n": number}, evidence, "p1", "s1", "ab")
    return dataclasses.replace(found, **changes)


def reprove(entry: Entry) -> Entry | str:
    """Rule 3 is false."""
    return "its sides differ" if entry.body["n"] == 3 else dataclasses.replace(entry, prover="p1", stale=False)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "rules.sqlite"
    with Store.open(path, prover="p1", semantics="s1") as store:
        store.put([rule(1), rule(2), rule(3), rule(4, prover="p0")])
    return path


@pytest.fixture
def rules(path, monkeypatch):
    monkeypatch.setattr(command, "versions", lambda: ("p1", "s1"))
    monkeypatch.setattr(command, "reprover", lambda: reprove)
    monkeypatch.setattr(command, "in_full", lambda entry: json.dumps(entry.body))

    def run(*arguments: str, answer: str = "", store=path) -> tuple[int, str]:
        result = CliRunner().invoke(command.app, [*arguments, "--store", str(store)], input=answer)
        return result.exit_code, result.output

    return run


def test_list_has_a_line_for_each_rule(rules):
    code, out = rules("list")
    assert code == 0
    assert "111111111111  proved for all sizes  normal form  by step 1" in out
    assert "444444444444  proved for all sizes  normal form  by step 4  stale, of p0 and s1" in out
    assert "4 rules in" in out


def test_show_takes_the_beginning_of_a_key(rules):
    code, out = rules("show", "22")
    assert code == 0 and '"n": 2' in out and '"n": 1' not in out
    code, out = rules("show", "99")
    assert code == 2 and "no rule" in out


def test_verify_proves_everything_again_and_removes_what_is_false(rules, path):
    code, out = rules("verify")
    assert code == 1
    assert "rule 333333333333 is removed: its sides differ" in out and "3 rules proved again, 1 removed" in out
    with Store.open(path, prover="p1", semantics="s1") as store:
        assert [(entry.body["n"], entry.stale) for entry in store.all()] == [(1, False), (2, False), (4, False)]
    assert rules("verify")[0] == 0


def test_rules_are_handed_over_but_not_the_false_ones(rules, tmp_path):
    file, other = str(tmp_path / "rules.jsonl.gz"), tmp_path / "other.sqlite"
    code, out = rules("export", file)
    assert code == 0 and "4 rules written" in out
    code, out = rules("import", file, store=other)
    assert code == 1
    assert "is refused: its sides differ" in out and "3 rules imported, 1 refused" in out
    with Store.open(other, prover="p1", semantics="s1") as store:
        assert {entry.body["n"] for entry in store.all()} == {1, 2, 4}


def test_clear_asks_first(rules):
    assert rules("clear", answer="n\n")[0] != 0
    assert "1 rule forgotten" in rules("clear", "--stale", "--yes")[1]
    assert "3 rules forgotten" in rules("clear", answer="y\n")[1]


def test_a_store_that_cannot_be_opened_is_one_sentence(rules, tmp_path):
    code, out = rules("list", store=tmp_path)
    assert code == 2 and "is a folder; name a file" in out
