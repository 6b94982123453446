"""Who asks whether a number is one gets others, and who asks whether two are equal does not."""

from __future__ import annotations

import pytest
import torch

from samesame import check

X = (torch.tensor([[-2.5, -0.5, 0.25], [0.75, 1.5, 3.0]]),)
INFINITY = torch.tensor(float("inf"))

ASKING = {
    "x − x is 0": lambda x: torch.where(x - x == 0, x, 0),
    "x − x is not 0": lambda x: torch.where(x - x != 0, 0, x),
    "x is not ∞, in a tensor": lambda x: torch.where(x.abs() != INFINITY, x, 0),
    "x is below ∞": lambda x: torch.where(x.abs() < float("inf"), x, 0),
    "x is itself": lambda x: torch.where(x == x, x, 0),
}


@pytest.mark.parametrize("program", ASKING.values(), ids=ASKING)
def test_who_asks_for_numbers_differs_on_others(program):
    assert check(lambda x: x * 1.0, program, X).verdict == "different"


def clipped(y, x):
    (gradient,) = torch.autograd.grad(y.square().sum(), x)
    return y.detach(), gradient


def by_absolute_values(x):
    x = x.detach().requires_grad_()
    return clipped(0.5 * (x.abs() - (x - 1).abs() + 1), x)


def by_a_minimum(x):
    x = x.detach().requires_grad_()
    return clipped(torch.minimum(torch.relu(x), torch.ones(())), x)


def test_a_gradient_that_asks_for_ties_is_not_asking_for_infinities():
    assert check(by_absolute_values, by_a_minimum, X).verdict != "different"


def test_a_number_and_a_truth_that_are_compared_are_no_question():
    m = X[0] > 0
    assert check(lambda x, m: torch.where(x == m, 1.0, 2.0) + x, lambda x, m: x + torch.where(x != m, 2.0, 1.0),
                 (*X, m)).verdict == "same"


def test_a_mask_beside_numbers_asks_for_nothing():
    def masked(function):
        return lambda x, m: torch.where(x.masked_fill(m, float("-inf")) == 2 * x, 1.0, 0.0) + function(x)

    pair = masked(lambda x: 1 - torch.sigmoid(x)), masked(lambda x: torch.exp(-x) / (1 + torch.exp(-x)))
    assert check(*pair, (*X, X[0] > 0.5)).verdict == "same"


def test_numbers_that_are_exponentials_of_one_another_are_read():
    z, y = 1.3097995858041505, 0.26987413757344925
    assert check(lambda x: (x * z + y) * 2, lambda x: 2 * z * x + 2 * y, X).verdict != "different"
