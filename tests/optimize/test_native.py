"""Forms become kernels that are proved, tuned, compiled, and compute what torch does."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
import torch
from tests.optimize.programs_as_forms import attention, gated_mlp, tensor
from torch import nn
from torch.nn import functional as F

from samesame.capture import capture
from samesame.optimize.compiled import compile_program
from samesame.optimize.emit.places import reserved
from samesame.optimize.faithful import faithful
from samesame.optimize.forms import fold, load, number, plus, times
from samesame.optimize.ir import Program
from samesame.optimize.native import Native, candidates, native
from samesame.optimize.operators import read
from samesame.optimize.partition import stages
from samesame.optimize.schedule import NoSchedule
from samesame.optimize.search import searched
from samesame.optimize.specification import Call, Output, Specification
from samesame.optimize.tune import Tuned, tune

Tensors = dict[str, torch.Tensor]


def quickly(programs: Sequence[Program], sizes: Mapping[str, int], share: float) -> Tuned:
    return tune(programs, sizes, {}, 0.3)


def made(specification: Specification) -> Native:
    return native(specification, quickly)


def gated(t: Tensors) -> torch.Tensor:
    return F.linear(F.silu(F.linear(t["x"], t["w"])) * F.linear(t["x"], t["v"]), t["z"])


def attended(t: Tensors) -> torch.Tensor:
    return F.scaled_dot_product_attention(t["q"], t["k"], t["v"], scale=0.25)


@pytest.mark.parametrize(("program", "expected"), [(gated_mlp, gated), (attention, attended)])
def test_kernels_compute_what_torch_does(
    program: Callable[[], Specification], expected: Callable[[Tensors], torch.Tensor]
) -> None:
    specification = program()
    found = made(specification)
    tensors = {name: torch.randn(t.shape) for name, t in specification.tensors.items()}
    weights = [name for name, t in specification.tensors.items() if t.role == "weight"]
    inputs = [name for name in tensors if name not in weights]
    run = compile_program(found.program, inputs, weights, [output.name for output in specification.outputs])
    run = pickle.loads(pickle.dumps(copy.deepcopy(run)))       # as a drop-in is, with the model around it
    (result,) = run(*(tensors[name] for name in run.arguments))
    result = result.view(found.shape(specification.outputs[0]))
    torch.testing.assert_close(result, expected(tensors), rtol=1e-4, atol=1e-4)


def test_what_stays_a_call_of_torch_has_no_kernels() -> None:
    with pytest.raises(NoSchedule, match="a call of torch"):
        made(replace(gated_mlp(), calls=(Call("aten.sort.default", (), (), ("r",)),)))


def test_stages_that_are_not_the_form_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong cut is found although each of its kernels is proved."""
    x, w = load("x", "m", "k"), load("w", "n", "k")
    wrong = (Output("y", fold("sum", "k", times(x, x, w)), (("m",), ("n",)), "float32"),)
    right = (Output("y", fold("sum", "k", times(x, w)), (("m",), ("n",)), "float32"),)
    tensors = {"x": tensor("x", 3, 20, role="input"), "w": tensor("w", 5, 20)}
    specification = Specification("wrong", tensors, dict(m=3, n=5, k=20), right)
    from samesame.optimize import native as module

    cut = module.stages
    monkeypatch.setattr(module, "stages", lambda outputs, extents: cut(wrong, extents))
    with pytest.raises(NoSchedule, match="not proved to be its form"):
        made(specification)


class Named(nn.Module):
    """Returns its result under the name of its argument."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(24, 10)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"x": F.silu(self.linear(x)) + 1}


def test_an_output_may_be_called_as_an_input_is() -> None:
    """And no input can be called as what is kept between stages is."""
    graph = capture(Named().eval(), (torch.randn(3, 24),))
    specification, counts = read(graph), dict[str, int]()
    (found, *_) = candidates(graph, specification, searched(specification), quickly, counts)
    assert found.native and found.faithful and "result x" in found.source and counts["schedules proved"]
    assert not any(stage.target.isidentifier() for stage in stages(gated_mlp().outputs, gated_mlp().extents)[:-1])


def test_a_form_is_faithful_or_it_is_not() -> None:
    """Another form than the program's, such as one that a wrong row of the table would read, is not taken for it."""
    graph = capture(Named().eval(), (torch.randn(3, 24),))
    specification = read(graph)
    (form,) = [output.form for output in specification.outputs]
    assert faithful(graph, specification, [form]) == ()
    for wrong in (plus(form, number(1)), times(form, form), plus(form, form)):
        assert faithful(graph, specification, [wrong]) is None


def test_names_of_tensors_stay_apart_in_cpp() -> None:
    names = ["0", "n0", "a.b", "a_b", "x", "float", "t1", "größe"]
    assert len({reserved(name) for name in names}) == len(names)
    assert all(reserved(name).isidentifier() and reserved(name).isascii() for name in names)
