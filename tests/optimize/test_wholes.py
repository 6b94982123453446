"""Forms that are portions of one tensor are printed as views of it; numbers are printed so that they can be read."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch

from optimize.test_partition import Differences, Streamed
from optimize.test_reassociation import written
from samesame import check
from samesame.capture import capture
from samesame.evidence import Rung
from samesame.optimize.algebra import specified
from samesame.optimize.emit.torch_ops import source
from samesame.optimize.emit.variables import needs_two_steps


def printed(program: Callable[..., Any], *inputs: torch.Tensor) -> str:
    """The program's own form in torch's operators."""
    specification = specified(program, inputs, capture(program, inputs))
    return source(specification, [root.form for root in specification.roots()])


def ends(x: torch.Tensor) -> torch.Tensor:
    """The first rows and the last, far from one another."""
    y = x.exp()
    return y[:2] * y[-2:]


def mirrored(x: torch.Tensor) -> torch.Tensor:
    """Rows that are read across, and in part along: no portions of one tensor."""
    y = x.exp()
    return y[1:, :4] + y[:4, 1:].T


def nested(x: torch.Tensor) -> torch.Tensor:
    """A portion within a portion."""
    y = x.exp()
    z = (y[1:] - y[:-1]).sin()
    return torch.cat([z[2:], z[:2]]) * y[1:]


STREAM = torch.rand(3, 11, 13) + 1, torch.rand(11, 13) > 0.7
CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], str, int]] = {    # how often it has an operator
    "cells around a torus": (Streamed(), STREAM, ".sum(", 1),
    "differences of rows": (Differences(), (torch.randn(40, 9),), ".sum(", 1),
    "two ends": (ends, (torch.randn(40, 9),), "torch.exp(", 2),
    "across and along": (mirrored, (torch.randn(5, 5),), "torch.exp(", 1),
    "within one another": (nested, (torch.randn(7, 3),), "torch.exp(", 1),
}


@pytest.mark.parametrize(("program", "inputs", "operator", "number"), CASES.values(), ids=CASES)
def test_a_whole_is_computed_once(
    program: Callable[..., Any], inputs: tuple[torch.Tensor, ...], operator: str, number: int, tmp_path: Path
) -> None:
    text = printed(program, *inputs)
    assert text.count(operator) == number, text
    found = check(program, written(text, tmp_path), inputs)
    assert found.verdict == "same" and found.evidence >= Rung.PROVED_HERE


def test_a_quotient_that_no_float_tells_is_made_in_two_steps(tmp_path: Path) -> None:
    def scored(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return ((2 * x * y + 0.0001) * (2 * y + 0.0009) / (x * x + 1)).mean((1, 2))

    inputs = torch.rand(2, 102, 306), torch.rand(2, 102, 306)
    text = printed(scored, *inputs)
    found = check(scored, written(text, tmp_path), inputs)
    assert found.verdict == "same" and found.evidence >= Rung.PROVED_HERE


QUOTIENTS = {                            # whether they need two steps
    Fraction(7, 93636): True, Fraction(11, 31212 * 7): True, Fraction(5, 31212 * 7): False,    # 1/43696.8 is read
    Fraction(1, 65025): False, Fraction(5, 3): False, Fraction(9, 10**8): False, Fraction(1, 3) * 10**40: False,
}


@pytest.mark.parametrize("value", QUOTIENTS, ids=str)
def test_what_is_made_in_one_step_is_read_as_it_is(value: Fraction) -> None:
    assert needs_two_steps(value) is QUOTIENTS[value]


def outer(x: torch.Tensor) -> torch.Tensor:
    """Portions of a symmetric product, longer than any axis of the inputs is."""
    return (x[1:, None] * x[None, :-1]).sin() + (x[:-1, None] * x[None, 1:]).sin()


def summed(x: torch.Tensor, a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """And of one that is as long as an axis of another input."""
    z = (a[:, None] + a[None]).sin()
    return z[2:] * z[1:5], x + 1


def gram(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = y.T @ y
    return z[2:] * z[1:5] + x[0, 0]


SYMMETRIC: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "an outer product": (outer, (torch.rand(40),)), "a sum": (summed, (torch.rand(5), torch.rand(6))),
    "a Gram matrix": (gram, (torch.rand(5, 6), torch.rand(5, 6))),
}


@pytest.mark.parametrize(("program", "inputs"), SYMMETRIC.values(), ids=SYMMETRIC)
def test_portions_of_what_is_symmetric_are_printed(
    program: Callable[..., Any], inputs: tuple[torch.Tensor, ...], tmp_path: Path
) -> None:
    fast = written(printed(program, *inputs), tmp_path)
    torch.testing.assert_close(fast(*inputs), program(*inputs))


def test_results_have_memory_of_their_own(tmp_path: Path) -> None:
    def twice(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.exp(), x.exp(), x.exp().T.clone(), x.exp()[1:].clone()

    x = torch.randn(6, 1)
    results = written(printed(twice, x), tmp_path)(x)
    assert len({result.untyped_storage().data_ptr() for result in results}) == 4
    for result, expected in zip(results, twice(x), strict=True):
        torch.testing.assert_close(result, expected)


def affinities(x: torch.Tensor) -> torch.Tensor:
    a = x.softmax(0)
    return a @ a.T


def squared(x: torch.Tensor) -> torch.Tensor:
    a = x.softmax(-1)
    return (a * a).sum(-1) + a[:, 0] * a[:, 0]


@pytest.mark.parametrize("program", [affinities, squared])
def test_a_softmax_that_is_a_factor_twice_is_divided_twice(program: Callable[..., Any], tmp_path: Path) -> None:
    x = torch.randn(6, 5)
    torch.testing.assert_close(written(printed(program, x), tmp_path)(x), program(x))
