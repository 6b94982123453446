"""What a headline says of sizes is true: programs that part at some size are not proved there, and bounds are no
narrower than they are."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from promises.size_pairs import PARTINGS, Parting, numbers
from samesame import check
from samesame.certificate.replay import Broken, digest, replay
from samesame.evidence import Rung, SamesameError, Verdict
from samesame.formula.region import Condition, Region
from samesame.formula.sizes import decoded
from samesame.report.json import to_json
from samesame.report.terminal import headline, plain_text


@pytest.mark.parametrize("pair", PARTINGS, ids=[pair.name for pair in PARTINGS])
def test_where_two_programs_part_nothing_is_proved(pair: Parting) -> None:
    verdict = check(pair.left, pair.right, pair.example)
    assert not verdict.covers(pair.parts), verdict.sizes
    assert "for all sizes" not in plain_text(verdict).split("\n\n")[0]


# ------------------------------------------------------------------------------------------- as wide as it truly is


def branch(x):
    return x * 2 if x.shape[1] > 64 else x + x


def padded(x):
    return F.pad(x, (0, 0, 0, 3 - x.shape[1] % 3)) if x.shape[1] % 3 else x


def asserting(x):
    assert x.shape[0] == x.size(0) and x.shape[1] <= 1024, "too long"
    if x.shape[0] > 1:
        x = x + 0
    return x * 2


def looked_up(table):
    return lambda x: x + F.embedding(torch.arange(x.shape[1]), table)


def attended(x):
    return F.scaled_dot_product_attention(x, x, x, is_causal=True)


def attended_by_hand(x):
    mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return (x @ x.mT / math.sqrt(x.shape[-1])).masked_fill(~mask, -math.inf).softmax(-1) @ x


TABLE = numbers((64, 6))

# Programs that are the same everywhere: left, right, and the headline's region of x: [2, 5, 6].
TRUE = {
    "every size": (lambda x: x * 2, lambda x: x + x, "B ≥ 2, T ≥ 2 and D ≥ 2"),
    "a size in a number": (lambda x: x.mean(1), lambda x: x.sum(1) / x.shape[1], "B ≥ 2, T ≥ 2 and D ≥ 2"),
    "a size in a shape": (lambda x: x.flatten(1), lambda x: x.reshape(x.shape[0], -1), "B ≥ 2, T ≥ 2 and D ≥ 2"),
    "a root of a size": (lambda x: x / x.shape[-1] ** 0.5, lambda x: x / math.sqrt(x.size(-1)),
                         "B ≥ 2, T ≥ 2 and D ≥ 2"),
    "an assertion": (lambda x: x * 2, asserting, "B ≥ 2, 2 ≤ T ≤ 1024 and D ≥ 2"),
    "a branch": (lambda x: x * 2, branch, "B ≥ 2, T ≥ 2 and D ≥ 2; 2 cases"),
    "a slice to the end": (lambda x: x[:, 1:] + 0, lambda x: x[:, -(x.shape[1] - 1) :] + 0, "B ≥ 2, T ≥ 2 and D ≥ 2"),
    "a slice of a size": (lambda x: x[:, : x.shape[1]] + 0, lambda x: x * 1, "B ≥ 2, T ≥ 2 and D ≥ 2"),
    "a table": (looked_up(TABLE), lambda x: F.embedding(torch.arange(x.shape[1]), TABLE) + x,
                "B ≥ 2 and 2 ≤ T ≤ 64, with x.shape[2] = 6"),
    "printing": (lambda x: x * 2, lambda x: (print(x.shape), x + x)[1], "B ≥ 2, T ≥ 2 and D ≥ 2"),
    "its length": (lambda x: x.new_ones(len(x)).sum() + x, lambda x: x + len(x),
                   "2 ≤ B ≤ 16777216, T ≥ 2 and D ≥ 2"),        # a count in float32
    "a shape taken apart": (lambda x: x.permute(2, 0, 1).reshape(x.shape[2], -1),
                            lambda x: x.reshape(math.prod(x.shape[:-1]), -1).T, "B ≥ 2, T ≥ 2 and D ≥ 2"),
}


@pytest.mark.parametrize("claim", TRUE)
def test_what_is_the_same_is_said_as_widely_as_it_holds(claim: str) -> None:
    left, right, region = TRUE[claim]
    verdict = check(left, right, {"x": numbers((2, 5, 6))})
    assert verdict.verdict == "same" and verdict.evidence is Rung.PROVED, verdict.sizes
    assert verdict.sizes.spoken() == region


def test_causal_attention_is_the_same_for_every_size() -> None:
    verdict = check(attended, attended_by_hand, {"x": numbers((2, 5, 6))})
    assert verdict.evidence is Rung.PROVED and verdict.covers({"x": (7, 100, 30)})


# ------------------------------------------------------------------------------------------------ what a verdict says


@pytest.fixture(scope="module")
def cropping() -> Verdict:
    return check(lambda x: x.sum(1), lambda x: x[:, :64].sum(1), {"x": numbers((2, 5, 6))})


def test_programs_that_differ_just_beyond_a_bound_are_different_and_the_sizes_are_named(cropping: Verdict) -> None:
    assert (cropping.verdict, cropping.exit_code) == ("different", 1)
    headline = " ".join(plain_text(cropping).split("\n\n")[0].split())
    assert headline.startswith("different the outputs differ at x.shape[1] = 65; the same, proved for every B ≥ 2, "
                               "2 ≤ T ≤ 64 and D ≥ 2")


def test_a_verdict_covers_what_was_proved_and_nothing_else(cropping: Verdict) -> None:
    assert cropping.covers({"x": (9, 64, 3)}) and cropping.covers((numbers((3, 7, 6)),))
    assert cropping.covers({"x": numbers((3, 7, 6))})
    assert not cropping.covers({"x": (9, 65, 3)}) and not cropping.covers({"x": (1, 5, 6)})
    assert not cropping.covers({"x": (9, 64)})
    with pytest.raises(SamesameError, match="the inputs are x; give tensors"):
        cropping.covers({"y": (9, 64, 3)})


def test_the_region_is_data_in_json(cropping: Verdict) -> None:
    sizes = json.loads(json.dumps(to_json(cropping)))["sizes"]
    assert sizes["apart"] == "x.shape[1] = 65" and sizes["not_followed"] == []
    form = sizes["region"]
    conditions = tuple(Condition(op, decoded(left), decoded(right)) for op, left, right in form["conditions"])
    region = Region({name: (low, high) for name, (low, high) in form["bounds"].items()}, conditions)
    assert region.holds({"B": 2, "T": 64, "D": 2}) and not region.holds({"B": 2, "T": 65, "D": 2})


def test_what_is_held_is_in_the_headline() -> None:
    model = nn.Linear(6, 4)
    same = check(model, lambda input: F.linear(input, model.weight) + model.bias, {"input": numbers((3, 6))})
    assert "proved for every B ≥ 2, with input.shape[1] = 6" in " ".join(plain_text(same).split())


def _squared_wave(x):
    n = x.shape[-1]
    wave = torch.cos(2 * math.pi * 2 * torch.arange(n) / n) ** 2
    return (x[:, :1] * torch.ones(n) * wave).sum(-1)


def _at_its_own_sizes(x):
    assert tuple(x.shape) == (3, 6)
    return _squared_wave(x)


@pytest.mark.parametrize(("left", "right", "sizes"), [
    (_squared_wave, lambda x: x[:, 0] * 0.5 * x.shape[-1], ", for every B ≥ 2, with x.shape[1] = 6 ("),
    (_squared_wave, lambda x: x[:, 0] * [0.5, 1.0][int(x.shape[0]) // 99] * x.shape[-1],
     ", for sizes like those run: B ∈ {3, 4, 5, 7}, x.shape[1] = 6 ("),
    (_at_its_own_sizes, lambda x: x[:, 0] * 0.5 * x.shape[-1], ", at these sizes ("),
], ids=["region", "lost", "here"])
def test_what_rounding_explains_is_said_of_the_sizes_that_were_proved(left, right, sizes) -> None:
    """At 4 columns the wave is 1 everywhere, and the two differ."""
    four = {"x": numbers((3, 4))}
    assert _squared_wave(**four).allclose(four["x"][:, 0] * 4)
    verdict = check(left, right, {"x": numbers((3, 6))})
    assert verdict.evidence is Rung.ROUNDED
    assert f"every output the same up to the rounding of stored numbers{sizes}" in headline(verdict).plain


def test_where_a_size_is_lost_the_headline_says_sizes_like_those_run_and_where() -> None:
    verdict = check(lambda x: x * 1, lambda x: x * [1.0, 2.0][int(x.shape[0]) // 99], {"x": numbers((3,))})
    assert (verdict.verdict, verdict.evidence) == ("same", Rung.PROVED_ALIKE)
    text = " ".join(plain_text(verdict).split())
    assert "proved for sizes like those run: B ∈ {2, 3, 4, 5, 7}" in text and "calls int() on a size" in text
    (ran, *_), beyond = [p["B"] for p in verdict.sizes.points], {"x": (98,)}
    assert verdict.covers({"x": (ran,)}) and not verdict.covers(beyond)


def test_a_certificate_claims_the_region_and_no_more() -> None:
    model = nn.Linear(6, 4)

    def limited(input):
        assert input.shape[0] <= 32
        return F.linear(input, model.weight) + model.bias

    form = check(model, limited, {"input": numbers((3, 6))}, certify=True).certificate
    assert form is not None and any("for every 2 ≤ B ≤ 32" in line for line in replay(form)[0])
    wider = {**form, "region": {"bounds": {"B": [1, None]}, "conditions": []}}
    wider["seal"] = digest({k: v for k, v in wider.items() if k != "seal"})
    with pytest.raises(Broken, match="wider than what is proved"):
        replay(wider)
