"""Entries for rule stores, and what must be left of a store whose file was damaged."""

from __future__ import annotations

from pathlib import Path

from samesame.store import Entry, Store, StoreError
from samesame.store.entry import to_row
from samesame.store.pages import PAGE

SIZES = (40, 300, 1500, 3500, 5000, 20_000)          # characters of a body: many rows a page, many pages a row


def rule(number: int, *, size: int = 0, prover: str = "p1", semantics: str = "s1", rung: int = 4) -> Entry:
    """A rule whose body says its number all over, so that one can see on which pages it stands."""
    token = f"<rule {number}>"
    text = token * (1 + (size or SIZES[number % len(SIZES)]) // len(token))
    evidence = {"rung": rung, "conditions": ["x0 ≠ 0"], "seconds": 0.25}
    return Entry(f"{number:064x}", {"text": text, "sizes": ["n", 2]}, evidence, prover, semantics, f"{number % 5:064x}")


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


class Content(bytes):
    """The bytes of a file, without showing them all when a test fails."""

    def __repr__(self) -> str:
        return f"<{len(self)} bytes>"


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
