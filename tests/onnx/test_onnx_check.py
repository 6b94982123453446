"""Is this export right? Small modules against their exports, and against exports with a mistake planted in them."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

pytest.importorskip("onnx", reason="ONNX models need the extra onnx")
pytest.importorskip("onnxruntime", reason="ONNX models need the extra onnx")

from onnx_pairs import ATTEND, MEAN, PICTURE, PLANTED, Attend, Mean, Planted, X, write

from samesame import check
from samesame.capture.targets import load_target
from samesame.evidence import Rung


def cases() -> Iterator[Any]:
    for planted in PLANTED:
        yield pytest.param(planted, id=planted.name.replace(" ", "-"), marks=[pytest.mark.long] * planted.long)


@pytest.mark.parametrize("planted", cases())
def test_an_export_is_the_same_and_one_with_a_mistake_is_not(planted: Planted, tmp_path: Path) -> None:
    module, right, wrong = planted.files(tmp_path)
    verdict = check(module, load_target(right), planted.inputs)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_ALIKE, verdict.notes
    assert verdict.sizes.varying
    verdict = check(module, load_target(wrong), planted.inputs)
    assert verdict.verdict == "different"
    named = str(verdict.divergence) + str(verdict.differences) + str(verdict.roots)
    assert planted.named in named, named


class Block(nn.Module):
    """A convolution with a batch norm, attention, a layer norm and a gelu."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.batch = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.up, self.norm, self.down = nn.Linear(4, 6), nn.LayerNorm(6), nn.Linear(6, 6, bias=False)
        for norm in (self.batch, self.norm):
            nn.init.normal_(norm.weight, 1.0, 0.2)
            nn.init.normal_(norm.bias)
        nn.init.normal_(self.batch.running_mean)
        nn.init.uniform_(self.batch.running_var, 0.5, 2.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.up(self.batch(self.conv(x)).flatten(2).transpose(1, 2))) * 0.1
        q = y.view(y.shape[0], y.shape[1], 2, 3).transpose(1, 2)
        y = nn.functional.scaled_dot_product_attention(q, q, q).transpose(1, 2).reshape(y.shape)
        return self.down(nn.functional.gelu(y))


def exported(module: nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> str:
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(module, inputs, str(path), dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "B"}},
                          opset_version=17)
    return str(path)


@pytest.mark.long
def test_what_torch_exports_is_the_same_with_a_batch_norm_folded(tmp_path: Path) -> None:
    torch.manual_seed(0)
    block = Block().eval()
    verdict = check(block, load_target(exported(block, (PICTURE,), tmp_path / "block.onnx")), (PICTURE,))
    assert (verdict.verdict, verdict.evidence) == ("same", Rung.ROUNDED), verdict.notes
    assert any("running_var" in str(reading) for reading in verdict.readings)


def test_a_size_that_was_fixed_is_told(tmp_path: Path) -> None:
    """Declared as any, and written down as that of the example."""
    text = MEAN.replace("5,7", "3,3").replace("wanted = Concat<axis = 0>(s, rest)",
                                              "wanted = Constant<value_ints = [2, 3]>()")
    verdict = check(Mean(), load_target(write(text, tmp_path / "fixed.onnx", {})), (torch.randn(2, 3, 3, 3),))
    assert not any("B" in said for said in verdict.sizes.varying)
    assert any("x.shape[0]" in said for said in verdict.sizes.fixed), verdict.sizes
    (told,) = verdict.sizes.by_files
    assert told.startswith("x.shape[0] = 2, ") and told.endswith(f" only, which {tmp_path / 'fixed.onnx'} fixes")
    assert told in str(verdict).replace("\n", " ")


@pytest.mark.parametrize("declared, lost", [("3,8", "input.shape[0] = 3"), ("B,8", "")])
def test_a_size_that_the_export_took_away_is_in_the_headline_and_no_other_is(declared, lost, tmp_path: Path) -> None:
    module = nn.Linear(8, 4)
    made = declared.replace("8", "4")
    text = f"linear (float[{declared}] x) => (float[{made}] y) {{ y = Gemm<transB = 1>(x, weight, bias) }}"
    file = load_target(write(text, tmp_path / "linear.onnx", module.state_dict()))
    verdict = check(module, file, (torch.randn(3, 8),))
    assert verdict.verdict == "same"
    assert verdict.sizes.by_files == ((f"{lost} only, which {file} fixes",) if lost else ())


def test_an_input_that_the_export_lost_is_told_by_values(tmp_path: Path) -> None:
    text = ATTEND.replace(", int64[B,5,5] mask", "").replace("Equal(mask, zero)", "Equal(held, zero)")
    torch.manual_seed(0)
    module = Attend().eval()
    mask = torch.tril(torch.ones(2, 5, 5, dtype=torch.int64))
    file = write(text, tmp_path / "held.onnx", {**module.state_dict(), "held": mask})
    verdict = check(module, load_target(file), {"x": X, "mask": mask})
    assert verdict.verdict == "different"


def test_equal_weights_that_the_file_has_once_are_taken_as_given(tmp_path: Path) -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Parameter(torch.ones(6)), nn.Parameter(torch.ones(6))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sin(x * self.a) * self.b

    file = write("g (float[B,5,6] x) => (float[B,5,6] y) { t = Mul(x, a) s = Sin(t) y = Mul(s, a) }",
                 tmp_path / "one.onnx", {"a": torch.ones(6)})
    verdict = check(Two(), load_target(file), (X,))
    assert verdict.verdict == "same" and "for these weights" in verdict.only
