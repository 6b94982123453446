"""Functions that several results take are taken once; what is made of tensors, or joined to one, lies as they do."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
import torch
from test_native import several
from test_partition import cut
from torch import nn

from samesame import check
from samesame.optimize.emit.variables import decimals
from samesame.optimize.forms import Form, walk
from samesame.optimize.partition import Stage


def functions(stages: list[Stage], name: str) -> int:
    """How many stages take this function."""
    return sum(any(x.operator == "fn" and x.attributes == (name,) for x in walk(stage.whole)) for stage in stages)


class Greeks(nn.Module):
    """A price and its derivatives: logarithms, densities and distributions of the same numbers."""

    def forward(
        self, spot: torch.Tensor, strike: torch.Tensor, vol: torch.Tensor, q: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        s, root = spot[:, None], math.sqrt(2)
        d = torch.log(s / strike) / vol
        price = s * 0.5 * torch.erfc(-d / root) - 0.5 * strike * torch.erfc((vol - d) / root)
        delta = 0.5 * torch.erfc(-d / root)
        gamma = torch.exp(-0.5 * d * d) / math.sqrt(2 * math.pi) / (s * vol)
        vega = 0.5 * s * torch.exp(-0.5 * d * d) / math.sqrt(2 * math.pi)
        return torch.stack([price, delta, gamma, vega]) @ q, price


def book() -> tuple[torch.Tensor, ...]:
    return torch.rand(24) + 0.5, torch.rand(40) + 0.5, torch.rand(40) + 0.2, torch.randn(40)


def test_what_prices_and_derivatives_take_is_taken_once() -> None:
    stages = cut(Greeks(), *book())
    assert [functions(stages, name) for name in ("log", "exp", "erfc")] == [1, 1, 2]
    for result, expected in zip(*several(Greeks(), book()), strict=True):
        torch.testing.assert_close(result, expected, rtol=2e-5, atol=2e-6)


def test_what_one_result_takes_is_no_tensor() -> None:
    class One(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return torch.log(x) * torch.log(x).exp(), x * 2

    stages = cut(One(), torch.rand(24, 40) + 0.5)
    assert {stage.target for stage in stages} == {"result 0", "result 1"}


def test_of_a_function_within_another_one_is_kept_where_all_take_the_larger() -> None:
    class Two(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            y = torch.log(x).sin()
            return y * x, y + 1

    stages = cut(Two(), torch.rand(24, 40) + 0.5)
    assert functions(stages, "sin") == functions(stages, "log") == 1 and len(stages) == 3


def test_a_result_that_is_such_a_function_is_read() -> None:
    class Itself(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return torch.tanh(x), 3 * torch.tanh(x)

    stages = cut(Itself(), torch.randn(24, 40))
    assert functions(stages, "tanh") == 1 and len(stages) == 2


@pytest.mark.parametrize("function", [torch.erfc, torch.special.erfc])
def test_the_complement_of_erf_keeps_its_small_values(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    class Tail(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return function(x) * 2

    x = torch.linspace(-4, 9, 4096)
    ((result,), (expected,)) = several(Tail(), (x,))
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-44)


def test_decibels_and_densities_are_proved() -> None:
    x, root = (torch.rand(7) + 0.5,), math.sqrt(2 * math.pi)
    pairs = [
        (lambda x: 10 ** (torch.log10(x) / 20), lambda x: x**0.05),
        (lambda x: x * 10 ** ((-16 - 10 * torch.log10(x)) / 20), lambda x: x * 10**-0.8 * torch.rsqrt(x)),
        (lambda x: torch.log10(5 * x), lambda x: 1 + (x / 2).log() / math.log(10)),
        (lambda x: x / root / 4, lambda x: x * (0.25 / root)),
        (lambda x: 3 * x * root, lambda x: x / (1 / root) * 3),
        (lambda x: math.exp(0.3712) / (math.exp(0.3712) + 1 / x), lambda x: torch.sigmoid(0.3712 + x.log())),
    ]
    for left, right in pairs:
        assert check(left, right, x).verdict == "same"
    for left, right in ((pairs[0][0], pairs[1][1]), (lambda x: x * 10**0.3, lambda x: x * 10**0.3001)):
        assert check(left, right, x).verdict == "different"


@pytest.mark.parametrize("value", [1 / Fraction(math.sqrt(2 * math.pi)), Fraction(-1, 4) / Fraction(math.sqrt(7)),
                                   Fraction(3, 7), Fraction(5, 8), Fraction(1, 3) * Fraction(math.pi)])
def test_a_quotient_is_written_as_floats_that_are_its_parts(value: Fraction) -> None:
    above, below = decimals(value)
    assert Fraction(float(above)) / Fraction(float(below)) == value or value.denominator >= 2**53


class Aggregated(nn.Module):
    """A linear layer of what a node is and what arrives at it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(24, 48)

    def forward(self, x: torch.Tensor, arrived: torch.Tensor) -> torch.Tensor:
        return self.linear(1.1 * x + arrived).relu()


class Decoded(nn.Module):
    """Scores of a query with a cache and a new key, and what they take of the same."""

    def __init__(self) -> None:
        super().__init__()
        self.key = nn.Linear(24, 32)

    def forward(self, x: torch.Tensor, q: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
        every = torch.cat([cache, self.key(x)[:, None]], 1)
        return torch.softmax(torch.einsum("bhd,btd->bht", q, every), -1) @ every


def written(stages: list[Stage], holds: Callable[[Form], bool]) -> Stage:
    (found,) = (stage for stage in stages if not stage.folds and holds(stage.value))
    return found


def test_an_operand_of_two_tensors_is_kept_for_many_columns() -> None:
    given = torch.randn(40, 24), torch.randn(40, 24)
    stages = cut(Aggregated().eval(), *given)
    mixed = written(stages, lambda value: value.operator == "plus")
    assert [stage.target for stage in stages if mixed.target in stage.reads] == ["result 0"]
    ((result,), (expected,)) = several(Aggregated().eval(), given)
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)


def test_a_cache_and_what_is_added_lie_as_the_cache_does() -> None:
    given = torch.randn(2, 24), torch.randn(2, 4, 32), torch.randn(2, 63, 32)
    stages = cut(Decoded().eval(), *given)
    every = written(stages, lambda value: value.operator == "concat")
    (cache,) = (x for x in every.value.arguments if x.operator == "load" and x.attributes[0] == "cache")
    assert every.axes[-1] == cache.axes[-1] or cache.attributes[-1].axis == every.axes[-1]
    ((result,), (expected,)) = several(Decoded().eval(), given)
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("function", [torch.sin, torch.cos])
def test_waves_of_many_turns_are_as_exact_as_of_few(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    class Wave(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return function(x) * 1.0

    generator = torch.Generator().manual_seed(0)
    ends = torch.tensor([1.0, 9e3, 1.1e4, 3e5, 1e7, 1e9, 3e9, 1e30])
    x = ends[:, None] * (2 * torch.rand(8, 515, generator=generator) - 1)
    x[0, :4] = torch.tensor([math.inf, -math.inf, math.nan, 0.0])
    x[5, :3] = torch.tensor([math.inf, math.nan, -0.0])
    ((result,), _) = several(Wave(), (x,))
    torch.testing.assert_close(result.double(), function(x.double()), rtol=0, atol=1.3e-7, equal_nan=True)


class Turned(nn.Module):
    """Complex numbers as pairs: both parts take the same exponential."""

    def forward(self, r: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return torch.stack([torch.exp(r) * t.cos(), torch.exp(r) * t.sin()], -1)


class Gated(nn.Module):
    """Two linear layers of what a gate lets through, and of what it does not."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(24, 48), nn.Linear(24, 48)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        gate = torch.sigmoid(x)
        return self.a(gate * y), self.b((1 - gate) * y)


class Skipped(nn.Module):
    """A gate that is one number."""

    def forward(self, x: torch.Tensor, y: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        gate = torch.sigmoid(t)
        return x * gate + y * (1 - gate)


def test_numbers_beside_one_another_are_made_together() -> None:
    assert [stage.target for stage in cut(Turned(), torch.randn(24, 40), torch.randn(24, 40))] == ["result 0"]


def test_what_a_gate_lets_through_is_kept_before_a_linear_layer() -> None:
    given = torch.randn(40, 24), torch.randn(40, 24)
    stages = cut(Gated().eval(), *given)
    products = [stage for stage in stages if stage.folds]
    assert len(products) == 2 and all(len(stage.reads) == 3 for stage in products)         # operand, weight, bias
    for result, expected in zip(*several(Gated().eval(), given), strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)


def test_a_function_of_one_number_is_taken_once_and_ends() -> None:
    given = torch.randn(8, 16), torch.randn(8, 16), torch.randn(1)
    ((result,), (expected,)) = several(Skipped(), given)
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-6)


def test_a_cache_that_lies_turned_round_is_joined_so() -> None:
    class Turned(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.key = nn.Linear(24, 32)

        def forward(self, x: torch.Tensor, q: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
            return torch.softmax(torch.einsum("bhd,bdt->bht", q, torch.cat([cache, self.key(x)[:, :, None]], 2)), -1)

    stages = cut(Turned().eval(), torch.randn(2, 24), torch.randn(2, 4, 32), torch.randn(2, 32, 63))
    every = written(stages, lambda value: value.operator == "concat")
    assert every.axes[-1] == every.value.attributes[0]


def test_what_a_row_and_a_part_of_another_take_has_all_its_axes() -> None:
    class Joined(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            e = torch.log(torch.exp(0.3 * x) + 0.5)
            s, k = torch.logsumexp(e, 0), torch.stack([x, e], 0)
            return torch.where(s > k, s, 0.5 * k), torch.cat([e, x], 0)

    for result, expected in zip(*several(Joined(), (torch.randn(24, 40),)), strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)
