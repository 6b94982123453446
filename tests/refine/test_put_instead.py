"""Weights and buffers that a program replaces, not written into: what stands there at the end is compared."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import nn

from samesame.refine import refine


class Mean(nn.Module):
    """A running mean, averaged over the ranks, or not."""

    def __init__(self, put: str, averages: bool = True) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.register_buffer("mean", torch.randn(3))
        self.w = nn.Parameter(torch.randn(3))
        self.put, self.averages = put, averages

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        now = x.mean(0)
        if self.averages:
            dist.all_reduce(now)
            now = now / dist.get_world_size()
        with torch.no_grad():
            if self.put == "in place":
                self.mean.mul_(0.9).add_(0.1 * now)
            elif self.put == "buffer":
                self.mean = 0.9 * self.mean + 0.1 * now
            elif self.put == "data":
                self.w.data = self.w.data - now
            else:
                self.w = nn.Parameter(self.w - now)
        return x.sum()


@pytest.mark.parametrize("of_rank, verdict", [
    (("buffer", True), "refines"), (("in place", True), "refines"), (("buffer", False), "does not refine"),
])
def test_a_buffer(of_rank: tuple[str, bool], verdict: str) -> None:
    found = refine(lambda: Mean("buffer"), lambda rank, size: Mean(*of_rank), (torch.randn(4, 3),), world_size=2,
                   relations={"x": "shard(0)"}, expected={"0": "partial"})
    assert found.verdict == verdict


@pytest.mark.parametrize("put", ["data", "parameter"])
@pytest.mark.parametrize("averages, verdict", [(True, "refines"), (False, "does not refine")])
def test_a_weight(put: str, averages: bool, verdict: str) -> None:
    found = refine(lambda: Mean(put), lambda rank, size: Mean(put, averages), (torch.randn(4, 3),), world_size=2,
                   relations={"x": "shard(0)"}, expected={"0": "partial"})
    assert found.verdict == verdict
