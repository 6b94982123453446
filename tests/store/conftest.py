"""Stores that are open for one test, and the file of a sound one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from samesame.store import Store
from store_samples import Content, rule


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


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Content:
    """The file of a store with the rules 0 to 59."""
    path = tmp_path_factory.mktemp("sound") / "rules.sqlite"
    with Store.open(path, prover="p1", semantics="s1") as store:
        store.put(rule(number) for number in range(60))
    return Content(path.read_bytes())
