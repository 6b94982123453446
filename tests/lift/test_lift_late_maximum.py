"""Online sums whose running maximum is −∞ for some iterations, as a window hides the first tiles whole."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.formula.expr import ZERO, Fold, Size, index, le, where
from samesame.formula.tensor import leaf
from samesame.kernels.formulas.tight import tight
from samesame.lift import lift

X = leaf("x", (Size("T", 1),))

FILE = Path(__file__).parent.parent / "launches" / "late_maximum.py"


@pytest.mark.parametrize("name", ["plain", "exp2", "masked"])
def test_a_sum_begins_with_its_maximum(name: str) -> None:
    found = lift(f"{FILE}:launch_{name}", f"{FILE}:reference")
    assert found.verdict == "verified" and found.against == "same" and not found.against_held


def test_another_window_differs() -> None:
    assert lift(f"{FILE}:launch_wider", f"{FILE}:reference").against == "different"


def test_a_tile_that_counts_though_it_is_hidden_is_not_the_same() -> None:
    assert lift(f"{FILE}:launch_shown", f"{FILE}:reference").against != "same"


@pytest.mark.parametrize("name", ["one", "kept", "unguarded", "alpha", "weight", "mean", "infinite", "shown"])
def test_nothing_is_verified_where_a_hidden_tile_may_count(name: str) -> None:
    assert lift(f"{FILE}:launch_{name}").verdict != "verified"


def test_an_index_that_is_bound_inside_names_no_point() -> None:
    """There may be no such index, and what holds of each of none is no element."""
    v, n = index(Size("T", 1)), index(Size("N", 0))
    inside = Fold("sum", (n,), where(le(n, v), X[v], ZERO))
    (last,) = tight((v,), inside)
    assert list(last) == [v]
    assert len(list(tight((v,), where(le(n, v), X[v], ZERO)))) == 2
