"""Two outputs that are zero, but for rounding, are the same zero: what is left of them tells nothing."""

from __future__ import annotations

import pytest
import torch

from samesame import check


class Centred(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - x.mean(-1, keepdim=True)).sum(-1)


class Subtracted(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(-1) - x.mean(-1) * x.shape[-1]


class Nothing(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.zeros(x.shape[0])


class Almost(torch.nn.Module):
    """As small as rounding is, but made of its input."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - x + 1e-15 * x).sum(-1)


@pytest.mark.parametrize("right", [Subtracted, Nothing])
def test_what_rounding_leaves_of_zero_is_no_difference(right: type[torch.nn.Module]) -> None:
    found = check(Centred(), right(), (torch.randn(4, 7),))
    assert (found.verdict, found.sizes.varying) == ("same", ("B = x.shape[0] ≥ 2", "T = x.shape[1] ≥ 2"))


@pytest.mark.parametrize("left", [Centred, Nothing])
def test_a_small_number_is_no_rounding(left: type[torch.nn.Module]) -> None:
    assert check(left(), Almost(), (torch.randn(4, 7),)).verdict == "different"


def test_the_gradient_of_what_a_norm_takes_out() -> None:
    def of(normed):
        class Gradient(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.up = torch.nn.Linear(3, 4)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.autograd.grad((normed(self.up(x)) ** 3).sum(), self.up.bias)[0]

        return Gradient()

    def by_hand(y: torch.Tensor) -> torch.Tensor:
        y = y - y.mean(-1, keepdim=True)
        return y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-5)

    left, right = of(lambda y: torch.nn.functional.layer_norm(y, (4,))), of(by_hand)
    right.load_state_dict(left.state_dict())
    assert check(left, right, (torch.randn(5, 3),)).verdict == "same"
