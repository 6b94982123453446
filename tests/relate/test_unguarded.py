"""A guard that a proof had to leave out is left out first in the next, and no other guard is."""

import torch
from torch.nn import functional as F

from samesame import check
from samesame.operators.ideal import is_ideal
from samesame.relate.prove import Prover

X = torch.randn(3, 4, generator=torch.Generator().manual_seed(0)), torch.rand(3, 4)


def slope(x):
    return torch.func.grad(lambda z: F.softplus(z).sum())(x)


def tried(monkeypatch, left, right):
    """Whether guards are left out at each attempt to prove a claim, without glances; and what the verdict says."""
    seen, outcome = [], Prover._outcome

    def seeing(*given):
        seen.append(is_ideal())
        return outcome(*given)

    monkeypatch.setattr(Prover, "_outcome", seeing)
    monkeypatch.setattr(Prover, "glance", lambda *given, **options: None)
    return seen, check(left, right, X)


def test_what_was_left_out_is_left_out_first(monkeypatch):
    seen, found = tried(monkeypatch, lambda x, y: (slope(x), slope(x + y) * y),
                        lambda x, y: (torch.sigmoid(x), y / (1 + torch.exp(-x - y))))
    assert found.verdict == "same"
    assert seen[:4] == [False, True, True, True]                       # later ones are for all sizes, with a new start


def test_no_other_guard_is_left_out(monkeypatch):
    _, found = tried(monkeypatch, lambda x, y: (slope(x), F.softplus(y, 2.0)),
                     lambda x, y: (torch.sigmoid(x), F.softplus(2 * y) / 2))
    assert found.verdict == "same"
    assert "softplus's slope" in str(found) and "log(1 + exp x)" not in str(found)


def test_the_headline_says_that_a_softplus_is_read_beyond_its_threshold():
    """Above 20 the slope is 1, and what is left of it nothing."""

    def slope(x: torch.Tensor) -> torch.Tensor:
        return torch.func.grad(lambda z: F.softplus(z).sum())(x)

    found = check(lambda x: (1 - slope(x)) * x.exp(), torch.sigmoid, (torch.randn(3, 4),), timeout=20)
    assert found.verdict == "same"
    assert found.only[-1].startswith("if softplus's slope is read above its threshold as below it, 2.1e-09 less")


def test_a_softplus_that_is_far_from_its_line_is_not_read_so():
    found = check(lambda x: F.softplus(x, 1e-9), lambda x: torch.log1p((1e-9 * x).exp()) / 1e-9, (torch.randn(3),),
                  timeout=4)
    assert found.verdict != "same"
