"""Recurrent modules are the same as what torch's exporter makes of them, and differ where the export is wrong."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

onnx = pytest.importorskip("onnx", reason="ONNX models need the extra onnx")
pytest.importorskip("onnxruntime", reason="ONNX models need the extra onnx")

from samesame import check  # noqa: E402
from samesame.capture.targets import load_target  # noqa: E402

X = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(0))
PLANTED = {nn.LSTM: ("activations", ["Sigmoid", "Tanh", "Relu"]), nn.GRU: ("linear_before_reset", 0)}


class Recurrent(nn.Module):
    def __init__(self, kind: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.cell = kind(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.cell(x)[0]
        return found


@pytest.mark.parametrize("kind", [nn.LSTM, pytest.param(nn.GRU, marks=pytest.mark.long)])
def test_an_export_is_proved_and_a_wrong_setting_is_found(kind: Any, tmp_path: Path) -> None:
    module, path = Recurrent(kind).eval(), tmp_path / "cell.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, (X,), str(path), dynamo=False, input_names=["x"], dynamic_axes={"x": {1: "B"}})
    right = check(module, load_target(str(path)), (X,))
    assert right.verdict == "same" and right.evidence.name == "PROVED" and right.sizes.varying, right.notes
    model, (name, value) = onnx.load(path), PLANTED[kind]
    node = next(node for node in model.graph.node if node.op_type == kind.__name__)
    for attribute in [one for one in node.attribute if one.name == name]:
        node.attribute.remove(attribute)
    node.attribute.append(onnx.helper.make_attribute(name, value))
    onnx.save(model, path)
    wrong = check(module, load_target(str(path)), (X,))
    assert wrong.verdict == "different" and wrong.divergence is not None
    assert wrong.divergence.right.origin.code.split(" = ")[1].startswith(kind.__name__), wrong.divergence
