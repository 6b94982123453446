"""Lanes behind the end of a row that are not masked differ, though the example's rows are as long as the tile."""

from __future__ import annotations

from math import inf
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("triton")

import torch

from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.lift import lift
from samesame.lift.draws import sizes_to_try
from samesame.lift.example import Example
from samesame.lift.tried import Tried, is_chosen_alike

FILE = Path(__file__).parents[1] / "launches" / "padding.py"
KERNELS = ("group_norm", "layer_norm", "softmax", "mean", "maximum", "minimum")


def target(name: str) -> str:
    return f"{FILE}:launch_{name}"


@pytest.mark.parametrize("name", KERNELS)
def test_lanes_that_are_not_masked_differ_with_a_case(name: str) -> None:
    verdict = lift(target(f"{name}_not_masked"), f"{FILE}:{name}")
    assert verdict.against == "different", verdict.against_detail
    case = verdict.against_counterexample
    assert case["replayed"] == "yes" and case["run"]["interpreter"] != pytest.approx(case["run"]["torch"], rel=5e-3)


@pytest.mark.parametrize("name", KERNELS)
def test_the_same_with_a_mask_is_the_same(name: str) -> None:
    verdict = lift(target(name), f"{FILE}:{name}")
    assert (verdict.verdict, verdict.against) == ("verified", "same"), verdict.against_detail


def written(name: str) -> dict[str, int]:
    return dict(Example(target(name), None, capture_launches(target(name))).written)


def test_a_number_that_the_host_chooses_is_none_that_it_writes_down() -> None:
    """Each launch has a constant 64, and rows of 64 elements."""
    assert written("chosen") == {} and written("written_down") == {"N": 64}


def test_without_parameters_nobody_says_which_numbers_are_sizes() -> None:
    assert sorted(written("without_parameters").values()) == [50, 64]


def test_rows_differ_at_other_numbers_of_them_though_their_length_is_written_down() -> None:
    verdict = lift(target("largest_of_columns"), f"{FILE}:largest_of_columns")
    assert verdict.against == "different" and verdict.against_counterexample["sizes"]["N"] == 64


def test_a_kernel_is_not_tried_at_sizes_that_its_verdict_leaves_out() -> None:
    """Without a mask it is right for whole tiles alone, and that is said. What erf² is as a gamma function is not
    proved."""
    verdict = lift(target("erf_of_whole_tiles"), f"{FILE}:erf")
    assert "N = 64" in verdict.kernels[0].headline and verdict.kernels[0].verdict == "verified"
    assert verdict.against == "undecided", verdict.against_detail


def test_rows_are_as_short_as_a_tile_can_be_chosen_for() -> None:
    assert 33 in {sizes["N"] for sizes in sizes_to_try({"M": 4, "N": 64}, [], [64])}


def test_normal_numbers_lie_on_the_sides_of_zero_that_are_asked_for() -> None:
    own, run = interpret(target("drawn")), interpret(target("drawn"), sides=(-1, 1, -1))
    assert own.normal == 3, "all but those of rand, and those around one"
    assert torch.equal(run.inputs["x"], -own.inputs["x"].abs() / 4)
    assert torch.equal(run.inputs["last"], -own.inputs["last"].abs() / 4)
    assert all(torch.equal(run.inputs[name], own.inputs[name]) for name in ("scale", "near_one"))


def test_a_run_in_which_all_is_chosen_shows_nothing() -> None:
    own, all_chosen = interpret(target("drawn")), interpret(target("drawn"), sides=(1,))
    assert bool(all_chosen.inputs["chosen"].all()) and not is_chosen_alike(own, all_chosen)
    assert is_chosen_alike(own, interpret(target("drawn"), given={"x": torch.zeros(64)}))


def test_what_is_too_large_on_one_side_of_zero_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    case = {"output": 0, "run": {"element": [0], "interpreter": inf, "torch": 1e40}}
    monkeypatch.setattr(Tried, "difference", lambda *_: case)
    tried = Tried(None, None, None, (), None, None, "")  # type: ignore[arg-type]
    assert tried.shown(None, {}) == case and tried.shown(None, {"sides": (-1,)}) is None


@pytest.mark.parametrize("ttir, after, is_plain", [
    ("tensor<64xf32>", {"out": torch.ones(2)}, True),
    ("tensor<64xbf16>", {"out": torch.ones(2)}, False),
    ("tensor<64xf32>", {"places": torch.tensor([1, 0])}, False),
    ("tensor<64xf32>", {"kept": torch.tensor([3, 4]), "out": torch.ones(2)}, True),
])
def test_kernels_with_short_floats_or_integers_to_store_do_not_run_on_one_side(ttir, after, is_plain) -> None:
    """Long sums of numbers on one side leave nothing but rounding of what they differ by, and zeros tie."""
    before = {"kept": torch.tensor([3, 4]), "out": torch.zeros(2), "places": torch.zeros(2, dtype=torch.int64)}
    run = SimpleNamespace(executions=[SimpleNamespace(before=before, after=after)], outputs={})
    launched = [(None, SimpleNamespace(ttir=ttir))]
    assert Tried(None, None, None, launched, None, None, "").is_plain(run) is is_plain  # type: ignore[arg-type]
