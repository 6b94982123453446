"""OpenVINO, as a back end of torch.compile."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from samesame.fuzz.backends.backend import Backend, needs


def _in_openvino(function: Any, inputs: Any) -> Any:
    importlib.import_module("openvino.torch")
    torch._dynamo.reset()
    return torch.compile(function, backend="openvino", dynamic=False)


BACKENDS = (Backend("openvino", "openvino", _in_openvino, needs("openvino", "openvino"), writes=False),)
