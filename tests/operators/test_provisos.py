"""What ordinary values break stands in the headline: at 0, signbit(-x) is true and x > 0 is not."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as attention

from samesame import check
from samesame.operators.ideal import EMPTY_ROWS
from samesame.report import headline
from samesame.report.json import to_json

X = torch.randn(3, 5, generator=torch.Generator().manual_seed(0))
ROW = torch.arange(6.0) + X[0, 0]
SIGN = "if a zero is positive where signbit asks for its sign"
ANGLE = "if a zero is positive where atan2 asks for its sign"
RISING = "if the rows that {} looks in are in rising order"


@pytest.mark.parametrize(("left", "right", "inputs", "said"), [
    (lambda x: torch.signbit(-x), lambda x: x > 0, (X,), [SIGN]),
    (torch.atan2, lambda y, x: torch.angle(torch.complex(x, y)), (X, X.flip(0)), [ANGLE]),
    (torch.searchsorted, lambda row, x: torch.bucketize(x, row), (ROW, X),
     [RISING.format("searchsorted"), RISING.format("bucketize")]),
], ids=["signbit", "atan2", "rows"])
def test_what_ordinary_values_break_is_in_the_headline(left, right, inputs, said):
    verdict = check(left, right, inputs)
    assert verdict.verdict == "same"
    assert all(told in headline(verdict).plain and told in to_json(verdict)["only"] for told in said)


def test_it_breaks():
    zero = torch.zeros(1)
    assert torch.signbit(-zero) and not zero > 0


@pytest.mark.parametrize(("left", "right"), [
    (lambda x: torch.signbit(x), lambda x: torch.signbit(x * 1)),
    (lambda x: torch.bucketize(x * 2, torch.tensor([0.0, 1.0])),
     lambda x: torch.bucketize(x + x, torch.tensor([0.0, 1.0]))),
], ids=["the same operator", "rows that are seen to rise"])
def test_without_these_nothing_is_said(left, right):
    verdict = check(left, right, (X,))
    assert verdict.verdict == "same" and not verdict.only


# -------------------------------------------------------------------------------------- rows that a mask hides entirely

Q, K, V = torch.randn(3, 1, 2, 4, 8, generator=torch.Generator().manual_seed(0)).unbind()
HIDING = torch.rand(4, 6, generator=torch.Generator().manual_seed(0)) < 0.4
HIDING[:, 0] = False
MASKS = {
    "an input": lambda m: m,
    "what is left": lambda m: ~m,
    "a piece": lambda m: m[:, :4],
    "what is left in a piece": lambda m: ~m[:, :4],
    "a piece of what is left": lambda m: (~m)[:, :4],
    "of numbers": lambda m: m[:, :4].float() < 0.5,
}


def mask_of(way: str) -> torch.Tensor:
    """An input of which the way makes a mask that hides no row."""
    whole = HIDING[:, :4] if way in ("an input", "what is left") else HIDING
    return whole.clone() if way not in ("an input", "a piece") else ~whole


def with_operator(way):
    return lambda q, k, v, m: attention(q, k, v, attn_mask=MASKS[way](m))


def by_hand(way):
    """The same by its definition: where a row is hidden, 0/0."""
    def run(q, k, v, m):
        scores = (q @ k.transpose(-1, -2) / math.sqrt(8)).masked_fill(~MASKS[way](m), -math.inf)
        return torch.softmax(scores, -1) @ v

    return run


def conditions(left, right, way):
    verdict = check(left, right, (Q, K, V, mask_of(way)))
    assert verdict.verdict == "same"
    return {str(one) for root in verdict.roots for one in root.evidence.conditions}


@pytest.mark.parametrize("way", MASKS)
def test_a_row_that_a_mask_hides_is_spoken_of_however_the_mask_is_made(way):
    """Attention gives 0 there, and what it is by definition has no value."""
    hidden = Q, K, V, torch.full_like(mask_of(way), way not in ("an input", "a piece"))
    assert not with_operator(way)(*hidden).any() and by_hand(way)(*hidden).isnan().all()
    assert EMPTY_ROWS in conditions(with_operator(way), by_hand(way), way)


def test_where_both_give_0_there_or_none_is_hidden_nothing_is_said():
    both = conditions(with_operator("a piece of what is left"), with_operator("what is left in a piece"),
                      "what is left in a piece")
    assert EMPTY_ROWS not in both
    causal = check(lambda q, k, v: attention(q, k, v, is_causal=True), lambda q, k, v: torch.softmax(
        (q @ k.transpose(-1, -2) / math.sqrt(8)).masked_fill(~torch.ones(4, 4, dtype=torch.bool).tril(), -math.inf), -1
    ) @ v, (Q, K, V))
    assert causal.verdict == "same"
    assert EMPTY_ROWS not in {str(one) for root in causal.roots for one in root.evidence.conditions}
