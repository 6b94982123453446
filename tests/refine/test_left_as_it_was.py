"""What a rank leaves as it was, where the sequential program changes it, and the other way round: its copy parts."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

from samesame.evidence import Refused
from samesame.refine import refine
from samesame.report.refinement import plain_text


class Stepped(nn.Module):
    """Two weights; a step with both, or with the first alone."""

    def __init__(self, both: bool = True) -> None:
        super().__init__()
        self.q, self.k, self.both = nn.Linear(3, 2, bias=False), nn.Linear(3, 2, bias=False), both

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.q(x) * self.k(x)
        with torch.no_grad():
            self.q.weight -= 0.1 * self.q.weight
            if self.both:
                self.k.weight -= 0.1 * self.k.weight
        return y


class Fused(nn.Module):
    """The same, with both weights as one."""

    def __init__(self, steps: bool) -> None:
        super().__init__()
        plain = Stepped()
        self.qk, self.steps = nn.Parameter(torch.cat([plain.q.weight, plain.k.weight]).detach()), steps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k = F.linear(x, self.qk).chunk(2, -1)
        if self.steps:
            with torch.no_grad():
                self.qk -= 0.1 * self.qk
        return q * k


@pytest.mark.parametrize("both, stepping, verdict", [
    (True, (True, True), "refines"),
    (True, (True, False), "does not refine"),             # rank 1 leaves both as they were
    (False, (True, True), "does not refine"),             # nobody else steps k
])
def test_a_weight_put_together_of_several(both: bool, stepping: tuple[bool, bool], verdict: str) -> None:
    found = refine(lambda: Stepped(both), lambda rank, _: Fused(stepping[rank]), (torch.randn(4, 3),), world_size=2)
    assert found.verdict == verdict, plain_text(found)


class Counted(nn.Module):
    """A buffer that is read, and then counted up."""

    def __init__(self, counts: bool = True) -> None:
        super().__init__()
        self.counts = counts
        self.register_buffer("seen", torch.arange(3.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + self.seen
        if self.counts:
            self.seen += 1
        return y


def cached(writes: bool) -> Any:
    def program(x: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
        y = cache.sum(0) + x
        if writes:
            cache[0] = x
        return y

    return program


@pytest.mark.parametrize("both", [True, False])
def test_a_buffer_and_an_input(both: bool) -> None:
    verdict = "refines" if both else "does not refine"
    found = refine(Counted, lambda rank, _: Counted(both or rank == 0), (torch.randn(3),), world_size=2)
    assert found.verdict == verdict, plain_text(found)
    given = torch.randn(3), torch.randn(2, 3)
    found = refine(lambda: cached(True), lambda rank, _: cached(both or rank == 0), given, world_size=2)
    assert found.verdict == verdict, plain_text(found)


def test_a_piece_of_a_cache_that_nobody_writes_stays_as_it_was() -> None:
    """Each rank has some rows, and the one that is written lies on rank 0."""
    def own(rank: int, ranks: int) -> Any:
        def program(x: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
            if rank == 0:
                cache[0] = x
            return cache.sum(1)
        return program

    def whole(x: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
        cache[0] = x
        return cache.sum(1)

    found = refine(lambda: whole, own, (torch.randn(3), torch.randn(4, 3)), world_size=2,
                   relations={"cache": "shard(0)"}, expected={"0": "shard(0)"})
    assert found.verdict == "refines", plain_text(found)


class Left(nn.Module):
    """A loss whose gradients stay at the weights, or are taken away."""

    def __init__(self, leaves: bool = True) -> None:
        super().__init__()
        self.linear, self.leaves = nn.Linear(3, 2), leaves

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        loss = self.linear(x).square().mean()
        loss.backward()
        if not self.leaves:
            self.zero_grad()
        return loss.detach()


@pytest.mark.parametrize("leaving, verdict", [((True, True), "refines"), ((True, False), "does not refine")])
def test_a_gradient_that_only_some_ranks_leave(leaving: tuple[bool, bool], verdict: str) -> None:
    found = refine(Left, lambda rank, _: Left(leaving[rank]), (torch.randn(4, 3),), world_size=2)
    assert found.verdict == verdict, plain_text(found)


class Silent(nn.Module):
    """A step of training that returns nothing."""

    def __init__(self, averages: bool = True, steps: bool = True) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net, self.averages, self.steps = nn.Linear(3, 2), averages, steps

    def forward(self, x: torch.Tensor) -> None:
        self.net(x).square().mean().backward()
        with torch.no_grad():
            for weight in self.net.parameters():
                if self.averages:
                    dist.all_reduce(weight.grad)
                    weight.grad /= dist.get_world_size()
                if self.steps:
                    weight -= 0.1 * weight.grad
                weight.grad = None


@pytest.mark.parametrize("of_rank, verdict", [
    ((True, True), "refines"), ((False, True), "does not refine"), ((True, False), "does not refine")
])
def test_a_step_that_returns_nothing_is_what_it_leaves(of_rank: tuple[bool, bool], verdict: str) -> None:
    found = refine(Silent, lambda rank, size: Silent(*of_rank), (torch.randn(4, 3),), world_size=2,
                   relations={"x": "shard(0)"})
    assert found.verdict == verdict


def test_what_returns_and_leaves_nothing_is_refused() -> None:
    with pytest.raises(Refused, match="returns no tensor and writes into none"):
        refine(lambda: Silent(steps=False), lambda rank, size: Silent(), (torch.randn(4, 3),), world_size=2)
