"""Larger numbers than the example's part programs that no proof was found for, unless rounding does."""

from __future__ import annotations

import pytest
import torch

from samesame import check


def saturated(x):
    return torch.sigmoid(torch.tanh(x).cumsum(-1)).prod(-1)


def clipped(x):
    return torch.sigmoid(torch.tanh(x.clamp(-0.6, 0.6)).cumsum(-1)).prod(-1)


def test_a_clip_beyond_the_example():
    torch.manual_seed(0)
    found = check(saturated, clipped, (0.05 * torch.randn(8, 3),))
    assert found.verdict == "different" and found.divergence is not None
    assert any("times as large" in note for note in found.notes)


def test_probabilities_stay_what_they_are():
    found = check(lambda p: p.sqrt().sum(), lambda p: p.clamp(max=1).sqrt().sum(), (torch.rand(3, 4) * 0.1,))
    assert found.verdict == "undecided"



def test_what_is_proved_is_not_tried():
    found = check(lambda x: 1 / (1 / x), lambda x: x * 1, (torch.rand(3, 4) + 2,))
    assert found.verdict == "same"


@pytest.mark.parametrize("left, right", [
    (lambda x: torch.special.ndtr(x[0]) > torch.special.ndtr(x[1]), lambda x: x[0] > x[1]),
    (lambda x: x.sigmoid().cummax(-1)[1], lambda x: x.cummax(-1)[1]),
    (lambda x: (x.exp() / (1 + x.exp())).argmax(-1), lambda x: x.argmax(-1)),
    (lambda x: (x.sigmoid() * 10).long(), lambda x: (x.sigmoid() * 10).long().clamp(max=9)),
    (lambda x: torch.exp(-8 * x.square()).prod(-1).argmax(-1), lambda x: x.square().sum(-1).argmin(-1)),
])
def test_where_floating_point_ends_nothing_is_told(left, right):
    torch.manual_seed(0)
    assert check(left, right, (torch.randn(6, 5),), timeout=20).verdict != "different"


def test_numbers_below_zero_stay_there():
    torch.manual_seed(0)
    given = torch.randn(6, 5), -torch.rand(6, 5) * 0.5 - 0.01
    found = check(lambda a, p: a * p.clamp(max=1).exp(), lambda a, p: a * p.exp(), given, timeout=20)
    assert found.verdict != "different"


class Decoded(torch.nn.Module):
    """Sizes as exponentials, as boxes are decoded; those of new weights are near 1."""

    def __init__(self, most: float) -> None:
        super().__init__()
        self.first, self.last, self.most = torch.nn.Linear(6, 8), torch.nn.Linear(8, 2), most

    def forward(self, x):
        return self.last(self.first(x).relu()).clamp(max=self.most).exp()


@pytest.mark.parametrize("most, said", [(6.0, "different"), (1e6, "undecided")])
def test_a_clip_beyond_what_new_weights_make(most, said):
    torch.manual_seed(0)
    bounded = Decoded(most)
    torch.manual_seed(0)
    found = check(bounded, Decoded(1e5), (3 * torch.randn(8, 6),), timeout=10)
    assert found.verdict == said
    assert any("times as large" in note for note in found.notes) is (said == "different")


def test_equal_programs_that_are_not_proved_stay_so_with_larger_weights():
    class Bell(torch.nn.Linear):
        def forward(self, x):
            return torch.special.ndtr(super().forward(x))

    class Mirrored(torch.nn.Linear):
        def forward(self, x):
            return 1 - torch.special.ndtr(torch.nn.functional.linear(x, -self.weight, -self.bias))

    torch.manual_seed(0)
    bell, other = Bell(6, 8), Mirrored(6, 8)
    other.load_state_dict(bell.state_dict())
    assert check(bell, other, (3 * torch.randn(4, 6),)).verdict != "different"


class Held(torch.nn.Module):
    def __init__(self, weight, function):
        super().__init__()
        self.weight, self.function = torch.nn.Parameter(weight, requires_grad=False), function

    def forward(self, x):
        return self.function(x @ self.weight.float())


def twice_half(t):
    return 2 * torch.atan(t / (1 + torch.sqrt(1 + t**2)))


@pytest.mark.parametrize("scale, function, other, short", [
    (100, torch.atan, twice_half, True),                   # 448 is the largest that it holds
    (1, lambda t: torch.special.ndtri(torch.special.ndtr(3 * t)), lambda t: 3 * t, False),
    (1, lambda t: torch.atan(torch.exp(4 * t) * (torch.exp(-4 * t) + 1) - torch.exp(4 * t)),
     lambda t: twice_half(1 + 0 * t), False),
])
def test_what_larger_weights_make_of_rounding_is_no_difference(scale, function, other, short):
    torch.manual_seed(1)
    weight = (torch.randn(4, 3) * scale).to(torch.float8_e4m3fn if short else torch.float32)
    found = check(Held(weight.float(), function), Held(weight, other), (torch.rand(2, 4) / scale,), timeout=10)
    assert found.verdict != "different"
