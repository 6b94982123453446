"""One program keeps a table of what the other makes, element by element, of what it looks up in a table of its own."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from promises.rounding_pairs import Program
from samesame import check
from samesame.evidence import Rung

DICE = torch.Generator().manual_seed(0)
KEPT = torch.cumprod(1.0 - torch.linspace(1e-4, 0.02, 30), 0)
ROWS = torch.randn(9, 4, generator=DICE)


def noised(noise):
    """Signal and noise of a diffusion step, from the products of a schedule or from roots that are kept."""
    left = Program(lambda m, x, e, t: m.kept[t].view(-1, 1) ** 0.5 * x + (1 - m.kept[t]).sqrt()[:, None] * e,
                   kept=KEPT.clone())
    right = Program(lambda m, x, e, t: m.signal[t][:, None] * x + m.noise[t][:, None] * e,
                    signal=KEPT.sqrt(), noise=noise(KEPT))
    inputs = *(torch.randn(3, 4, generator=DICE) for _ in range(2)), torch.tensor([2, 17, 29])
    return left, right, inputs


def embedded(rows):
    """Rows of an embedding, through a function of each number."""
    left = Program(lambda m, x, t: x * torch.sigmoid(m.rows[t]), rows=nn.Parameter(ROWS.clone()))
    right = Program(lambda m, x, t: x * m.rows[t], rows=nn.Parameter(rows(ROWS)))
    return left, right, (torch.randn(3, 4, generator=DICE), torch.tensor([1, 8, 5]))


SAME = {"a schedule": noised(lambda kept: (1 - kept).sqrt()), "an embedding": embedded(torch.sigmoid)}
DIFFERENT = {
    "another root": noised(lambda kept: (1 - kept * 1.001).sqrt()),
    "one step further": noised(lambda kept: (1 - kept.roll(1)).sqrt()),
    "rows in another order": embedded(lambda rows: rows.sigmoid().flip(0)),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_a_table_is_read_as_what_is_made_of_rows_of_another(pair):
    verdict = check(*pair)
    assert verdict.verdict == "same" and verdict.evidence is Rung.ROUNDED


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_a_table_of_something_else_is_a_difference(pair):
    assert check(*pair).verdict == "different"


def posterior_mean(before):
    """The mean of a diffusion step, by the image that is predicted; `before` makes the products of the steps before."""
    def left(x, e, t):
        beta = torch.linspace(1e-4, 0.02, 10, dtype=torch.float64)
        alpha = 1 - beta
        kept = alpha.cumprod(0)
        earlier = before(kept)
        clean = (1 / kept).sqrt()[t] * x - (1 / kept - 1).sqrt()[t] * e
        return (beta * earlier.sqrt() / (1 - kept))[t] * clean + ((1 - earlier) * alpha.sqrt() / (1 - kept))[t] * x

    def right(x, e, t):
        beta = torch.linspace(1e-4, 0.02, 10, dtype=torch.float64)
        alpha = 1 - beta
        return (x - beta[t] / (1 - alpha.cumprod(0)).sqrt()[t] * e) / alpha.sqrt()[t]

    x, e = (torch.randn(3, generator=DICE, dtype=torch.float64) for _ in range(2))
    return left, right, (x, e, torch.tensor([2, 0, 6]))


def one_first(kept):
    return torch.cat([torch.ones(1, dtype=torch.float64), kept[:-1]])


def test_a_schedule_that_is_made_of_numbers_is_worked_out_at_each_step():
    """Its products are roots of products of primes of five digits."""
    assert check(*posterior_mean(one_first)).verdict == "same"
    for mistaken in (lambda kept: kept.roll(1), lambda kept: kept):
        assert check(*posterior_mean(mistaken)).verdict == "different"
