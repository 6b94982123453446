"""Kernels that were met for the first time are read, and what is nearly one of them is not verified."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.evidence import Refused
from samesame.lift import lift, tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "contact.py")
SAME = {
    "row_max": "row_max",
    "again": "again",
    "triton_op": "sine",
    "custom_op": "sine",
    "op_by_name": "sine",
    "rotated": "rotated",
    "pairs": "pairs",
    "nibbles": "nibbles",
    "nibbles_of_words": "nibbles",
    "quantized": "quantized",
    "softmax_in_place": "softmax",
    "masked_mean": "masked_mean",
}


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name", SAME)
def test_it_is_verified_and_what_torch_computes(name: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{SAME[name]}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail


@pytest.mark.parametrize("name", ["row_max", "again", "pairs", "rotated", "nibbles_of_words", "softmax_in_place"])
def test_the_formula_is_what_the_interpreter_stores(name: str) -> None:
    assert KERNELS.error(name) < 1e-5


NEARLY = ["again_behind", "again_more", "again_some", "too_many_pairs", "quantized_too_low", "softmax_one_behind"]


@pytest.mark.parametrize("name", NEARLY)
def test_what_is_nearly_that_is_not_verified(name: str) -> None:
    assert KERNELS.kernel(name).verdict != "verified", KERNELS.states(name)


@pytest.mark.parametrize("name, reference", [
    ("row_max_from_zero", "row_max"),
    ("custom_op", "cosine"),
    ("other_bits", "nibbles"),
    ("quantized_with_padding", "quantized"),
    ("quantized_not_low_enough", "quantized"),
])
def test_it_is_not_what_it_is_not(name: str, reference: str) -> None:
    assert lift(KERNELS.target(name), f"{KERNELS.file}:{reference}").against != "same"


def test_a_reference_that_leaves_elements_unwritten_is_no_reference() -> None:
    with pytest.raises(Refused, match=r"contact\.py:151 makes a tensor of which not every element is written"):
        lift(KERNELS.target("rotated"), f"{KERNELS.file}:rotated_in_part")


def test_a_capacity_of_pairs_is_a_need() -> None:
    assert "N ≤ 65" in KERNELS.kernel("pairs").headline and "H ≤ 32" in KERNELS.kernel("rotated").headline


def test_a_descriptor_of_the_host_is_refused_with_the_line() -> None:
    with pytest.raises(Refused, match=r"contact\.py:\d+ gives described_kernel a tensor descriptor as x, which is not"):
        lift(KERNELS.target("described"))


def test_sizes_that_are_one_or_held_are_told_by_their_tensors() -> None:
    for name, told in (("square", "x.shape[0] = x.shape[1]"), ("looked_up", "x.shape[0] = 37")):
        assert told in KERNELS.kernel(name).headline
