"""A large number as a mask's value is named, and not read as −∞; the least number of a dtype is."""

import pytest
import torch

from samesame import check


@pytest.mark.parametrize(("number", "named"), [(-1e9, True), (-1e4, True), (torch.finfo(torch.float32).min, False)])
def test_a_large_number_is_no_infinity(number, named):
    def masked(scores, kept):
        return scores.masked_fill(~kept, number).softmax(-1)

    def left_out(scores, kept):
        return torch.where(kept, scores, -torch.inf).softmax(-1)

    kept = torch.ones(4, 5, dtype=torch.bool).tril(2)
    verdict = check(masked, left_out, (torch.randn(4, 5), kept))
    assert verdict.verdict == ("undecided" if named else "same")
    assert any("Where −∞ is meant" in note for note in verdict.notes) == named
