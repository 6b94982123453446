"""Whole models against what torch's exporters make of them; benchmarks/onnx_models.py has more of them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("onnxscript", reason="torch's newer exporter needs onnxscript")
pytest.importorskip("onnxruntime", reason="ONNX models need the extra onnx")
pytest.importorskip("transformers", reason="these models are Transformers'")

from benchmarks.onnx_models import build, export

from samesame import check
from samesame.capture.targets import load_target
from samesame.evidence import Rung

MODELS = ("bert", "distilbert", "roberta", "gpt2", "vit", "resnet", "convnext", "segformer", "whisper-encoder")


@pytest.mark.long
@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_exported_is_the_same(name: str, exporter: str, tmp_path: Path) -> None:
    path = str(tmp_path / f"{name}.onnx")
    export(name, exporter, path)
    module, _, inputs = build(name)
    verdict = check(module, load_target(path), inputs)
    assert verdict.verdict == "same" and verdict.sizes.varying, verdict.notes
    assert verdict.evidence is (Rung.ROUNDED if name == "resnet" else Rung.PROVED)
