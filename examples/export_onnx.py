"""The module of model.py as ONNX: with any batch, and as an exporter writes it that is not told which sizes vary.

    python export_onnx.py
    samesame check model.py:Model model.onnx --inputs model.py:inputs
    samesame check model.py:Model static.onnx --inputs model.py:inputs
"""

from __future__ import annotations

import torch
from model import Model, inputs

named = {"dynamo": False, "input_names": ["x"]}
torch.onnx.export(Model().eval(), inputs, "model.onnx", dynamic_axes={"x": {0: "batch"}}, **named)
torch.onnx.export(Model().eval(), inputs, "static.onnx", **named)
