"""What a tensor that is made on the way owes: what is read of it was written, and nothing else."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.lift import LiftVerdict, lift

FILE = Path(__file__).parent.parent / "launches" / "owed.py"


@cache
def lifted(name: str, against: str = "") -> LiftVerdict:
    return lift(f"{FILE}:launch_{name}", against=f"{FILE}:{against}" if against else None)


def states(name: str, kernel: int) -> dict[str, str]:
    return {o.name: o.state for o in lifted(name).kernels[kernel].obligations}


@pytest.mark.parametrize("name", ["narrower", "splits"])
def test_what_nobody_reads_need_not_be_written(name):
    assert lifted(name).verdict == "verified"


def test_a_reader_with_the_writers_mask_is_the_same_as_the_reference():
    found = lifted("masked", "joined")
    assert found.verdict == "verified" and found.against == "same"
    coverage = next(o for o in found.kernels[0].obligations if o.name == "coverage")
    assert coverage.detail == "every element of mid that is read later is written"


@pytest.mark.parametrize(
    "name", ["one_more", "splits_one_more", "next_row", "longer_meanwhile", "longer_by_the_host", "read_by_the_host"]
)
def test_a_read_of_what_nobody_wrote_is_violated_where_a_result_hangs_on_it(name):
    found = lifted(name)
    assert found.verdict == "violated" and states(name, 0)["coverage"] == "violated"
    coverage = next(o for o in found.kernels[0].obligations if o.name == "coverage")
    assert coverage.detail == "an element of mid is read and not written, and a result changes with it"


def test_masks_by_other_data_prove_nothing():
    assert lifted("other_lengths").verdict != "verified" and states("other_lengths", 0)["coverage"] != "proved"


def test_who_reads_first_reads_nothing_that_was_written():
    assert lifted("read_first").verdict == "violated"


def test_all_of_what_is_returned_is_owed():
    assert states("returned", 0)["coverage"] == "violated"


def test_what_is_read_and_dropped_is_open():
    assert lifted("read_and_dropped").verdict == "undecided"


def test_sums_that_nobody_reads_are_open():
    assert lifted("added_to").verdict == "undecided"  # right, but it is not shown that nobody reads them


def test_undefined_values_that_nobody_reads_violate_nothing():
    assert lifted("padded").verdict == "undecided" and states("padded", 0)["undefined"] == "undecided"
    assert lifted("padded_and_read").verdict == "violated"
