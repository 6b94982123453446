"""Constants that a program works out in float32 are compared as they are meant: a rounding is no difference."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from samesame import refine
from samesame.report.refinement import plain_text


class Logarithm(torch.nn.Module):
    """The mean over seven parts in the log domain, its count a tensor of its own."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - torch.tensor(7.0).log()


class Quotient(torch.nn.Module):
    def __init__(self, parts: float) -> None:
        super().__init__()
        self.parts = parts

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.exp() / self.parts).log()


@pytest.mark.parametrize("parts, verdict", [(7.0, "refines"), (7.0000005, "does not refine")])
def test_constants_of_float32_are_as_they_are_meant(parts: float, verdict: str) -> None:
    found = refine(Logarithm, lambda rank, world_size: Quotient(parts), (torch.randn(3, 4),), world_size=2)
    assert found.verdict == verdict
    assert any("Constants are taken as they are meant, not as float32 rounds them" in note for note in found.notes)


def test_constants_that_bfloat16_rounds_are_different() -> None:
    class Rounded(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x - torch.tensor(7.0, dtype=torch.bfloat16).log().float()

    found = refine(Logarithm, lambda rank, world_size: Rounded(), (torch.randn(3, 4),), world_size=2)
    assert found.verdict == "does not refine"


def test_a_table_of_powers_by_chunks() -> None:
    """0.9^(a + b) in one table against 0.9^a · 0.9^b in two."""

    class Whole(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * torch.tensor(0.9) ** torch.arange(8)

    class Chunk(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * torch.tensor(0.9) ** torch.arange(4) * torch.tensor(0.9) ** (4 * dist.get_rank())

    found = refine(Whole, lambda rank, world_size: Chunk(), (torch.randn(3, 8),), world_size=2,
                   relations={"x": "shard(1)"}, expected={"0": "shard(1)"})
    assert found.verdict != "does not refine"


@pytest.mark.parametrize("constant, factor", [
    (lambda: torch.ceil((torch.full((4,), 0.1) + 0.2) * 10), 4.0),         # 3 in float32, 4 in float64
    (lambda: torch.sign(torch.full((4,), 0.1) + 0.2 - 0.3), 1.0),          # 0, and 1
    (lambda: (torch.full((4,), 1e8) + 1) - 1e8, 1.0),                      # 0, and 1
])
def test_what_a_constant_decides_is_no_rounding(constant, factor: float) -> None:
    class Decided(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * constant()

    class Written(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * factor

    found = refine(Decided, lambda rank, world_size: Written(), (torch.randn(3, 4),), world_size=2)
    assert found.verdict == "does not refine"


def test_a_rank_that_computes_with_a_weight_and_does_not_change_it() -> None:
    class Counted(torch.nn.Module):
        def __init__(self, changes: bool) -> None:
            super().__init__()
            self.changes = changes
            self.weight = torch.nn.Parameter(torch.arange(4.0), requires_grad=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x * self.weight
            if self.changes:
                self.weight.add_(1.0)
            return y

    def found(changing: int):
        return refine(lambda: Counted(True), lambda rank, world_size: Counted(rank < changing), (torch.randn(3, 4),),
                      world_size=2)

    assert found(2).verdict == "refines"
    assert found(1).verdict == "does not refine"


class Thirds(nn.Module):
    """A mean of three losses: each counts a third, which float32 rounds."""

    def __init__(self, stage: int = -1) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.stage = nn.Linear(3, 2), stage

    def loss(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.mse_loss(self.layer(x), x[:, :2])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.zero_grad()
        if self.stage < 0:
            self.loss(x).backward()
            return self.layer.weight.grad
        grad = torch.zeros_like(self.layer.weight)
        if self.stage == 0:
            for part in x.chunk(3):
                dist.send(part.contiguous(), 1)
        else:
            for rows in x.shape[0] // 3, x.shape[0] // 3, x.shape[0] // 3:
                got = torch.empty(rows, 3)
                dist.recv(got, 0)
                (self.loss(got) / 3).backward()
            grad = self.layer.weight.grad
        dist.broadcast(grad, 1)
        return grad


def test_constants_are_as_they_are_meant_where_ranks_hear_of_each_other():
    """A message is no constant of the rank that hears it, and goes in the dtype that it is in."""
    found = refine(Thirds, lambda rank, _: Thirds(rank), (torch.randn(6, 3),), timeout=60)
    assert found.verdict == "refines", plain_text(found)
    assert any("as they are meant" in note for note in found.notes)


class Critic(nn.Module):
    """A step on rows that are weighed so that the bias cancels: of its gradient rounding leaves something."""

    def __init__(self, wrap=lambda module: module) -> None:
        super().__init__()
        self.critic = wrap(nn.Linear(4, 1))
        self.optim = torch.optim.SGD(self.critic.parameters(), lr=0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights = torch.tensor([[3.0], [-1.0], [-2.0]]).repeat(len(x) // 3, 1)
        self.optim.zero_grad()
        (weights * self.critic(x)).mean().backward()
        self.optim.step()
        return x


def test_what_rounding_leaves_of_zero_is_meant_to_be_zero() -> None:
    found = refine(Critic, lambda rank, world_size: Critic(DistributedDataParallel), {"x": torch.randn(9, 4)},
                   world_size=3, relations={"x": "shard(0)"}, expected={"0": "shard(0)"})
    assert found.verdict == "refines", plain_text(found)
    assert any("leaves something where numbers cancel" in note for note in found.notes)


class Scaled(torch.nn.Module):
    """Times a number that a tensor holds, or times the number itself."""

    def __init__(self, scale: float | torch.Tensor) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * (torch.tensor(self.scale.tolist()) if isinstance(self.scale, torch.Tensor) else self.scale)


@pytest.mark.parametrize("held, number, dtype, verdict", [
    (0.1, 0.1, torch.float32, "refines"),
    (0.1000001, 0.1, torch.float32, "does not refine"),
    (0.1, 0.1, torch.float64, "does not refine"),          # float64 tells them apart
])
def test_a_stored_number_is_the_one_that_another_program_writes(held, number, dtype, verdict) -> None:
    given = (torch.randn(3, 4, dtype=dtype),)
    found = refine(lambda: Scaled(torch.tensor(held)), lambda rank, world_size: Scaled(number), given, world_size=2)
    assert found.verdict == verdict


class Chosen(torch.nn.Module):
    """Constants that decide something, beside numbers that are near them."""

    def __init__(self, made) -> None:
        super().__init__()
        self.made = made

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.made(x)


@pytest.mark.parametrize("left, right", [
    (lambda x: x * torch.floor(torch.tensor([0.29]) * 100), lambda x: x * 28.0 + 0 * (x * 0.29)),
    (lambda x: torch.where(torch.tensor([0.5]) * 2 > 1, x, -x), lambda x: x * 0.50000001 / 0.50000001),
    (lambda x: (x * torch.tensor([0.5]) - x / 2) * 1e9, lambda x: (x * 0.50000001 - x / 2) * 1e9),
    (lambda x: x.double() * torch.tensor([0.1]).view(1, 1), lambda x: x.double() * 0.1),
], ids=["floor", "comparison", "exact", "view"])
def test_what_decides_or_is_exact_is_what_it_is(left, right) -> None:
    found = refine(lambda: Chosen(left), lambda rank, world_size: Chosen(right), (torch.randn(3, 4),), world_size=2)
    assert found.verdict == "does not refine"
