"""Regions that are proved one by one are said at once where they leave no size out, and never where one is missing."""

from __future__ import annotations

import json
import sys

import pytest
import torch
from torch import nn

from promises.size_pairs import numbers
from samesame import check
from samesame.evidence import Verdict
from samesame.report.json import to_json
from samesame.report.terminal import plain_text


def doubled(x):
    return x * 2


def deciding(ask, *ways):
    """A program that doubles x in the way that the sizes of x pick."""
    return lambda x: (ways or (lambda x: x + x, lambda x: 3 * x - x, lambda x: 4 * x - 2 * x))[ask(*x.shape)](x)


EXAMPLE = {"x": numbers((2, 5))}

# What a program decides on the sizes of x: [2, 5], and the headline's region where all ways compute the same.
JOINED = {
    "two bounds in a chain": (lambda b, t: (t > 8) + (t > 64), "B ≥ 2 and T ≥ 2; 3 cases"),
    "below the example": (lambda b, t: t < 4, "B ≥ 2 and T ≥ 2; 2 cases"),
    "bounds of two sizes": (lambda b, t: (b > 8) + (t > 64), "B ≥ 2 and T ≥ 2; 4 cases"),
    "a sum of sizes": (lambda b, t: b + t > 20, "B ≥ 2 and T ≥ 2; 2 cases"),
    "a product of sizes": (lambda b, t: b * t > 64, "B ≥ 2 and T ≥ 2; 2 cases"),
    "remainders": (lambda b, t: 2 if t % 3 == 0 else t % 3 == 1, "B ≥ 2 and T ≥ 2; 3 cases"),
    "a quotient": (lambda b, t: t // 7 == 1, "B ≥ 2 and T ≥ 2; 3 cases"),
    "a maximum": (lambda b, t: max(t, 8) > 8, "B ≥ 2 and T ≥ 2; 3 cases"),
    "one size": (lambda b, t: t == 64, "B ≥ 2 and T ≥ 2; 2 cases"),
}


QUICK = ("two bounds in a chain", "a product of sizes", "remainders", "one size")


@pytest.mark.parametrize("claim", [c if c in QUICK else pytest.param(c, marks=pytest.mark.long) for c in JOINED])
def test_what_is_proved_in_every_region_is_said_of_all_together(claim: str) -> None:
    ask, region = JOINED[claim]
    verdict = check(doubled, deciding(ask), EXAMPLE)
    assert verdict.verdict == "same" and verdict.sizes.spoken() == region
    assert all(verdict.covers({"x": shape}) for shape in [(2, 2), (9, 65), (40, 7), (3, 3), (2, 64), (3000, 4)])


@pytest.mark.long
def test_each_side_may_have_bounds_of_its_own() -> None:
    left, right = deciding(lambda b, t: t > 8), deciding(lambda b, t: t > 12)
    assert check(left, right, EXAMPLE).sizes.spoken() == "B ≥ 2 and T ≥ 2; 3 cases"


@pytest.mark.long
def test_a_neighbour_of_one_size_only_is_a_case() -> None:
    verdict = check(doubled, deciding(lambda n: n == 64), {"x": numbers((5,))})
    assert verdict.sizes.spoken() == "B ≥ 2; 2 cases"


# ---------------------------------------------------------------------------------------------- what is not joined


def raising(x):
    if x.shape[1] > 8:
        raise ValueError("too long")
    return x + x


class Norms(nn.Module):
    """Two fresh norms hold equal numbers; only one is used in short rows."""

    def __init__(self, other: bool) -> None:
        super().__init__()
        self.first, self.second, self.other = nn.LayerNorm(6), nn.LayerNorm(6), other

    def forward(self, x):
        return self.second(x) if x.shape[0] > 8 and self.other else self.first(x)


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        if x.shape[1] > 8:
            self.calls += 1
        return x + x


def with_gradients(x):
    return x * 3 if x.shape[1] > 8 and torch.is_grad_enabled() else x + x


def by_fours(x):
    reach = 4
    while reach < x.shape[1]:
        reach += 4
    return x + x


NOT_JOINED = {
    "one side raises": (doubled, raising, "2 ≤ T ≤ 8", "At x.shape[1] = 9 ", "ValueError: too long"),
    "a large example": (doubled, deciding(lambda b, t: t > 10**6), "T ≤ 1000000", "At x.shape[1] = 1000001 ", "large"),
    "another state": (doubled, Counting(), "2 ≤ T ≤ 8", "At x.shape[1] = 9 ", "a second call"),
    "another mode": (doubled, with_gradients, "2 ≤ T ≤ 8", "At x.shape[1] = 9 ", "ask there for a state"),
    "a size gets lost": (doubled, deciding(lambda b, t: t > 8 and int(t) > 0), "T ≤ 8", "At x.shape[1] = 9 ", "int()"),
}


@pytest.mark.parametrize("case", NOT_JOINED)
def test_what_is_not_proved_is_not_joined_and_a_note_says_why(case: str) -> None:
    left, right, bound, where, why = NOT_JOINED[case]
    verdict = check(left, right, EXAMPLE)
    assert verdict.verdict == "same" and bound in verdict.sizes.spoken() and not verdict.sizes.cases
    assert any(note.startswith(where) and why in note for note in verdict.notes)


@pytest.mark.long
def test_a_weight_of_equal_numbers_that_only_a_neighbour_uses_is_no_other_weight() -> None:
    verdict = check(Norms(False), Norms(True), {"x": numbers((5, 6))})
    assert not verdict.covers({"x": (9, 6)}) and verdict.covers({"x": (8, 6)})


@pytest.mark.long
def test_of_regions_without_end_some_are_tried() -> None:
    verdict = check(doubled, by_fours, EXAMPLE)
    low, high = verdict.sizes.region.bounds["T"]
    assert low in (2, 5) and high in (8, 12, 16, 20)        # as far as time allows
    assert any("neighbouring regions of sizes were tried" in note for note in verdict.notes)


def test_sizes_are_not_tried_one_by_one() -> None:
    verdict = check(doubled, deciding(lambda b, t: t > 8 and int(t) > 10), EXAMPLE)
    assert verdict.sizes.region.bounds["T"][1] <= 10
    assert any("neighbouring regions of sizes were tried" in note for note in verdict.notes)


def test_without_time_for_neighbours_the_claim_stays_and_a_note_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["samesame.check"], "SECONDS", -1000.0)
    verdict = check(doubled, deciding(lambda b, t: t > 8), EXAMPLE)
    assert "2 ≤ T ≤ 8" in verdict.sizes.spoken() and "Only 0 neighbouring regions of sizes were tried." in verdict.notes


# ------------------------------------------------------------------------------------------------ where they differ


@pytest.fixture(scope="module")
def wrong_far_away() -> Verdict:
    ways = deciding(lambda b, t: (t > 8) + (t > 16), doubled, lambda x: x + x, lambda x: x * 3)
    return check(doubled, ways, EXAMPLE)


def test_a_difference_beyond_a_neighbour_is_found(wrong_far_away: Verdict) -> None:
    assert (wrong_far_away.verdict, wrong_far_away.exit_code) == ("different", 1)
    headline = " ".join(plain_text(wrong_far_away).split("\n\n")[0].split())
    assert "differ at x.shape[1] = 17; the same, proved for every B ≥ 2 and 2 ≤ T ≤ 16; 2 cases" in headline
    assert wrong_far_away.covers({"x": (2, 16)}) and not wrong_far_away.covers({"x": (2, 17)})


def test_cases_are_data_and_each_says_the_line_that_bounds_it(wrong_far_away: Verdict) -> None:
    first, second = json.loads(json.dumps(to_json(wrong_far_away)))["sizes"]["cases"]
    assert first["region"]["bounds"]["T"] == [2, 8] and second["region"]["bounds"]["T"] == [9, 16]
    assert first["bounds"][0].startswith("T ≤ 8: ") and "one case is B ≥ 2 and 9 ≤ T ≤ 16" in plain_text(wrong_far_away)


def test_conditions_of_every_case_are_listed() -> None:
    verdict = check(lambda x: x / x * x, lambda x: x * 1 if x.shape[1] > 8 else x / x * x, EXAMPLE)
    assert verdict.sizes.spoken() == "B ≥ 2 and T ≥ 2; 2 cases"
    assert list(map(str, verdict.sizes.cases[1].conditions)) == ["x[i, j] ≠ 0"]
    assert "x[i, j] ≠ 0" in " ".join(plain_text(verdict).split("conditions used")[1].split())


def test_a_certificate_is_of_one_region() -> None:
    verdict = check(doubled, deciding(lambda b, t: t > 8), EXAMPLE, certify=True)
    assert verdict.certificate is not None and verdict.sizes.spoken() == "B ≥ 2 and 2 ≤ T ≤ 8"
