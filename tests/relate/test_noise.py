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
    "and one element by itself": (lambda x, y: (x * y * 3e9).sin(),
                                  lambda x, y: (3e9 * y * x).sin() + 0.1 * (torch.arange(40) == 7), 15.0, False),
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
    for other in (torch.arange(5), torch.full((3,), 0.1)):     # a constant as it is written has its own precision
        assert torch.equal(noise(None, other), other)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [1e-9, 0.1, 1e5, 1e17])
def test_numbers_move_by_chance_and_equal_ones_alike(scale: float) -> None:
    given = scale * torch.randn(1000, dtype=torch.float64)
    moved = Noise(1)(None, torch.cat([given, given]))  # type: ignore[arg-type]
    assert torch.equal(moved[:1000], moved[1000:])
    steps = ((moved[:1000] - given) / given / 2.0**-52).round()
    assert 400 < int((steps > 0).sum()) < 600 and int((steps == 0).sum()) < 50
    assert not torch.equal(moved[:1000], Noise(2)(None, given))  # type: ignore[arg-type]
    pair = Noise(1)(None, torch.complex(given, given))  # type: ignore[arg-type]
    assert torch.equal(pair.real, moved[:1000]) and torch.equal(pair.imag, moved[:1000])


Q, K = torch.arange(12) * 2, torch.arange(12) * 2 + 1
E, T = torch.randn(12, 5), torch.arange(12)
X = torch.randn(9, 4)
B, ZERO = torch.zeros(9, 4), torch.zeros(7, 3)
STILL_DIFFERENT: dict[str, tuple[Program, Program, tuple[torch.Tensor, ...]]] = {
    "ties in a descending order": (lambda e, t: e[t].sum(-1).argsort(stable=True, descending=True),
                                   lambda e, t: e[t].sum(-1).argsort(stable=True).flip(0), (E, T)),
    "a mask's end": (lambda q, k: (q / 10)[:, None] >= (k / 10)[None], lambda q, k: (q / 10)[:, None] > (k / 10)[None],
                     (Q, K)),
    "an output with what is no number when it moves": (
        lambda x, y, b: torch.cat([(x * y - y * x).sqrt(), x + b]),
        lambda x, y, b: torch.cat([(x * y - y * x).sqrt(), x - b]), (X, X.flip(0), B)),
    "one element that is ill-conditioned": (
        lambda x, b: (x / x.norm(dim=-1, keepdim=True) @ (x / x.norm(dim=-1, keepdim=True)).T).clamp(-1, 1).acos()
        + 1e-7 * b[:, :1], lambda x, b: (x / x.norm(dim=-1, keepdim=True) @ (x / x.norm(dim=-1, keepdim=True)).T).clamp(
            -1, 1).acos() - 1e-7 * b[:, :1], (X, B)),
    "places that are no places when they move": (
        lambda i, w, b: w[(i / 7.0 * 7.0).ceil().long()] + b, lambda i, w, b: w[(i / 7.0 * 7.0).ceil().long()] - b,
        (torch.arange(7), torch.randn(7, 3), ZERO)),
}


@pytest.mark.parametrize(("left", "right", "given"), STILL_DIFFERENT.values(), ids=STILL_DIFFERENT)
def test_what_parts_beside_rounding_is_different(
    left: Program, right: Program, given: tuple[torch.Tensor, ...]
) -> None:
    assert check(left, right, given).verdict == "different"
