"""Atomic maxima, minima and sums over all programs, in whichever order; what depends on the order is not told."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.lift import lift

FILE = Path(__file__).parent.parent / "launches" / "atomics.py"
KERNELS = Lifted(FILE)
FORMULAS = {  # of kernels that are verified
    "extremes": ["most[i] = max_{j<n} x[j]", "least[i] = min_{j<n} x[j]"],
    "extremes_from_zero": ["most[i] = max{0, max_{j<n} x[j]}", "least[i] = min{0, min_{j<n} x[j]}"],
    "columns": ["out[i] = max{0, max_{j<m} x[j, i]}"],
    "whole_columns": ["out[i] = max{0, max_{j<m} x[j, i]}"],
    "natural": ["out[i] = max{0, max_{j<n} x[j]}"],
    "apart": None,
    "counts": None,
}
OPEN = {  # the obligations that must not be proved
    "extremes_from_nothing": {"undefined": "violated"},
    "unmasked_columns": {"bounds": "violated"},
    "undefined_columns": {"undefined": "violated"},
    "together": {"race": "violated"},
    "returned": {"undefined": "undecided"},
    "totals": {"overflow": "undecided"},
}
UNSUPPORTED = {
    "by_hand": "floats are written as integers",
    "natural_as_signed": "the atomic operation max of u32",
    "stored_bits": "floats are written as integers",
    "loaded_bits": "floats as integers",
    "swapped": "a compare-and-swap",
    "exchanged": "the atomic operation exch",
    "joined_bits": "the atomic operation or",
}


@pytest.mark.parametrize("name", FORMULAS)
def test_it_is_verified_and_its_formula_is(name: str) -> None:
    assert KERNELS.kernel(name).verdict == "verified", KERNELS.open(name)
    assert FORMULAS[name] in (None, KERNELS.texts(name))


@pytest.mark.parametrize("name", FORMULAS)
def test_the_formula_is_what_the_interpreter_stores(name: str) -> None:
    assert KERNELS.error(name) < 1e-6
    assert KERNELS.error(name, {"n": 17}) < 1e-6


@pytest.mark.parametrize("name", OPEN)
def test_what_is_wrong_is_not_accepted(name: str) -> None:
    states = KERNELS.states(name)
    assert {obligation: states[obligation] for obligation in OPEN[name]} == OPEN[name], KERNELS.open(name)


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_is_not_supported_is_named_with_its_line(name: str) -> None:
    (sentence,) = KERNELS.kernel(name).unsupported
    assert UNSUPPORTED[name] in sentence and "launches/atomics.py:" in sentence


def test_of_a_part_the_formula_speaks_of_a_part() -> None:
    """Fewer programs than blocks: the maximum is over what they read, and of nothing it is what was there before."""
    assert "n // 16" in KERNELS.texts("extremes_of_a_part")[0] or "⌊n / 16⌋" in KERNELS.texts("extremes_of_a_part")[0]
    assert KERNELS.texts("extremes_of_a_part")[0].endswith("else −∞}")


def test_a_maximum_over_programs_is_torchs() -> None:
    assert lift(KERNELS.target("columns"), f"{FILE}:reference_columns").against == "same"
    assert lift(KERNELS.target("columns"), f"{FILE}:reference_columns_of_minus_one").against == "different"


def test_rows_are_added_where_data_says_but_those_of_padding() -> None:
    """The row of padding is one of the table's, so that its number is no exception from the range of the others."""
    launch = f"{FILE}:launch_rows_to_their_tokens"
    found = lift(launch, f"{FILE}:reference_rows_to_their_tokens")
    assert found.verdict == "verified" and found.against == "same", found.against_detail
    assert "0 ≤ ids[…] < vocab" in found.kernels[0].preconditions
    assert lift(launch, f"{FILE}:reference_all_rows_to_their_tokens").against == "different"
