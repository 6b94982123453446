"""Constants that a program works out in float32 are compared as they are meant: a rounding is no difference."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from samesame import refine


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
