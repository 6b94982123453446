"""Lanes that are counted, gathered, turned around, joined and split; what lies behind the last one stays undefined."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.kernels.host.versions import leaves_out

KERNELS = Lifted(Path(__file__).parent.parent / "launches" / "lanes.py")
FORMULAS = {  # of kernels that are verified
    "bins": ["out[i] = Σ_{j<n} [x[j] = i]"],
    "gathered": ["out[i, j] = x[i, min{max{which[i, j], 0}, 15}]"],
    "reversed": ["out[i, j] = x[i, n − j − 1]"],
    "reversed_columns": None,
    "woven": None,
    "rotated": None,
}


COUNTS = pytest.mark.skipif(not leaves_out(), reason="this Triton counts numbers that are in no bin, in some bin")


@pytest.mark.parametrize("name", [pytest.param(name, marks=COUNTS if name == "bins" else ()) for name in FORMULAS])
def test_it_is_verified_and_its_formula_is(name: str) -> None:
    assert KERNELS.kernel(name).verdict == "verified", KERNELS.open(name)
    assert FORMULAS[name] in (None, KERNELS.texts(name))


@pytest.mark.parametrize("name, sizes", [
    pytest.param("bins", {"n": 17}, marks=COUNTS),
    ("gathered", {"m": 3}), ("reversed", {"m": 2, "n": 32}), ("reversed_columns", {"m": 2}),
    ("woven", {"n": 33}), ("rotated", {"m": 11}),
])  # fmt: skip
def test_the_formula_is_what_the_interpreter_stores(name: str, sizes: dict[str, int]) -> None:
    assert KERNELS.error(name) < 1e-6
    assert KERNELS.error(name, sizes) < 1e-6


@pytest.mark.parametrize("name, state", [
    ("bins_unmasked", "violated"), ("reversed_late", "violated"), ("gathered_anywhere", "undecided"),
])  # fmt: skip
def test_lanes_that_nobody_filled_are_found(name: str, state: str) -> None:
    assert KERNELS.states(name)["undefined"] == state, KERNELS.open(name)


@pytest.mark.parametrize("name", ["sorted", "greatest"])
def test_sorting_is_named_with_its_line(name: str) -> None:
    (sentence,) = KERNELS.kernel(name).unsupported
    assert "sorting" in sentence and "launches/lanes.py:" in sentence
