"""`--target cuda` without a GPU: Triton that is compiled, lifted back and interpreted; and not timed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
from tests.optimize.norms import Logarithm, inputs, norm, norm_linear, single
from tests.optimize.programs_as_forms import attention, gated_mlp
from tests.optimize.triton_modules import layer_norm
from torch import nn

from samesame import optimize
from samesame.evidence import SamesameError
from samesame.formula.expr import Unsupported
from samesame.kernels.host.interpret import interpret
from samesame.optimize import cuda, verb
from samesame.optimize.cuda import DEVICES, MODEL, Device, Figures, Work, chosen, compiled, options, work
from samesame.optimize.emit.triton import Module
from samesame.optimize.ir import bound
from samesame.optimize.job import loaded
from samesame.optimize.partition import stages
from samesame.optimize.schedule import Space, alternatives
from samesame.report.optimized import in_full


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """One choice of tiles, for one device."""
    monkeypatch.setattr(cuda, "TRIED", 1)
    monkeypatch.setattr(cuda, "DEVICES", (MODEL,))


def is_said(found: verb.Optimized) -> None:
    assert found.report.verdict == "not timed" and found.report.exit_code == 3
    assert found.report.winner is not None and found.report.winner.seconds is None
    assert found.report.contract is not None and found.report.contract.draws > 3 and not found.report.contract.failed
    assert "its Triton code proved" in found.report.headline
    assert len(re.findall(r"not timed\n", in_full(found.report))) == len(found.report.rows) == 6


def runs(folder: Path, module: nn.Module, given: tuple[torch.Tensor, ...]) -> None:
    """What was saved computes the same, in the interpreter; its drop-in leaves tensors of the CPU to the original."""
    fast = loaded(folder / "fast.py")
    with pytest.warns(UserWarning, match="is torch.float32 on cpu, and was torch.float32 on cuda"), torch.no_grad():
        assert torch.equal(fast.optimized(module)(*given), module(*given))
    program = fast.made(module, dict(module.named_parameters()))
    run = interpret(lambda: program(*given))
    (result,) = run.outputs.values()
    with torch.no_grad():
        torch.testing.assert_close(result, module(*given), rtol=1e-5, atol=1e-5)


def test_a_norm_for_a_gpu(quickly: None, tmp_path: Path) -> None:
    found = optimize(norm, inputs, target="cuda", out=tmp_path / "fast")
    is_said(found)
    assert found.module is norm
    assert {path.name for path in (tmp_path / "fast").iterdir()} == {
        "fast.py", "kernels.py", "reference.py", "certificate.json", "report.json", "report.txt"}
    assert any("read back from its Triton code" in line for line in found.report.kernels)
    assert any("input[" in line and "if every tensor" in line for line in found.report.kernels)
    runs(tmp_path / "fast", norm, inputs)


@pytest.mark.long
@pytest.mark.parametrize("given", [single, (torch.randn(19, 40),)])
def test_a_norm_and_a_linear_for_a_gpu(given: tuple[torch.Tensor], tmp_path: Path) -> None:
    """A size of 1 is a number in the kernels."""
    found = optimize(norm_linear, given, target="cuda", out=tmp_path / "fast")
    is_said(found)
    assert json.loads((tmp_path / "fast" / "report.json").read_text())["verdict"] == "not timed"
    runs(tmp_path / "fast", norm_linear, given)


def test_what_triton_cannot_say_is_named(quickly: None) -> None:
    found = optimize(Logarithm(), (torch.randn(4, 9),), target="cuda")
    assert found.report.exit_code == 3 and found.report.winner is None
    (note,) = found.report.notes
    assert "cannot be printed as Triton: it has no log1p" in note and "result" in note


def test_kernels_that_are_not_lifted_back_are_no_candidates(quickly: None, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = cuda.module

    def wrong(*given: Any) -> Module:
        made = printed(*given)
        return replace(made, text=made.text.replace("tl.sqrt", "1.0 * "))

    monkeypatch.setattr(cuda, "module", wrong)
    found = optimize(norm, inputs, target="cuda")
    assert found.report.winner is None and "is not proved" in found.report.notes[0]


def test_triton_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "find_spec", lambda name: None)
    with pytest.raises(SamesameError, match="needs Triton: pip install"):
        optimize(norm, inputs, target="cuda")


def test_tiles_that_do_not_fit_are_left_out(quickly: None, monkeypatch: pytest.MonkeyPatch) -> None:
    space = Space(layer_norm(), stages(layer_norm().outputs, layer_norm().extents))
    (several,) = alternatives(space, gpu=True)
    assert chosen([each.program for each in several], space.numbers()).numbers
    for figures in (Figures(1 << 20, 32, 0), Figures(0, 255, 8)):
        monkeypatch.setattr(cuda, "compiled", lambda *_, said=figures: said)
        with pytest.raises(Unsupported, match="no choice of tiles fits all of sm_90"):
            chosen([each.program for each in several], space.numbers())


def test_the_model_counts_what_a_kernel_moves_and_does() -> None:
    space = Space(gated_mlp(), stages(gated_mlp().outputs, gated_mlp().extents))
    last = [*alternatives(space, gpu=True)][-1][-1]
    numbers = {tile.size.name: 16 for tile in last.program.tiles}
    kernel = bound(last.program, numbers).kernels[0]
    done = work(kernel, dict(space.numbers()))
    assert done.programs == 1 * 3 and done.operations == 3 * (2 * 16 ** 3 * 3 + 2 * 16 ** 2)
    assert done.bytes == 4 * (5 * 37 + 40 * 37 + 5 * 40)
    few, many = Work(1, 1e9, 1e9, 1.0, False), Work(1320, 1e9, 1e9, 1.0, False)
    assert few.seconds(MODEL, 4) > many.seconds(MODEL, 4) >= 1e9 / MODEL.bytes
    assert many.limit(MODEL) == "memory" and Work(1, 1.0, 1.0, 1e9, False).limit(MODEL) == "arithmetic"


@pytest.mark.long
@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_compilers_say_what_a_kernel_takes(device: Device) -> None:
    space = Space(layer_norm(), stages(layer_norm().outputs, layer_norm().extents))
    ((scheduled,),) = alternatives(space, gpu=True)
    kernel = bound(scheduled.program, {tile.size.name: 32 for tile in scheduled.program.tiles}).kernels[0]
    assert 8 <= compiled(kernel, device).registers <= 255 and compiled(kernel, device).fits(device)


def test_what_a_maximum_is_taken_from_is_rounded_as_it_was_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """exp(c·s − m), where m is the largest c·s: in a multiply-add, scores of 1e13 come out far above their maximum."""
    space = Space(attention(), stages(attention().outputs, attention().extents))
    scores, softmax, values = (
        bound(each.program, {tile.size.name: 16 for tile in each.program.tiles}).kernels[0]
        for each, *_ in alternatives(space, gpu=True))
    assert [options(kernel)["enable_fp_fusion"] for kernel in (scores, softmax, values)] == [True, False, True]
    made, real = list[Any](), triton.compile
    monkeypatch.setattr(triton, "compile", lambda *args, **kwargs: made.append(real(*args, **kwargs)) or made[-1])
    compiled.__wrapped__(softmax, MODEL)
    assert "ex2.approx" in made[0].asm["ptx"] and "fma.rn" not in made[0].asm["ptx"]
