"""What is made of weights alone is made once, and again when a weight has changed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from tests.optimize.compiled_programs import compile_program, untimed
from torch import nn
from torch.nn import functional as F

from samesame.capture import capture
from samesame.graph import Node
from samesame.operators import execute
from samesame.optimize.algebra import specified
from samesame.optimize.forms import Form, fn, load, lookup, plus
from samesame.optimize.groups import groups
from samesame.optimize.native import Native, in_stages, native
from samesame.optimize.oracle import Oracle
from samesame.optimize.partition import Stage, of_weights


class Magnitude(nn.Module):
    """A linear layer whose rows have lengths of their own, of inputs that are turned by a table of cosines."""

    def __init__(self) -> None:
        super().__init__()
        self.w, self.m = nn.Parameter(torch.randn(20, 12)), nn.Parameter(torch.rand(20) + 0.5)
        self.angles = nn.Parameter(torch.rand(12))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        w = torch.tanh(self.w) * (self.m / self.w.norm(dim=1))[:, None]
        return F.linear(x * torch.cos(self.angles), w)


@pytest.fixture(scope="module")
def layer() -> Magnitude:
    torch.manual_seed(0)
    return Magnitude().eval().requires_grad_(False)


@pytest.fixture(scope="module")
def kernels(layer: Magnitude) -> Native:
    x = (torch.randn(9, 12),)
    specification = specified(layer, x, capture(layer, x))
    whole, kept = in_stages(specification, [root.form for root in specification.roots()])
    return native(whole, untimed, kept)


def test_kernels_of_weights_alone_run_ahead(layer: Magnitude, kernels: Native) -> None:
    of = {kernel.name: {buffer.name for buffer in kernel.reads} for kernel in kernels.program.kernels}
    made = {buffer.name for kernel in kernels.program.kernels if kernel.ahead for buffer in kernel.writes}
    for kernel in kernels.program.kernels:
        assert kernel.ahead is (of[kernel.name] <= {"w", "m", "angles", *made}), kernel.name
    assert sum(kernel.ahead for kernel in kernels.program.kernels) > 1
    assert any("once, as it is made of weights alone" in line for line in kernels.each())


def test_what_they_made_is_made_again_when_a_weight_changes(layer: Magnitude, kernels: Native) -> None:
    weights = kernels.named("weight")
    run = compile_program(kernels.program, kernels.named("input"), weights, ["result 0"])
    for change in ("", "w", "m", "angles"):
        getattr(layer, change).mul_(2).add_(1) if change else None
        x = torch.randn(9, 12)
        (found,) = run(x, *(getattr(layer, name) for name in weights))
        torch.testing.assert_close(found, layer(x), rtol=1e-5, atol=1e-5)


def test_an_output_is_new_in_each_call_though_it_is_made_of_weights_alone() -> None:
    class Table(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.angles = nn.Parameter(torch.rand(12))

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x * torch.cos(self.angles), torch.cos(self.angles) + 1

    table = Table().eval().requires_grad_(False)
    x = (torch.randn(40, 12),)
    specification = specified(table, x, capture(table, x))
    whole, kept = in_stages(specification, [root.form for root in specification.roots()])
    found = native(whole, untimed, kept)
    run = compile_program(found.program, ["x"], found.named("weight"), ["result 0", "result 1"])
    first, second = run(*x, table.angles), run(*x, table.angles)
    assert first[1].data_ptr() != second[1].data_ptr() and torch.equal(first[1], second[1])
    torch.testing.assert_close(second, table(*x))


def test_what_batch_norms_write_to_is_read_in_each_call() -> None:
    """Statistics change in training, and no version says so."""
    norm = nn.BatchNorm1d(12).eval().requires_grad_(False)
    x = torch.randn(40, 12)
    specification = specified(norm, (x,), capture(norm, (x,)))
    found = native(specification, untimed)
    assert not any(kernel.ahead for kernel in found.program.kernels)
    weights = found.named("weight")
    run = compile_program(found.program, ["input"], weights, [
        output.name for output in specification.outputs])
    for _ in range(2):
        (y,) = run(x, *(getattr(norm, name) for name in weights))
        torch.testing.assert_close(y, norm(x), rtol=1e-5, atol=1e-5)
        version = norm.running_var._version
        norm.train()(3 * x + 1)
        assert norm.eval().running_var._version == version


def test_of_weights() -> None:
    def stage(target: str, value: Form) -> Stage:
        return Stage(target, ("k",), value)

    of_w, of_a = stage("a", fn("cos", load("w", "k"))), stage("c", fn("exp", load("a", "k")))
    of_both, of_b = stage("b", plus(load("a", "k"), load("x", "k"))), stage("d", fn("exp", load("b", "k")))
    looked_up = Stage("e", ("t", "k"), lookup("n", load("w", "n", "k"), load("v", "t")))
    stages = [of_w, of_both, of_a, of_b, looked_up]
    assert of_weights(stages, ["w", "v"], []) == {"a", "c"}
    assert of_weights(stages, ["w", "v"], ["a"]) == set()
    assert [[s.target for s in group] for group in groups(stages[:4], (), {"a", "c"})] == [["a"], ["b"], ["c"], ["d"]]


def test_the_oracle_works_out_once_what_no_input_has_to_do_with(
    layer: Magnitude, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says what another oracle says, which is asked for the first time."""
    ran, real = Counter[str](), execute._Run.apply

    def counted(self: Any, node: Node) -> Any:
        ran[node.operator] += 1
        return real(self, node)

    graph, weights = capture(layer, (torch.randn(9, 12),)), dict(layer.named_parameters())
    again = Oracle(graph, weights)
    draws = [(torch.randn(9, 12), False), (torch.randn(9, 12).index_fill(0, torch.tensor([2]), torch.nan), True)]
    again({"x": draws[0][0]}, 0, False)
    monkeypatch.setattr(execute._Run, "apply", counted)
    for number, (x, outside) in enumerate(draws):
        ran.clear()
        answer = again({"x": x}, number, outside)
        assert not any("tanh" in name or "norm" in name or "cos" in name for name in ran), ran
        other = Oracle(graph, weights)({"x": x}, number, outside)
        for one, two in zip((*answer.exact, *answer.last, *answer.whole), (*other.exact, *other.last, *other.whole),
                            strict=True):
            assert torch.equal(one.nan_to_num(7.0), two.nan_to_num(7.0))
