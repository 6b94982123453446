"""Each row of the table computes what ONNX Runtime does, on samples of it, on other values too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

onnx = pytest.importorskip("onnx", reason="ONNX models need the extra onnx")
pytest.importorskip("onnxruntime", reason="ONNX models need the extra onnx")

from onnx_samples import Sample, samples  # noqa: E402

from samesame.capture.onnx import program  # noqa: E402
from samesame.capture.onnx.table import ROWS  # noqa: E402

SAMPLES = samples()


class Opaque(TorchDispatchMode):
    """Notes which nodes run in ONNX Runtime."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if operation.namespace == "onnx":
            self.found.add(str(operation))
        return operation(*args, **(kwargs or {}))


def checked(sample: Sample, path: Path) -> None:
    """What torch computes is what ONNX Runtime does, on these values and on others; rows that do not cover a sample say
    so."""
    model, given = sample.model()
    onnx.save(model, path)
    target = program.OnnxModel(str(path))
    example = [torch.from_numpy(np.array(x)) for x in given]
    for inputs in (example, list(map(moved, example))):
        with Opaque() as opaque:
            mine = target(*inputs)
        assert bool(opaque.found) == sample.opaque, opaque.found
        yours = target.itself(*inputs)
        assert mine.keys() == yours.keys()
        for name, value in mine.items():
            assert value.dtype == yours[name].dtype
            torch.testing.assert_close(value, yours[name], rtol=2e-5, atol=2e-6, equal_nan=True)


def moved(x: torch.Tensor) -> torch.Tensor:
    """Other numbers of the same kind."""
    other = x.flatten().roll(1).reshape(x.shape)
    return other * 0.75 if x.is_floating_point() else other


@pytest.mark.parametrize("operator", sorted(SAMPLES))
def test_a_row_computes_what_onnx_runtime_does(operator: str, tmp_path: Path) -> None:
    for number, sample in enumerate(SAMPLES[operator]):
        try:
            checked(sample, tmp_path / f"{number}.onnx")
        except Exception as error:
            raise AssertionError(f"{sample}: {error}") from error


def test_every_row_has_samples() -> None:
    assert set(ROWS) == set(SAMPLES)
