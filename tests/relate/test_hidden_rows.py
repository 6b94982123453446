"""A mask that hides a row whole, or a length of 0: where programs part on it, the headline says so."""

import pytest
import torch

from samesame import check

KEPT = torch.tensor([[1, 1, 0, 0, 1], [1, 0, 0, 1, 0], [1, 1, 1, 1, 0]])
X = torch.randn(3, 5, 4)


def mean(x, mask):
    """No number for a row of which nothing is left."""
    shown = mask.to(x.dtype)[..., None]
    return (x * shown).sum(1) / shown.sum(1)


def mean_or_zero(x, mask):
    shown = mask.to(x.dtype)[..., None]
    return torch.where(shown.sum(1) > 0, (x * shown).sum(1) / shown.sum(1).clamp(min=1), 0.0)


@pytest.mark.parametrize("mask", [KEPT.bool(), KEPT.float(), KEPT], ids=["bool", "float", "int"])
def test_that_a_row_is_hidden_whole_is_in_the_headline_where_one_program_asks_for_it(mask):
    assert not torch.equal(mean(X, 0 * mask), mean_or_zero(X, 0 * mask))
    verdict = check(mean, mean_or_zero, (X, mask))
    word = "False" if mask.dtype == torch.bool else "0"
    assert verdict.verdict == "same" and f"if no row of mask is {word} throughout" in verdict.only


def test_a_mask_that_says_what_is_left_out_is_hidden_by_ones():
    verdict = check(lambda x, m: mean(x, ~m), lambda x, m: mean_or_zero(x, ~m), (X, ~KEPT.bool()))
    assert "if no row of m is True throughout" in verdict.only


def test_nothing_is_said_where_both_programs_do_the_same_there():
    for f in mean, mean_or_zero:
        verdict = check(f, lambda x, mask, f=f: f(2 * x, mask) / 2, (X, KEPT.bool()))
        assert verdict.verdict == "same" and verdict.only == []


def test_a_mask_of_one_row():
    verdict = check(lambda x, m: mean(x[None], m[None]), lambda x, m: mean_or_zero(x[None], m[None]),
                    (X[0], KEPT[0].bool()))
    assert verdict.verdict == "same" and "if m is not False throughout" in verdict.only


def test_a_count_of_nothing():
    """Both take the sum over as many as are given; one has a number where that is none."""
    def plain(x, n):
        return x / n[:, None]

    def guarded(x, n):
        return torch.where(n[:, None] == 0, 0.0, x / n[:, None])

    x, n = torch.randn(3, 5), torch.tensor([3, 5, 2])
    assert not torch.equal(plain(x, 0 * n), guarded(x, 0 * n))
    verdict = check(plain, guarded, (x, n))
    assert verdict.verdict == "different" or "if no element of n is 0" in verdict.only


TOKENS, PLACES = torch.tensor([[1, 2, 0, 3, 1], [4, 0, 2, 1, 0], [3, 1, 2, 2, 0]]), torch.tensor([0, 2, 1, 3, 2, 0])


def of_segments(divisor):
    def segment_mean(v, i):
        total, count = (torch.zeros(4).index_add(0, i, part) for part in (v, torch.ones_like(v)))
        return total / divisor(count)

    return segment_mean


def down(f):
    """The same over the first dimension, of which a mask may leave nothing, too."""
    return lambda x, m: f(x.transpose(0, 1), m.transpose(0, 1))


@pytest.mark.parametrize("f, g, inputs, told", [
    (lambda x, t: mean(x, t != 0), lambda x, t: mean_or_zero(x, t != 0), (X, TOKENS), "if no row of t is 0 throughout"),
    (of_segments(lambda n: n), of_segments(lambda n: n.clamp(min=1)), (torch.randn(6), PLACES),
     "if i leaves out no number from 0 to its largest"),
    (down(mean), down(mean_or_zero), (X, KEPT.bool()), "if no line along dimension 0 of m is False throughout"),
    (lambda s, t: s.masked_fill(t == 0, -torch.inf).logsumexp(-1) * 0, lambda s, t: s.sum(-1) * 0,
     (torch.randn(3, 5), TOKENS), "if no row of t is 0 throughout"),
], ids=["tokens", "segments", "columns", "zero times infinity"])
def test_what_is_hidden_by_numbers_and_places_and_in_other_directions(f, g, inputs, told):
    verdict = check(f, g, inputs)
    assert verdict.verdict == "different" or told in verdict.only           # a draw may have hidden some already
