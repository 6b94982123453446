"""Laws that hold for most numbers, inside random programs: none is the same where the report says nothing against it.

A law is two spellings of one function of x and y that part somewhere: at zero, below it, at a tie, where a rounding
turns. Both are put into the same small random program. If check calls these the same and prints no condition, they must
agree on hostile numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch

from samesame import check
from samesame.evidence import Verdict

Program = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

LAWS: dict[str, tuple[Program, Program]] = {
    "√x² is x": (lambda x, y: (x * x).sqrt(), lambda x, y: x),
    "log x² is 2 log x": (lambda x, y: (x * x + 0 * y).log(), lambda x, y: 2 * x.abs().log()),
    "√(xy) is √x√y": (lambda x, y: (x * y).abs().sqrt(), lambda x, y: x.abs().sqrt() * y.sqrt()),
    "x/|x| is sign x": (lambda x, y: x / x.abs(), lambda x, y: torch.sign(x)),
    "sign² is 1": (lambda x, y: torch.sign(x) ** 2, lambda x, y: torch.ones_like(x)),
    "round is floor of a half more": (lambda x, y: x.round(), lambda x, y: (x + 0.5).floor()),
    "trunc is floor": (lambda x, y: x.trunc(), lambda x, y: torch.where(x > 0, x.floor(), x.ceil() + 0 * y)),
    "ceil is floor and 1": (lambda x, y: x.ceil(), lambda x, y: x.floor() + 1),
    "fmod is remainder": (lambda x, y: torch.fmod(x, y.abs() + 1), lambda x, y: torch.remainder(x, y.abs() + 1)),
    "remainder by −y": (lambda x, y: torch.remainder(x, y.abs() + 1), lambda x, y: torch.remainder(x, -y.abs() - 1)),
    "div rounds one way": (lambda x, y: torch.div(x, 3, rounding_mode="floor"),
                           lambda x, y: torch.div(x, 3, rounding_mode="trunc")),
    "> is ≥": (lambda x, y: (x > y).float(), lambda x, y: (x >= y).float()),
    "heaviside is > 0": (lambda x, y: torch.heaviside(x, y * 0 + 0.5), lambda x, y: (x > 0).float()),
    "relu' at 0": (lambda x, y: (x > 0).float() * y, lambda x, y: (x >= 0).float() * y),
    "copysign is sign": (lambda x, y: torch.copysign(x, y), lambda x, y: x.abs() * torch.sign(y)),
    "atan2 is atan of x/y": (lambda x, y: torch.atan2(x, y), lambda x, y: torch.atan(x / y)),
    "clamp's limits commute": (lambda x, y: torch.clamp(x, -y.abs(), y.abs() - 1),
                               lambda x, y: torch.maximum(torch.minimum(x, y.abs() - 1), -y.abs())),
    "leaky below": (lambda x, y: torch.nn.functional.leaky_relu(x, 2.0), lambda x, y: torch.maximum(x, 0.5 * x)),
    "hardtanh is tanh near 0": (lambda x, y: x.clamp(-3, 3), lambda x, y: x + 0 * y),
    "max by > picks the first": (lambda x, y: torch.where(x > y, 1.0, 2.0), lambda x, y: torch.where(y >= x, 2.0, 1.0)),
    "x − ⌊x⌋ is frac": (lambda x, y: x - x.floor(), lambda x, y: x.frac()),
    "softplus over its threshold": (lambda x, y: torch.nn.functional.softplus(x, 1, 2.0),
                                    lambda x, y: (1 + x.exp()).log()),
    "elu at a kink": (lambda x, y: torch.nn.functional.elu(x, 2.0), lambda x, y: torch.where(x > -9, torch.where(
        x > 0, x, 2 * x.expm1()), x * 0 - 2)),
    "pow 3/2 twice": (lambda x, y: (x**2) ** 1.5, lambda x, y: x**3),
    "1/(1/x)": (lambda x, y: (1 / (1 / x) > 0).float(), lambda x, y: (x > 0).float() * (x / x)),
    "asin of sin": (lambda x, y: torch.asin(torch.sin(x)), lambda x, y: x),
}
AROUND: list[Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]] = [
    lambda z, x, y: z,
    lambda z, x, y: 2 * z + y,
    lambda z, x, y: torch.where(x > y, z, y),
    lambda z, x, y: z.sum(-1),
    lambda z, x, y: (z - y).exp(),
    lambda z, x, y: torch.relu(z) - x,
    lambda z, x, y: torch.maximum(z, y) * 3,
    lambda z, x, y: (z < y).float() * x,
]
HOSTILE = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0, 7.0, -7.0, 25.0, 1e-3])


def inside(law: Program, around: list[Callable[..., torch.Tensor]]) -> Program:
    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = law(x, y)
        for step in around:
            z = step(z, x, y)
        return z

    return program


def conditions(verdict: Verdict) -> set[str]:
    found = [part.evidence for part in (*verdict.relations, *verdict.roots)]
    return {str(condition) for evidence in found for condition in evidence.conditions}


def part(left: Program, right: Program) -> bool:
    """Do they give different numbers somewhere, or one of them none?"""
    x, y = (grid.double() for grid in torch.meshgrid(HOSTILE, HOSTILE, indexing="ij"))
    x, y = x.reshape(-1, 1), y.reshape(-1, 1)
    a, b = left(x, y), right(x, y)
    return not bool((torch.isclose(a, b, rtol=1e-6, atol=1e-6, equal_nan=True)).all())


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("law", LAWS)
def test_a_wrong_law_is_not_proved_in_a_random_program(law: str, seed: int) -> None:
    rng = random.Random(f"{law} {seed}")
    around = [step for step in AROUND[:3] + rng.sample(AROUND[3:], 1) if rng.random() < 0.5]
    left, right = (inside(side, around) for side in LAWS[law])
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.rand(4, 3, generator=generator) + 0.5, torch.rand(4, 3, generator=generator) + 0.5
    verdict = check(left, right, (x, y))
    assert verdict.verdict != "same" or conditions(verdict) or not part(left, right), verdict.roots
