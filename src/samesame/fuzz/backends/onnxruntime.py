"""ONNX Runtime, through torch.onnx.export."""

from __future__ import annotations

from typing import Any

import torch

from samesame.fuzz.backends.backend import Backend, as_module, needs


def _in_onnxruntime(function: Any, inputs: Any) -> Any:
    program = torch.onnx.export(as_module(function), tuple(inputs), dynamo=True, verbose=False)
    assert program is not None
    return lambda *given: tuple(program(*given))


BACKENDS = (
    Backend("onnxruntime", "onnx", _in_onnxruntime, needs("onnxruntime", "onnxruntime onnxscript"), writes=False),
)
