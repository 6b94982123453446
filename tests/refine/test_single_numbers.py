"""A single number, a mean or a norm on the way, is related like any tensor if data decide it: a proof of what is made
of two large sums needs not look through both."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn

from samesame.evidence import Refused
from samesame.refine import refine
from samesame.relate.layout import Slice, Whole
from samesame.relate.pieces import PieceProposer
from samesame.relate.propose import Proposer, tells
from samesame.report.refinement import plain_text

RANKS = 5


def correlation(vx: Any, vy: Any, cov: Any) -> Any:
    return cov / torch.sqrt(vx * vy)


def whole(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    dx, dy = x - x.mean(), y - y.mean()
    return correlation((dx * dx).sum(), (dy * dy).sum(), (dx * dy).sum())


def merged(share: float) -> Any:
    """Moments of each part, merged one after another; `share` is how much of a shift of the mean counts."""

    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        n, mx, my = len(x), x.mean(), y.mean()
        dx, dy = x - mx, y - my
        mine = torch.stack([mx, my, (dx * dx).sum(), (dy * dy).sum(), (dx * dy).sum()])
        parts = [torch.empty_like(mine) for _ in range(RANKS)]
        dist.all_gather(parts, mine)
        mx, my, vx, vy, cov = parts[0].unbind()
        for k, part in enumerate(parts[1:]):
            ox, oy, ovx, ovy, ocov = part.unbind()
            seen, both = (k + 1) * n, (k + 2) * n
            ex, ey, factor = ox - mx, oy - my, share * seen * n / both
            vx, vy, cov = vx + ovx + ex * ex * factor, vy + ovy + ey * ey * factor, cov + ocov + ex * ey * factor
            mx, my = mx + ex * n / both, my + ey * n / both
        return correlation(vx, vy, cov)

    return program


@pytest.mark.parametrize("share, verdict", [
    (1.0, "refines"), pytest.param(0.5, "does not refine", marks=pytest.mark.long),
])
def test_moments_that_are_merged_part_by_part(share: float, verdict: str) -> None:
    given = {"x": torch.randn(3 * RANKS), "y": torch.randn(3 * RANKS)}
    found = refine(lambda: whole, lambda rank, ranks: merged(share), given, world_size=RANKS,
                   relations={"x": "shard(0)", "y": "shard(0)"}, timeout=30)
    assert found.verdict == verdict, plain_text(found)


def test_a_number_that_no_draw_changes_is_proposed_for_none() -> None:
    left = [{"fixed": torch.tensor(0.5), "mean": torch.tensor(mean)} for mean in (0.3, 0.7)]
    right = [{"same": draw["fixed"], "norm": draw["mean"], "count": torch.tensor(k)} for k, draw in enumerate(left)]
    proposer = Proposer(left, {"fixed": 1, "mean": 1})
    found = {name: [other for other, _ in proposer.candidates(right, name, ())] for name in right[0]}
    assert found == {"same": [], "norm": ["mean"], "count": []}
    assert not tells(right[:1], "norm", 0)


def test_a_single_number_may_be_a_piece() -> None:
    """Of three rows on two ranks the second has one."""
    left = [{"bias": torch.randn(3, generator=torch.Generator().manual_seed(draw))} for draw in range(2)]
    right = [{"own": draw["bias"][2:], "other": draw["bias"][2:] + 1} for draw in left]
    proposer = PieceProposer(left, {"bias": 3})
    assert proposer.candidates(right, "own", (1,)) == [("bias", Slice(Whole("bias"), 0, 2, 3))]
    assert proposer.candidates(right, "other", (1,)) == []


class OneOut(nn.Module):
    """A wrapper, so that weights have other names, around a module with a bias of one number."""

    def __init__(self, ranks: int, zeros: int) -> None:
        super().__init__()
        self.model, self.ranks = last(zeros), ranks

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.model(x).sum()
        dist.all_reduce(y)
        return y


def last(zeros: int) -> nn.Sequential:
    """Layers of one number each, of which so many biases are 0."""
    layers = nn.Sequential(nn.Linear(3, 1), nn.Linear(1, 1))
    for layer in layers[:zeros]:
        nn.init.zeros_(layer.bias)
    return layers


class Summed(nn.Module):
    def __init__(self, zeros: int) -> None:
        super().__init__()
        self.layers = last(zeros)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x).sum()


@pytest.mark.parametrize("zeros", [0, 1])
def test_a_weight_of_one_number_without_an_equal_needs_no_name(zeros: int) -> None:
    found = refine(lambda: Summed(zeros), lambda rank, ranks: OneOut(ranks, zeros), (torch.randn(4, 3),), world_size=2,
                   relations={"x": "shard(0)"})
    assert found.verdict == "refines", plain_text(found)
    assert not [words for words in found.provided if "named" in words]


class Scaled(nn.Module):
    def __init__(self, bias: torch.Tensor) -> None:
        super().__init__()
        self.bias = nn.Parameter(bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = [torch.empty_like(self.bias) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, self.bias.detach())
        return x * torch.cat(parts).reshape(-1)


class Own(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.bias = nn.Parameter(torch.randn(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.bias


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
@pytest.mark.parametrize("shift, said", [(0, "refines"), (1, "does not refine")])
def test_a_bias_may_be_cut_into_single_numbers(shape: tuple[int, ...], shift: int, said: str) -> None:
    class Wrapped(nn.Module):                              # by another name than the sequential one has
        def __init__(self, rank: int, ranks: int) -> None:
            super().__init__()
            self.piece = Scaled(Own().bias.detach()[(rank + shift) % ranks].reshape(shape).clone())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.piece(x)

    found = refine(Own, Wrapped, (torch.randn(3, 4),), world_size=4)
    assert found.verdict == said, plain_text(found)


def test_a_number_of_few_digits_is_no_piece_of_a_weight() -> None:
    class Half(nn.Module):
        def __init__(self, rank: int, ranks: int) -> None:
            super().__init__()
            self.share = nn.Parameter(torch.tensor([0.5]))
            self.bias = Own().bias

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.bias * self.share * 2

    class Half2(Own):
        def __init__(self) -> None:
            super().__init__()
            self.bias.data[2] = 0.5

    with pytest.raises(Refused, match="share of rank 0"):
        refine(Half2, Half, (torch.randn(3, 4),), world_size=2)


def test_a_number_of_a_weight_that_the_ranks_hold_besides_is_no_piece_of_it() -> None:
    class Third(Own):
        def __init__(self) -> None:
            super().__init__()
            self.bias.data[2] = 1 / 3

    class Scaled3(Third):
        def __init__(self, rank: int, ranks: int) -> None:
            super().__init__()
            self.share = nn.Parameter(torch.tensor([1 / 3]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.bias * self.share * 3

    with pytest.raises(Refused, match="share of rank 0"):
        refine(Third, Scaled3, (torch.randn(3, 4),), world_size=2)
