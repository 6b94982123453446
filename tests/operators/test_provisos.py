"""What ordinary values break stands in the headline: at 0, signbit(-x) is true and x > 0 is not."""

from __future__ import annotations

import pytest
import torch

from samesame import check
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
