"""Kernels before, between and behind calls of torch compute what the program does, and say what stays torch's."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.optimize.compiled_programs import untimed
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
from samesame.optimize.job import loaded
from samesame.optimize.saved import files_of, write_files
from samesame.optimize.schedule import NoSchedule
from samesame.optimize.search import searched
from samesame.optimize.segments import Layout, candidates, has_calls


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
        self.conv, self.norm = nn.Conv1d(64, 12, 3, padding=1), nn.LayerNorm(12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(self.norm(self.conv(x.tanh()).transpose(1, 2)))


class Normed(nn.Module):
    """In eval mode a batch norm is arithmetic, with numbers of channels."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(20, 8, 3), nn.BatchNorm2d(8)
        self.plain = nn.BatchNorm1d(4, affine=False)
        for norm in (self.norm, self.plain):
            torch.nn.init.uniform_(norm.running_mean)  # type: ignore[arg-type]
            torch.nn.init.uniform_(norm.running_var, 0.5, 2.0)  # type: ignore[arg-type]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.plain(torch.relu(self.norm(self.conv(x))).mean(-1).unflatten(1, (4, 2)).sum(2).flatten(1)[:, :4])


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


class Sideways(nn.Module):
    """What a call returns lies as what it took, which is turned."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.sort(x.mT, 0)[0], -1)


class Constant(nn.Module):
    """A table that is no parameter, read by kernels."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x * torch.tensor([1.0, 2.0, 3.0, 4.0]), 0).tanh()


PROGRAMS = [
    (Looked(), (torch.randint(0, 50, (3, 7)),), 1), (Convolved(), (torch.randn(2, 64, 15),), 2),
    (Normed(), (torch.randn(2, 20, 6, 7),), 1),
    (Joined(), (torch.randn(7, 10),), 1), (Twice(), (torch.randn(7, 10),), 3), (Across(), (torch.randn(7, 10),), 2),
    (Largest(), (torch.randn(7, 10),), 2), (Masked(), (torch.randint(0, 50, (3, 7)),), 1),
    (Sideways(), (torch.randn(7, 10),), 1), (Constant(), (torch.randn(7, 4),), 2),
]


def candidate(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> Candidate:
    """The first candidate, with calls of torch in it; look-ups are calls here."""
    graph = capture(module, inputs)
    specification = specified(module, inputs, graph, look_ups=False)
    assert has_calls(specification)
    return next(candidates(graph, specification, searched(specification), untimed, {}))


@dataclass(frozen=True)
class Found:
    """A program, its example, how many files of kernels there should be, and the candidate that was found."""

    module: nn.Module
    inputs: tuple[torch.Tensor, ...]
    kernels: int
    candidate: Candidate


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda program: type(program[0]).__name__)
def found(request: pytest.FixtureRequest) -> Found:
    module, inputs, kernels = request.param
    return Found(module, inputs, kernels, candidate(module.eval(), inputs))


def test_what_is_said_of_them_is_proved(found: Found, tmp_path: Path) -> None:
    """The reference, with all calls, is the program; what kernels compute is what its operators mean."""
    module, reference = found.module, found.candidate.reference
    assert reference is not None
    facts = facts_of(module, found.inputs, reference, EAGER)
    file = write_files(tmp_path / "reference", files_of(reference, facts))
    verdict = check(module, unguarded(module, file, {}, {**facts, "weights": {}}), found.inputs)
    assert verdict.verdict == "same" and verdict.evidence.name.startswith("PROVED")
    assert found.candidate.settled().faithful


def test_a_drop_in_with_calls_of_torch_computes_the_same(found: Found, tmp_path: Path) -> None:
    drop_in, module, inputs = found.candidate, copy.deepcopy(found.module), found.inputs
    assert len(drop_in.native) == found.kernels
    assert drop_in.reference is not None and drop_in.reference.native == {}
    file = write_files(tmp_path / "found", files_of(drop_in, facts_of(module, inputs, drop_in, EAGER)))
    fast = loaded(file).optimized(module)
    with torch.no_grad():
        expected = module(*inputs)
        for run in (fast, copy.deepcopy(fast)):
            torch.testing.assert_close(run(*inputs), expected, rtol=1e-4, atol=1e-5, check_stride=True)
        for weight in module.parameters():
            weight.mul_(1.5)
        torch.testing.assert_close(fast(*inputs), module(*inputs), rtol=1e-4, atol=1e-5)
        other = tuple(x[:1] for x in inputs)
        with pytest.warns(UserWarning, match="the original runs"):
            torch.testing.assert_close(fast(*other), module(*other))


def laid_out(module: nn.Module, *inputs: torch.Tensor) -> Layout:
    specification = specified(module, inputs, capture(module, inputs))
    return Layout(specification, [root.form for root in specification.roots()])


def test_what_stands_on_both_sides_of_a_call_is_computed_once() -> None:
    layout = laid_out(Across(), torch.randn(7, 10))
    first, second = layout.parts
    reads = {x.attributes[0] for part in second for x in walk(part.output.form) if x.operator == "load"}
    assert len(first) == 2 and first[1].output.name in reads and not any("weight" in name for name in reads)


def test_what_is_multiplied_within_a_sum_is_not_kept() -> None:
    """Weights times values have an axis for each key and each feature."""
    class Attended(nn.Module):
        def forward(self, x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            weights = torch.sigmoid(x @ x.exp().mT)
            return torch.cumsum(weights @ v, 0) + (weights[..., None] * v).tanh().sum(-2)

    layout = laid_out(Attended(), torch.randn(7, 10), torch.randn(7, 6))
    assert [len(part.axes) for part in layout.parts[0]] == [2, 2]


@pytest.mark.parametrize("function", [
    lambda x, n: x * (n == n.amax(-1, keepdim=True)), lambda x, n: x * (n == n.max()), lambda x, n: x + (n > n.amin()),
    lambda x, n: x + x**float("inf")], ids=["largest", "of all", "least", "power"])
def test_large_integers_and_powers_that_are_no_numbers_stay_calls(function: Any) -> None:
    """Kernels keep what they fold as float32, in which 2²⁴ and one more are one."""
    inputs = torch.rand(4, 6), torch.arange(24).view(4, 6) + (1 << 24)
    assert has_calls(specified(function, inputs, capture(function, inputs)))


def test_arithmetic_of_integers_that_wrap_around_stays_a_call() -> None:
    inputs = torch.rand(4, 6), torch.arange(24, dtype=torch.int32).view(4, 6)

    def function(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return x * (n * n < 0)

    assert has_calls(specified(function, inputs, capture(function, inputs)))


def test_what_is_looked_up_in_computed_integers_stays_a_call() -> None:
    inputs = torch.rand(40, 6), torch.randint(0, 6, (40, 6)), torch.arange(6) + (1 << 24)

    def function(x: torch.Tensor, n: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        return x * ((table * 2)[n] == n)

    assert has_calls(specified(function, inputs, capture(function, inputs)))
    def given(x: torch.Tensor, n: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        return x * (table[n] == n)

    assert not has_calls(specified(given, inputs, capture(given, inputs)))


def test_a_linear_layer_of_one_row_is_a_product() -> None:
    inputs = torch.rand(4, 6), torch.rand(6)
    specification = specified(F.linear, inputs, capture(F.linear, inputs))
    assert not has_calls(specification) and specification.outputs[0].form.operator == "fold"


def test_what_a_call_returns_need_not_be_row_major() -> None:
    assert not torch.sort(torch.randn(7, 10).mT, 0)[0].is_contiguous()             # as in Sideways, above


def test_calls_that_stay_are_named() -> None:
    lines = candidate(Largest(), (torch.randn(7, 10),)).changed
    assert any(line.endswith("of our own before, between and behind calls that stay torch's (topk, gather)")
               for line in lines)
    assert any("matmul" in line for line in lines)


def test_a_segment_without_kernels_stays_as_it_is_in_the_reference(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rightly = segments.natives

    def natives(specification: Any, *rest: Any, **given: Any) -> Any:
        if specification.name.endswith(" 0"):
            raise NoSchedule("no map takes it")
        return rightly(specification, *rest, **given)

    monkeypatch.setattr(segments, "natives", natives)
    module, x = Across().eval(), torch.randn(7, 10)
    found = candidate(module, (x,))
    assert "1 segment between calls stays torch's, too (no map takes it)" in found.changed[0]
    assert len(found.native) == 1
    file = write_files(tmp_path / "found", files_of(found, facts_of(module, (x,), found, EAGER)))
    fast = loaded(file).optimized(module)
    with torch.no_grad():
        torch.testing.assert_close(fast(x), module(x), rtol=1e-4, atol=1e-5)


def test_there_are_none_where_no_segment_has_any(monkeypatch: pytest.MonkeyPatch) -> None:
    class Moved(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cumsum(x.mT, 0)[1:]

    with pytest.raises(NoSchedule, match="beside cumsum, which stays a call of torch, there is nothing to compute"):
        candidate(Moved(), (torch.randn(7, 10),))
    with pytest.raises(NoSchedule, match="there was no time left"):
        module, inputs = Across(), (torch.randn(7, 10),)
        graph = capture(module, inputs)
        specification = specified(module, inputs, graph)
        next(candidates(graph, specification, searched(specification), untimed, {}, until=0.0))


def test_a_wrong_cut_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = laid_out(Across(), torch.randn(7, 10))
    assert layout.require_composed() == ()
    rightly = Layout._earlier

    def wrong(layout: Layout, form: Any, before: int) -> Any:
        found = rightly(layout, form, before)
        return found and times(number(2), found)

    monkeypatch.setattr(Layout, "_earlier", wrong)
    with pytest.raises(NoSchedule, match="not proved to be the program's form"):
        laid_out(Across(), torch.randn(7, 10)).require_composed()


@pytest.mark.parametrize("wrong", range(2))
def test_forms_before_and_behind_a_call_are_faithful_or_are_not(wrong: int) -> None:
    module, inputs = Across(), (torch.randn(7, 10),)
    graph = capture(module, inputs)
    specification = specified(module, inputs, graph)
    forms = [root.form for root in specification.roots()]
    assert faithful(graph, specification, forms) == () and len(forms) == 2
    forms[wrong] = times(number(2), forms[wrong])
    assert faithful(graph, specification, forms) is None


def test_altered_kernels_do_not_run(tmp_path: Path) -> None:
    module, x = Looked().eval(), torch.randint(0, 50, (3, 7))
    found = candidate(module, (x,))
    file = write_files(tmp_path / "found", files_of(found, facts_of(module, (x,), found, EAGER)))
    (tmp_path / "found" / "kernels_0.cpp").write_text("// another")
    with pytest.warns(UserWarning, match=r"kernels_0\.cpp is no longer as it was saved"):
        loaded(file).optimized(module)


class Several(nn.Module):
    """Results that kernels make behind a call, one of them twice, and one that torch only rearranges."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        z = torch.cumsum(x, 0).tanh()
        return z * y, z + y, (z + y).T, torch.sort(z - y, -1).values


def test_what_kernels_make_is_returned_as_it_is(tmp_path: Path) -> None:
    """In memory of its own, which no other result and no later call shares; it is not copied for that."""
    module, inputs = Several().eval(), (torch.randn(6, 9), torch.randn(6, 9))
    found = candidate(module, inputs)
    assert found.source.count(".clone(") == 2                 # what is returned twice, and what torch made
    file = write_files(tmp_path / "found", files_of(found, facts_of(module, inputs, found, EAGER)))
    fast = loaded(file).optimized(module)
    results = fast(*inputs)
    before = [result.clone() for result in results]
    assert len({result.untyped_storage().data_ptr() for result in (*results, *inputs)}) == len(results) + len(inputs)
    torch.testing.assert_close(results, module(*inputs))
    fast(inputs[1], inputs[0])
    torch.testing.assert_close(results, tuple(before))
