"""What has to divide a size is found, said in the user's words, and helps nothing that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import Size, const, index, substitute
from samesame.formula.sizes import value_at
from samesame.kernels.indices import integers
from samesame.kernels.indices.ranges import greatest
from samesame.kernels.obligations import not_all
from samesame.lift import lift, tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "divided.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


def test_a_group_has_to_divide_the_row_and_the_headline_says_so() -> None:
    found = KERNELS.kernel("groups")
    assert found.verdict == "verified" and "N mod 16 = 0" in found.headline, KERNELS.open("groups")
    assert len(KERNELS.texts("groups")) == 2 and KERNELS.error("groups") < 1e-6


@pytest.mark.parametrize("name", ["groups_left_over", "every_other_group"])
def test_no_contract_makes_up_for_what_is_not_written(name: str) -> None:
    assert KERNELS.kernel(name).verdict == "violated", KERNELS.states(name)
    assert "mod" not in KERNELS.kernel(name).headline


def test_halves_are_the_reference_at_every_even_size() -> None:
    found = lift(KERNELS.target("halves"), f"{KERNELS.file}:halves")
    assert (found.verdict, found.against, found.against_held) == ("verified", "same", []), found.against_detail
    assert "D mod 2 = 0" in found.kernels[0].headline


def test_halves_in_turns_are_another_function_at_sizes_of_the_launch() -> None:
    found = lift(KERNELS.target("halves_turned"), f"{KERNELS.file}:halves")
    case = found.against_counterexample
    assert found.against == "different" and case is not None and case["sizes"] == {"M": 5, "D": 84}


def test_sizes_without_a_name_are_told_by_the_tensor() -> None:
    assert "x.shape[0] ≥ 2" in KERNELS.kernel("unnamed").headline, KERNELS.kernel("unnamed").headline


def test_heads_that_share_a_key_are_told_where_groups_are_even() -> None:
    found = lift(KERNELS.target("heads"), f"{KERNELS.file}:heads")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert "H mod KV = 0" in found.kernels[0].preconditions


@pytest.mark.long
def test_heads_that_share_the_next_key_read_beyond_the_last() -> None:
    assert KERNELS.kernel("heads_of_the_next").verdict != "verified"


def test_the_greatest_value_of_a_number_with_quotients_is_one() -> None:
    D, P, K, B = (Size(name, 2) for name in "DPKB")
    i, j = index(B), index(integers.times_(P, K))
    number = integers.plus_(integers.times_(integers.times_(D, K), i), integers.times_(D, integers.quotient(j, P)))
    for e in (number, integers.times_(number, -1), integers.minus(integers.quotient(j, P), i)):
        most = greatest(e)
        assert most is not None
        for sizes in ({"D": 2, "P": 3, "K": 2, "B": 4}, {"D": 5, "P": 2, "K": 3, "B": 2}):
            values = [{i: const(a), j: const(b)} for a in range(sizes["B"]) for b in range(sizes["P"] * sizes["K"])]
            assert max(value_at(substitute(e, v), sizes) for v in values) == value_at(most, sizes)


def test_a_report_ends_with_what_is_wrong() -> None:
    found = lift(KERNELS.target("halves_turned"), f"{KERNELS.file}:halves")
    assert found.headline == "different" and found.kernels[0].verdict == "verified"


def test_what_is_open_is_said_in_a_sentence() -> None:
    N = Size("N", 2)
    i = index(N)
    untold = "it is not shown that every element of out is written"
    assert not_all("out", (i,), integers.less(i, 5)) == f"{untold}: out[i] is if i ≤ 4"
    assert not_all("out", (i,), integers.less(index(N), 5)) == untold


def test_a_grid_that_forgets_the_last_tile_is_violated_where_nobody_says_that_there_is_none() -> None:
    assert KERNELS.kernel("doubled").verdict == "violated", KERNELS.open("doubled")
    found = KERNELS.kernel("doubled_in_tiles")
    assert found.verdict == "verified" and "n mod 32 = 0" in found.headline
