"""Draws on which rounding decides refute nothing; whatever else parts there does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from samesame import check
from samesame.capture import capture
from samesame.evidence import Rung
from samesame.relate.noise import Noise, rounding_decides

Program = Callable[..., torch.Tensor]
RAYS = torch.randn(16, 24).abs(), torch.sort(2 + 4 * torch.rand(16, 24)).values, torch.randn(16, 3)


def rendered(density: torch.Tensor, depth: torch.Tensor, rays: torch.Tensor) -> torch.Tensor:
    """Light that reaches a camera from points in order of depth; out of order it grows beyond all bounds."""
    steps = torch.cat([depth.diff(), torch.full_like(depth[:, :1], 1e10)], -1) * rays.norm(dim=-1)[:, None]
    alpha = 1 - torch.exp(-density.relu() * steps)
    through = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
    return (alpha * through).sum(-1)


def rewritten(density: torch.Tensor, depth: torch.Tensor, rays: torch.Tensor, more: float = 1e-10) -> torch.Tensor:
    """Its exponents are multiplied in another order."""
    steps = torch.cat([depth[:, 1:] - depth[:, :-1], torch.full_like(depth[:, :1], 1e10)], -1) * density.relu()
    alpha = 1 - torch.exp(rays.square().sum(-1).sqrt().neg()[:, None] * steps)
    through = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + more], -1), -1)[:, :-1]
    return torch.einsum("nk,nk->n", alpha, through)


def test_what_grows_beyond_all_bounds_is_no_difference() -> None:
    found = check(rendered, rewritten, RAYS)
    assert (found.verdict, found.evidence) == ("same", Rung.PROVED)


def test_another_number_in_it_is() -> None:
    assert check(rendered, lambda *given: rewritten(*given, more=1.0001e-4), RAYS).verdict == "different"


PAIRS: dict[str, tuple[Program, Program, float, bool]] = {     # at which values rounding decides
    "large angles, in another order": (lambda x, y: (x * y * 3e9).sin(), lambda x, y: (3e9 * y * x).sin(), 15.0, True),
    "and twice as much": (lambda x, y: (x * y * 3e9).sin(), lambda x, y: 2 * (3e9 * y * x).sin(), 15.0, False),
    "small ones": (lambda x, y: (x * y * 3).sin(), lambda x, y: (3 * y * x).sin(), 0.1, False),
    "another epsilon": (lambda x, y: x / (y + 1e-5), lambda x, y: x / (y + 1e-6), 1.0, False),
    "what cancels": (lambda x, y: (x + 1e9 * y) - 1e9 * y, lambda x, y: x * (1e9 * y) / (1e9 * y), 1.0, True),
    "halves to even, or up": (torch.round, lambda x: (x + 0.5).floor(), 0.0, False),
}


@pytest.mark.parametrize(("left", "right", "scale", "decides"), PAIRS.values(), ids=PAIRS)
def test_whether_rounding_decides(left: Program, right: Program, scale: float, decides: bool) -> None:
    generator = torch.Generator().manual_seed(3)
    given = [scale * torch.randn(40, dtype=torch.float64, generator=generator) for _ in range(2)]
    if not scale:
        given = [torch.arange(-20, 20, dtype=torch.float64) / 2]
    graphs = capture(left, tuple(given)), capture(right, tuple(given))
    sources = [{node.name: value for node, value in zip(g.sources("input"), given, strict=True)} for g in graphs]
    runs = [{g.roots[0][1].name: f(*given)} for g, f in zip(graphs, (left, right), strict=True)]
    assert rounding_decides(graphs, (sources[0], sources[1]), (runs[0], runs[1])) is decides


def test_what_is_exact_is_not_changed() -> None:
    noise, exact = Noise(0), torch.tensor([0.0, 1.5, -3.0, 2.0**40, float("inf"), float("-inf")], dtype=torch.float64)
    assert torch.equal(noise(None, exact), exact)  # type: ignore[arg-type]
    assert torch.equal(noise(None, torch.arange(5)), torch.arange(5))  # type: ignore[arg-type]
    moved = noise(None, torch.full((1000,), 0.1, dtype=torch.float64))  # type: ignore[arg-type]
    assert {round(float(x / 0.1 - 1) / 2.0**-52) for x in moved} == {-1, 0, 1}
