"""What was tried in vain is remembered by version, is no rule, and is forgotten with the rules."""

from __future__ import annotations

import pytest

from samesame.store import Store
from samesame.store.entry import Entry
from samesame.store.tried import Attempt, Tried

KEY, OTHER = "a" * 64, "b" * 64


@pytest.fixture(params=["file", "memory"])
def store(request, tmp_path) -> Store:
    if request.param == "memory":
        return Store.in_memory(prover="p1", semantics="s1", notice=pytest.fail)
    return Store.open(tmp_path / "rules.sqlite", prover="p1", semantics="s1", notice=pytest.fail)


def test_attempts_come_back_as_they_were_kept(store: Store) -> None:
    assert Tried(store).known == {}
    kept = {KEY: Attempt("left over: ½·x"), OTHER: Attempt("more than 2 seconds", 1.5)}
    Tried(store).keep(kept)
    assert Tried(store).known == kept
    Tried(store).keep({KEY: Attempt("another reason", 0.5)})
    assert Tried(store).known[KEY] == Attempt("another reason", 0.5)


def test_attempts_are_no_rules(store: Store) -> None:
    Tried(store).keep({KEY: Attempt("left over")})
    assert store.is_empty() and store.all() == [] and store.get(KEY) is None


def test_another_version_tries_again(store: Store) -> None:
    Tried(store).keep({KEY: Attempt("left over")})
    for name in ("prover", "semantics"):
        before = getattr(store, name)
        setattr(store, name, "later")
        assert Tried(store).known == {}
        setattr(store, name, before)
    assert KEY in Tried(store).known


@pytest.mark.parametrize("stale_only", [True, False])
def test_clearing_the_rules_forgets_them(store: Store, stale_only: bool) -> None:
    store.put([Entry(KEY, {}, {}, "p1", "s1")])
    Tried(store).keep({KEY: Attempt("left over")})
    store.clear(stale_only=stale_only)
    assert Tried(store).known == {} and len(store.all()) == stale_only


def test_more_time_is_worth_another_attempt_only_where_time_was_short() -> None:
    assert Attempt("left over").covers(1e9)
    assert Attempt("more than 2 seconds", 1.9).covers(2.0)
    assert not Attempt("more than 2 seconds", 1.9).covers(4.0)
    assert not Attempt("more than 2 seconds, of which others took half", 1.0).covers(2.0)
