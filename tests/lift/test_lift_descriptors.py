"""Tensor descriptors: blocks cut off at the edges, read and written; how memory must be aligned is a precondition."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.lift import lift

FILE = Path(__file__).parent.parent / "launches" / "descriptors.py"
KERNELS = Lifted(FILE)
FORMULAS = {  # of kernels that are verified
    "scaled": ["out[i, j] = 2·x[i, j]"],
    "sums": ["out[i] = Σ_{j<n} x[i, j]"],
    "added": ["out[i] = Σ_{j<m} x[j, i]"],
    "planes": ["out[i, j, k] = 2·x[i, j, k]"],
}
OPEN = {  # the obligations that must not be proved
    "scaled_unaligned": {"bounds": "undecided"},
    "scaled_too_few": {"coverage": "violated"},
    "scaled_beyond": {"bounds": "violated"},
    "sums_of_nothing": {"undefined": "violated"},
    "shifted": {"bounds": "undecided"},
}


@pytest.mark.parametrize("name", FORMULAS)
def test_it_is_verified_and_its_formula_is(name: str) -> None:
    assert KERNELS.kernel(name).verdict == "verified", KERNELS.open(name)
    assert KERNELS.texts(name) == FORMULAS[name]


@pytest.mark.parametrize("name", FORMULAS)
def test_rows_begin_at_multiples_of_16_bytes(name: str) -> None:
    assert "n mod 4 = 0" in KERNELS.kernel(name).demands
    assert "x begins at a multiple of 16 bytes" in KERNELS.kernel(name).preconditions


@pytest.mark.parametrize("name", ["scaled", "sums"])     # Triton's interpreter knows no atomic operation on descriptors
def test_the_formula_is_what_the_interpreter_stores(name: str) -> None:
    assert KERNELS.error(name) < 1e-6
    assert KERNELS.error(name, {"m": 3, "n": 20}) < 1e-6


@pytest.mark.parametrize("name", OPEN)
def test_what_is_wrong_is_not_accepted(name: str) -> None:
    states = KERNELS.states(name)
    assert {obligation: states[obligation] for obligation in OPEN[name]} == OPEN[name], KERNELS.open(name)


@pytest.mark.parametrize("name", ["sums", "added"])
def test_sums_of_cut_off_blocks_are_torchs(name: str) -> None:
    assert lift(KERNELS.target(name), f"{FILE}:reference_{name}").against == "same"
