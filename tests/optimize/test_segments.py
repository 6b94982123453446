"""Kernels before, between and behind calls of torch compute what the program does, and say what stays torch's."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame import check
from samesame.capture import capture
from samesame.optimize import segments
from samesame.optimize.algebra import specified
from samesame.optimize.candidate import Candidate
from samesame.optimize.dropin import EAGER
from samesame.optimize.facts import facts_of, unguarded
from samesame.optimize.faithful import faithful
from samesame.optimize.forms import number, times, walk
from samesame.optimize.ir import Program
from samesame.optimize.job import loaded
from samesame.optimize.saved import files_of, write_files
from samesame.optimize.schedule import NoSchedule
from samesame.optimize.search import searched
from samesame.optimize.segments import Layout, candidates, has_calls
from samesame.optimize.tune import Tuned, tune


class Looked(nn.Module):
    """An embedding, a norm, a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.norm, self.up = nn.Embedding(50, 24), nn.LayerNorm(24), nn.Linear(24, 37)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return F.gelu(self.up(self.norm(self.words(ids))))


class Convolved(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv1d(6, 12, 3, padding=1), nn.LayerNorm(12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(self.norm(self.conv(x.tanh()).transpose(1, 2)))


class Joined(nn.Module):
    """A concatenation between two layers, and a call behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(10, 16), nn.Linear(26, 9)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(self.down(torch.cat([F.silu(self.up(x)), x], -1)), 0)


class Twice(nn.Module):
    """Two calls in a row, of which the second takes what the first returns, with nothing in between and something."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(10, 16), nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.cumsum(torch.flip(self.up(x), [0]), 0)
        return torch.cumsum(torch.cumsum(torch.sigmoid(self.down(y)), 1), 0) * 2


class Across(nn.Module):
    """What stands before a call is used behind it, as a residual is."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(10, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.up(x)
        return torch.cumsum(F.silu(h), 0) + h


class Largest(nn.Module):
    """A call with several results, the second of which are integers that another call takes."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(10, 8), nn.Linear(10, 8)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        values, places = torch.topk(self.gate(x), 3)
        chosen = self.up(x).gather(-1, places)
        return {"mixed": (values.softmax(-1) * chosen).sum(-1), "places": places}


class Masked(nn.Module):
    """Integers: a mask of those that an embedding looks up."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.score = nn.Embedding(50, 24), nn.Linear(24, 1)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        h = self.words(ids)
        scores = self.score(h).squeeze(-1).masked_fill(ids == 0, -1e9)
        return (scores.softmax(-1)[..., None] * h).sum(1)


PROGRAMS = [
    (Looked(), (torch.randint(0, 50, (3, 7)),), 1), (Convolved(), (torch.randn(2, 6, 15),), 2),
    (Joined(), (torch.randn(7, 10),), 1), (Twice(), (torch.randn(7, 10),), 3), (Across(), (torch.randn(7, 10),), 2),
    (Largest(), (torch.randn(7, 10),), 2), (Masked(), (torch.randint(0, 50, (3, 7)),), 1),
]


def quickly(programs: Sequence[Program], sizes: Mapping[str, int], share: float) -> Tuned:
    return tune(programs, sizes, {}, 0.3)


def candidate(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> Candidate:
    """The first candidate, with calls of torch in it."""
    graph = capture(module, inputs)
    specification = specified(module, inputs, graph)
    assert has_calls(specification)
    return next(candidates(graph, specification, searched(specification), quickly, {}))


@pytest.mark.parametrize(("module", "inputs", "kernels"), PROGRAMS, ids=lambda x: type(x).__name__)
def test_a_drop_in_with_calls_of_torch_computes_the_same(
    module: nn.Module, inputs: tuple[torch.Tensor, ...], kernels: int, tmp_path: Path
) -> None:
    found = candidate(module.eval(), inputs)
    assert len(found.native) == kernels and found.reference is not None and found.reference.native == {}
    folder = tmp_path / "found"
    file = write_files(folder, files_of(found, facts_of(module, inputs, found, EAGER)))
    fast = loaded(file).optimized(module)
    with torch.no_grad():
        expected = module(*inputs)
        for run in (fast, copy.deepcopy(fast)):
            torch.testing.assert_close(run(*inputs), expected, rtol=1e-4, atol=1e-5, check_stride=True)
        for weight in module.parameters():
            weight.mul_(1.5)
        torch.testing.assert_close(fast(*inputs), module(*inputs), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("module", "inputs", "kernels"), PROGRAMS, ids=lambda x: type(x).__name__)
def test_what_is_said_of_them_is_proved(
    module: nn.Module, inputs: tuple[torch.Tensor, ...], kernels: int, tmp_path: Path
) -> None:
    """The reference, with all calls, is the program; what kernels compute is what its operators mean."""
    found = candidate(module.eval(), inputs)
    assert found.reference is not None
    facts = facts_of(module, inputs, found.reference, EAGER)
    file = write_files(tmp_path / "reference", files_of(found.reference, facts))
    verdict = check(module, unguarded(module, file, {}, {**facts, "weights": {}}), inputs)
    assert verdict.verdict == "same" and verdict.evidence.name.startswith("PROVED")
    assert found.settled().faithful
