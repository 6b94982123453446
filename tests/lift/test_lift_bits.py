"""Bits of words decide what is written, and rows are written back where they were read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.formula.expr import Expr, Where, const, eq, floordiv, index, mod, where
from samesame.formula.tensor import leaf, tensor
from samesame.lift import lift, reference, tried
from samesame.lift.tables import divided_by_tables_equal
from samesame.operators.indexing import index_copy

FILE = Path(__file__).parents[1] / "launches" / "bits.py"


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)
    monkeypatch.setattr(reference, "BUDGET", replace(reference.BUDGET, seconds=1.0))


def test_what_bits_ban_is_what_torch_bans() -> None:
    found = lift(f"{FILE}:launch_banned", f"{FILE}:banned")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail


@pytest.mark.parametrize("name, other", [
    pytest.param("banned_from_the_end", "banned", marks=pytest.mark.long),
    pytest.param("banned", "banned_where_a_bit_is_set", marks=pytest.mark.long),
    ("banned", "banned_in_the_first_rows"),
    pytest.param("banned", "banned_by_the_next_bit", marks=pytest.mark.long),
])
def test_other_bits_and_other_rows_are_not_the_same(name: str, other: str) -> None:
    assert lift(f"{FILE}:launch_{name}", f"{FILE}:{other}").against == "different"


def power(place: Expr, base: int = 2, places: int = 8) -> Expr:
    """base^place for a place below `places`, case by case."""
    chosen: Expr = const(base ** (places - 1))
    for at in reversed(range(places - 1)):
        chosen = where(eq(place, at), base**at, chosen)
    return chosen


@pytest.mark.parametrize("other, proved", [
    (lambda j: power(mod(j, 8)), True),
    (lambda j: power(mod(j + 1, 8)), False),
    (lambda j: power(mod(j, 8), base=3), False),
    (lambda j: power(7 - mod(j, 8)), False),
])
def test_quotients_by_tables_are_the_same_at_the_same_place_of_one_table(other, proved) -> None:
    x = leaf("x", (100,), "int")
    tables = lambda j: power(mod(j, 8)), other
    sides = [tensor((100,), lambda j, by=by: floordiv(x[j], by(j)), "int") for by in tables]
    assert hasattr(divided_by_tables_equal(*sides, budget=reference.BUDGET), "conditions") == proved


def test_a_row_that_is_written_back_is_the_row_that_was_read() -> None:
    x, keep = leaf("x", (20, 5)), leaf("keep", (8, 5), "bool")
    places = tensor((8,), lambda k: 2 * k, "int")
    rows = tensor((8, 5), lambda k, j: where(keep[k, j], x[places[k], j], 7), "real")
    i, j = index(20), index(5)
    found = index_copy(x, 0, places, rows)[i, j]
    assert isinstance(found, Where) and found.then is const(7) and found.otherwise is x[i, j]
    others = tensor((8, 5), lambda k, j: where(keep[k, j], x[k, j], 7), "real")
    other = index_copy(x, 0, places, others)[i, j]
    assert isinstance(other, Where) and other.then is not const(7)
