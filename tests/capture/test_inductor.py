"""What torch.compile rewrites: the graph that Inductor receives is compared, and a pass that is wrong is found."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame import check
from samesame.capture import capture
from samesame.capture.artefacts import program_of
from samesame.capture.inductor import received
from samesame.evidence import Refused, Rung

X = torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(0))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.norm, self.linear = nn.LayerNorm(8), nn.Linear(8, 8)
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)

    def forward(self, x: torch.Tensor, scale: float = 2.0) -> dict[str, torch.Tensor]:
        return {"y": F.gelu(self.linear(self.norm(x)) * scale).softmax(-1)}


def forgets_the_greatest(graph: torch.fx.Graph) -> None:
    """A right pass: a softmax need not be shifted."""
    for node in list(graph.nodes):
        if node.target is torch.ops.aten.sub.Tensor and node.args[1].target is torch.ops.aten.amax.default:
            node.replace_all_uses_with(node.args[0])
    graph.eliminate_dead_code()


def rounds_epsilon(graph: torch.fx.Graph) -> None:
    """A wrong one."""
    for node in graph.nodes:
        if node.target is torch.ops.aten.add.Tensor and node.args[1] == 1e-5:
            node.args = (node.args[0], 1e-3)


def compiled(step: Any, **how: Any) -> Any:
    return torch.compile(Block(), options={"post_grad_custom_post_pass": step}, **how)


@pytest.mark.long
def test_a_right_pass_is_proved() -> None:
    verdict = check(Block(), compiled(forgets_the_greatest), (X,))
    assert verdict.verdict == "same" and "PROVED" in verdict.evidence.name, verdict.notes
    assert verdict.sizes.varying


def test_a_wrong_pass_is_found_and_its_line_named() -> None:
    graph = capture(program_of(compiled(rounds_epsilon)), (X,))
    assert {"norm.weight", "linear.weight"} <= {node.origin.parameter for node in graph.sources("parameter")}
    assert [node.name for node in graph.sources("input")] == ["x"] and [name for name, _ in graph.roots] == ["y"]
    right = next(node for node in graph.nodes if node.operator == "aten.rsqrt.default")
    assert right.origin.function == "forward" and right.origin.module == "norm", right.origin
    verdict = check(Block(), graph, (X,))
    assert verdict.verdict == "different" and verdict.divergence is not None
    assert verdict.divergence.right.operator == "aten.add.Tensor" and verdict.divergence.right.origin.module == "norm"


def test_what_another_back_end_compiled_is_the_program_as_it_is_written() -> None:
    made = torch.compile(Block(), backend="aot_eager")
    assert program_of(made) is made


def test_a_program_that_is_not_traced_in_one_piece_is_said() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return x * 2

    with pytest.raises(Refused, match=r"test_inductor\.py:\d+: torch\.compile does not take the program in one piece"):
        capture(received(broken), (X,))


@pytest.mark.long
def test_gradients_through_what_was_compiled_are_those_of_the_program() -> None:
    block = Block()
    made = received(block)

    def step(run: Any, x: torch.Tensor) -> Any:
        return torch.autograd.grad(run(x)["y"].square().sum(), list(block.parameters()))

    verdict = check(lambda x: step(block, x), lambda x: step(made, x), (X,))
    assert verdict.verdict == "same" and "PROVED" in verdict.evidence.name, verdict.notes


# ------------------------------------------------------------------------------------------ AOTAutograd's joint graph


def scores(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = F.gelu(x @ w)
    return y.softmax(-1), y.sum(-1)


def by_autograd(primals: list[torch.Tensor], tangents: list[torch.Tensor]) -> Any:
    found = scores(*primals)
    return found, torch.autograd.grad(found, primals, tangents)


@pytest.fixture(scope="module")
def joint() -> tuple[Any, Any]:
    from torch._functorch.aot_autograd import aot_export_joint_simple

    dice = torch.Generator().manual_seed(0)
    primals = [torch.randn(*shape, generator=dice, requires_grad=True) for shape in ((3, 4), (4, 5))]
    tangents = [torch.randn(*shape, generator=dice) for shape in ((3, 5), (3,))]
    return aot_export_joint_simple(scores, primals, trace_joint=True), (primals, tangents)


def test_the_joint_graph_computes_what_autograd_does(joint: tuple[Any, Any]) -> None:
    graph, inputs = joint
    verdict = check(by_autograd, graph, inputs)
    assert verdict.verdict == "same" and "PROVED" in verdict.evidence.name, verdict.notes


@pytest.mark.long
def test_a_joint_graph_that_was_rewritten_wrongly_is_found(joint: tuple[Any, Any]) -> None:
    graph, inputs = joint
    wrong = copy.deepcopy(graph)
    for node in wrong.graph.nodes:
        if node.target is torch.ops.aten.gelu_backward.default:
            node.kwargs = {"approximate": "tanh"}
    wrong.recompile()
    verdict = check(by_autograd, wrong, inputs)
    assert verdict.verdict == "different"
    assert [root.name for root in verdict.roots if root.evidence.rung is Rung.REFUTED] == ["1.0", "1.1"]
